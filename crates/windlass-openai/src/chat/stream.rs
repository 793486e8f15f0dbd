//! Stream of one call.

use super::assembly::{ChatAssembly, MAX_MESSAGE_BYTES, cut};
use super::ollama;
use super::reader::ChunkReader;
use crate::error::protocol;
use futures_core::Stream;
use std::pin::Pin;
use std::task::{Context, Poll};
use windlass_http::provider::from_http;
use windlass_http::{Events, HttpError};
use windlass_model::{ModelError, framed};
use windlass_types::{ModelErrorKind, ModelItem};

/// Reader of the events of an answer.
#[derive(Debug)]
pub(super) enum ChatWire {
    ChatCompletions(Box<ChunkReader>),
    Ollama(Box<ollama::OllamaReader>),
}

/// Properties of the call that a stream belongs to.
#[derive(Debug)]
pub(super) struct CallInfo {
    pub(super) raw_frames: bool,
    pub(super) request_id: Option<String>,
    /// Window of the model in tokens, if overflows are silent.
    pub(super) window: Option<u64>,
    /// `true` if `[DONE]` alone ends a message.
    pub(super) done_without_finish: bool,
}

/// One answer, item by item. Ends after `MessageStop` or after one error.
pub(super) struct ChatStream {
    /// Removed once the answer has ended.
    events: Option<Events>,
    wire: ChatWire,
    assembly: ChatAssembly,
    call: CallInfo,
    bytes: usize,
    /// Error to yield after the events before it.
    error: Option<ModelError>,
}

impl ChatStream {
    pub(super) fn new(events: Events, wire: ChatWire, call: CallInfo) -> Self {
        Self { events: Some(events), wire, assembly: ChatAssembly::default(), call, bytes: 0, error: None }
    }

    /// Reads the answer of a server that does not stream: one object. `None` if the body is not a message.
    pub(super) fn whole(body: &str, wire: ChatWire, call: CallInfo) -> Option<Self> {
        let mut stream = Self { events: None, wire, assembly: ChatAssembly::default(), call, bytes: 0, error: None };
        stream.accept(body).ok()?;
        if !stream.assembly.is_started() {
            return None;
        }
        stream.end(false);
        Some(stream)
    }

    /// Reads the data of one event. `true` once the answer has ended.
    fn accept(&mut self, data: &str) -> Result<bool, ModelError> {
        self.bytes = self.bytes.saturating_add(data.len());
        if self.bytes > MAX_MESSAGE_BYTES {
            return Err(protocol(format_args!("a message is larger than {MAX_MESSAGE_BYTES} bytes")));
        }
        match &mut self.wire {
            ChatWire::ChatCompletions(_) if data.trim() == "[DONE]" => Ok(true),
            ChatWire::ChatCompletions(reader) => reader.read(data, &mut self.assembly).map(|()| false),
            ChatWire::Ollama(reader) => reader.read(data, &mut self.assembly),
        }
    }

    /// Ends the message once the answer has ended.
    fn end(&mut self, is_done: bool) {
        let is_done = is_done && self.call.done_without_finish;
        let read = match &mut self.wire {
            ChatWire::ChatCompletions(reader) => reader.end(&mut self.assembly),
            ChatWire::Ollama(_) => Ok(()),
        };
        if let Err(error) = read.and_then(|()| self.assembly.complete(is_done, self.call.window)) {
            self.fail(error);
        }
    }

    fn fail(&mut self, mut error: ModelError) {
        self.events = None;
        if error.request_id.is_none() {
            error.request_id = self.call.request_id.take();
        }
        self.error = Some(error);
    }

    /// Processes the outcome of a read event. `true` if nothing more of the answer is needed.
    fn advance(&mut self, events: &mut Events, came: Option<Result<Result<bool, ModelError>, HttpError>>) -> bool {
        match came {
            Some(Ok(read)) => match read {
                Ok(true) => {
                    self.end(true);
                    return true;
                }
                Ok(false) => {
                    if self.assembly.takes_progress() {
                        events.progress();
                    }
                    return false;
                }
                Err(error) => self.fail(error),
            },
            // The message is complete without its end mark.
            Some(Err(_)) | None if self.assembly.has_finish() => self.end(false),
            Some(Err(error)) => {
                let error = from_http(error);
                self.fail(if error.kind == ModelErrorKind::Cut { cut().with_source(error) } else { error });
            }
            None => self.fail(cut()),
        }
        true
    }
}

impl Stream for ChatStream {
    type Item = Result<ModelItem, ModelError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        loop {
            if let Some(event) = this.assembly.next_event() {
                return Poll::Ready(Some(Ok(framed(event, this.call.raw_frames))));
            }
            if let Some(error) = this.error.take() {
                return Poll::Ready(Some(Err(error)));
            }
            let Some(mut events) = this.events.take() else {
                return Poll::Ready(None);
            };
            let came = match events.poll_next_with(context, |_, data| this.accept(data)) {
                Poll::Ready(came) => came,
                Poll::Pending => {
                    this.events = Some(events);
                    return Poll::Pending;
                }
            };
            match this.advance(&mut events, came) {
                false => this.events = Some(events),
                // The rest of a complete answer is only its end mark.
                true if this.error.is_none() => events.release(),
                true => {}
            }
        }
    }
}
