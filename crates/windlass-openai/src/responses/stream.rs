//! Stream of one call.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use windlass_http::Events;
use windlass_http::provider::from_http;
use windlass_model::{ModelError, framed};
use windlass_types::{ModelErrorKind, ModelEvent, ModelItem, StreamDelta};

use super::assembly::ResponseAssembly;

/// One answer, item by item. Ends after `MessageStop` or after one error.
pub(super) struct ResponseStream {
    /// Removed once the stream has ended.
    events: Option<Events>,
    assembly: ResponseAssembly,
    /// Events that were read and not yielded.
    ready: VecDeque<ModelEvent>,
    /// Error that ends the stream once everything before it is yielded.
    error: Option<ModelError>,
    raw_frames: bool,
    request_id: Option<String>,
}

impl ResponseStream {
    pub(super) fn new(
        events: Events,
        assembly: ResponseAssembly,
        raw_frames: bool,
        request_id: Option<String>,
    ) -> Self {
        Self { events: Some(events), assembly, ready: VecDeque::new(), error: None, raw_frames, request_id }
    }

    fn fail(&mut self, mut error: ModelError) {
        self.events = None;
        if error.request_id.is_none() {
            error.request_id = self.request_id.take();
        }
        self.error = Some(error);
    }

    /// Processes the outcome of reading one wire event.
    fn took(&mut self, read: Result<(), ModelError>) {
        if let Err(error) = read {
            return self.fail(error);
        }
        if self.assembly.is_complete() {
            if let Some(events) = self.events.take() {
                events.release();
            }
        } else if self.ready.iter().any(adds_to_message)
            && let Some(events) = &mut self.events
        {
            events.progress();
        }
    }
}

/// `true` if an event adds to the message. Other events only show that the connection is open, which must not prolong a
/// call without end.
fn adds_to_message(event: &ModelEvent) -> bool {
    match event {
        ModelEvent::BlockDelta {
            delta: StreamDelta::Text(text) | StreamDelta::Thinking(text) | StreamDelta::ToolInput(text),
            ..
        } => !text.is_empty(),
        _ => true,
    }
}

impl Stream for ResponseStream {
    type Item = Result<ModelItem, ModelError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        loop {
            if let Some(event) = this.ready.pop_front() {
                return Poll::Ready(Some(Ok(framed(event, this.raw_frames))));
            }
            if let Some(error) = this.error.take() {
                return Poll::Ready(Some(Err(error)));
            }
            let Some(events) = &mut this.events else {
                return Poll::Ready(None);
            };
            let (assembly, out) = (&mut this.assembly, &mut this.ready);
            match ready!(events.poll_next_with(context, |name, data| assembly.accept(name, data, out))) {
                Some(Ok(read)) => this.took(read),
                Some(Err(error)) => this.fail(from_http(error)),
                None => this.fail(ModelError::new(
                    ModelErrorKind::Cut,
                    "the connection ended before the response was complete",
                )),
            }
        }
    }
}
