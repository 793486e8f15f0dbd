//! Stream of one call.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures_core::Stream;
use windlass_http::Events;
use windlass_model::{ModelError, framed};
use windlass_types::{JsonText, ModelErrorKind, ModelEvent, ModelItem, RateLimit, StreamDelta, Usage};

use crate::assembly::MessagesAssembly;
use crate::error::MessagesErrors;
use windlass_http::provider::from_http;

/// One answer, item by item. Ends after `MessageStop` or after one error.
pub(crate) struct MessagesStream {
    /// Removed once the stream has ended.
    events: Option<Events>,
    assembly: MessagesAssembly,
    raw_frames: bool,
    request_id: Option<String>,
    /// Allowance from the headers, until it is yielded.
    rate_limit: Option<Box<RateLimit>>,
    /// Usage that was reported last.
    usage: Usage,
}

impl MessagesStream {
    pub(crate) fn new(events: Events, faults: MessagesErrors, raw_frames: bool, request_id: Option<String>) -> Self {
        Self {
            events: Some(events),
            assembly: MessagesAssembly::new(faults),
            raw_frames,
            request_id,
            rate_limit: None,
            usage: Usage::default(),
        }
    }

    pub(crate) fn with_rate_limit(mut self, limit: Option<RateLimit>) -> Self {
        self.rate_limit = limit.map(Box::new);
        self
    }

    /// `true` if an event adds to the message. Other events only show that the connection lives, which must not keep a
    /// call alive for ever.
    fn adds_to_message(&mut self, event: &ModelEvent) -> bool {
        match event {
            ModelEvent::Ping | ModelEvent::Unknown => false,
            ModelEvent::BlockDelta {
                delta:
                    StreamDelta::Text(text)
                    | StreamDelta::Thinking(text)
                    | StreamDelta::Signature(text)
                    | StreamDelta::ToolInput(text),
                ..
            } => !text.is_empty(),
            ModelEvent::MessageDelta { usage, .. } => std::mem::replace(&mut self.usage, *usage) != *usage,
            _ => true,
        }
    }

    /// Releases the answer after its last event, and reports progress of other events.
    fn note_progress(&mut self, item: &Result<ModelItem, ModelError>) {
        let Ok(ModelItem { event, .. }) = item else { return };
        if self.assembly.is_complete() {
            if let Some(events) = self.events.take() {
                events.release();
            }
        } else if self.adds_to_message(event)
            && let Some(events) = &mut self.events
        {
            events.progress();
        }
    }

    fn fail(&mut self, mut error: ModelError) -> ModelError {
        self.events = None;
        if error.request_id.is_none() {
            error.request_id = self.request_id.take();
        }
        error
    }
}

/// Reads one wire event. `None` if the resulting events are ready in the assembly.
fn item(
    assembly: &mut MessagesAssembly,
    raw_frames: bool,
    name: Option<&str>,
    data: &str,
) -> Result<Option<ModelItem>, ModelError> {
    let Some(parsed) = assembly.accept(name, data)? else { return Ok(None) };
    if !raw_frames {
        return Ok(Some(parsed.into()));
    }
    // The end mark of other vendors is the only event that is not JSON; it is unknown.
    let raw = match parsed {
        ModelEvent::Unknown => JsonText::parse(data).ok(),
        _ => Some(JsonText::from_parsed(data)),
    };
    Ok(Some(match raw {
        Some(raw) => ModelItem::with_raw(parsed, raw),
        None => parsed.into(),
    }))
}

impl Stream for MessagesStream {
    type Item = Result<ModelItem, ModelError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        if let Some(limit) = this.rate_limit.take() {
            return Poll::Ready(Some(Ok(ModelEvent::RateLimit(limit).into())));
        }
        loop {
            if let Some(event) = this.assembly.take_beside() {
                return Poll::Ready(Some(Ok(event.into())));
            }
            if let Some(event) = this.assembly.take_ordered() {
                return Poll::Ready(Some(Ok(framed(event, this.raw_frames))));
            }
            let Some(events) = &mut this.events else {
                return Poll::Ready(None);
            };
            let (assembly, raw) = (&mut this.assembly, this.raw_frames);
            let item = match ready!(events.poll_next_with(context, |name, data| item(assembly, raw, name, data))) {
                Some(Ok(item)) => item,
                Some(Err(error)) => Err(from_http(error)),
                None => {
                    Err(ModelError::new(ModelErrorKind::Cut, "the connection ended before the message was complete"))
                }
            };
            if let Some(item) = item.map_err(|error| this.fail(error)).transpose() {
                this.note_progress(&item);
                return Poll::Ready(Some(item));
            }
        }
    }
}
