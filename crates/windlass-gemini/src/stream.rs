//! Stream of one call.

use crate::assembly::GeminiAssembly;
use futures_core::Stream;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use windlass_http::provider::from_http;
use windlass_http::{Events, HttpError};
use windlass_model::{ModelError, framed};
use windlass_types::{ModelEvent, ModelItem};

/// One answer, item by item. Ends after `MessageStop` or after one error.
pub(crate) struct GeminiStream {
    /// Removed once the answer has ended.
    events: Option<Events>,
    assembly: GeminiAssembly,
    raw_frames: bool,
    /// Error to yield after the events that are ready.
    failure: Option<ModelError>,
}

impl GeminiStream {
    pub(crate) fn new(events: Events, assembly: GeminiAssembly, raw_frames: bool) -> Self {
        Self { events: Some(events), assembly, raw_frames, failure: None }
    }

    /// Processes the outcome of a read event. Returns `true` if it adds to the message.
    fn take(&mut self, came: Option<Result<Result<(), ModelError>, HttpError>>) -> bool {
        let taken = match came {
            Some(Ok(read)) => read,
            // After the finish reason only the end is left, in whatever way the connection ends.
            Some(Err(error)) if !self.assembly.is_finished() => Err(from_http(error)),
            _ => {
                self.events = None;
                self.assembly.end()
            }
        };
        if let Err(error) = taken {
            self.events = None;
            self.assembly.report();
            let id = error.request_id.clone().or_else(|| self.assembly.id().map(str::to_owned));
            self.failure = Some(error.with_request_id(id));
        }
        self.assembly.has_events()
    }
}

impl Stream for GeminiStream {
    type Item = Result<ModelItem, ModelError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        loop {
            if let Some(event) = this.assembly.next() {
                return Poll::Ready(Some(Ok(framed(event, this.raw_frames))));
            }
            if let Some(failure) = this.failure.take() {
                return Poll::Ready(Some(Err(failure)));
            }
            let Some(events) = &mut this.events else {
                return Poll::Ready(None);
            };
            let assembly = &mut this.assembly;
            let came = ready!(events.poll_next_with(context, |_, data| assembly.accept(data)));
            let adds = this.take(came);
            match &mut this.events {
                Some(events) if adds => events.progress(),
                // Such an event only shows that the connection lives, which must not keep a call alive for ever.
                Some(_) => return Poll::Ready(Some(Ok(framed(ModelEvent::Ping, this.raw_frames)))),
                None => {}
            }
        }
    }
}
