//! Stream of one call.

use crate::assembly::ConverseAssembly;
use crate::eventstream::{BinaryFrame, FrameDecoder, FrameError};
use futures_core::Stream;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use windlass_http::provider::from_http;
use windlass_http::{Bytes, Chunks, HttpError};
use windlass_model::{ModelError, framed};
use windlass_types::{ModelEvent, ModelItem};

/// One answer, item by item. Ends after `MessageStop` or after one error.
pub(crate) struct ConverseStream {
    /// Removed once the answer has ended.
    chunks: Option<Chunks>,
    decoder: FrameDecoder,
    assembly: ConverseAssembly,
    request_id: Option<String>,
    raw_frames: bool,
    /// Error to yield after the events that are ready.
    failure: Option<ModelError>,
}

impl ConverseStream {
    pub(crate) fn new(
        chunks: Chunks,
        assembly: ConverseAssembly,
        request_id: Option<String>,
        raw_frames: bool,
    ) -> Self {
        let decoder = FrameDecoder::new(chunks.max_event_bytes());
        Self { chunks: Some(chunks), decoder, assembly, request_id, raw_frames, failure: None }
    }

    /// Creates the stream of a message that has arrived completely.
    pub(crate) fn whole(assembly: ConverseAssembly, raw_frames: bool) -> Self {
        Self { chunks: None, decoder: FrameDecoder::new(0), assembly, request_id: None, raw_frames, failure: None }
    }

    /// Reads a frame. Returns `true` if it adds to the message.
    fn read(&mut self, frame: &BinaryFrame) -> bool {
        if let Err(error) = self.assembly.accept(frame) {
            self.fail(error);
        } else if self.assembly.is_whole() {
            self.finish();
        } else if !self.assembly.has_events() {
            return false;
        } else if let Some(chunks) = &mut self.chunks {
            chunks.progress();
        }
        true
    }

    /// Handles an unreadable frame, which fails the message unless that is complete.
    fn broken(&mut self, error: FrameError) {
        if self.assembly.is_finished() {
            self.finish();
        } else {
            self.fail(self.assembly.faults().protocol(error));
        }
    }

    /// Ends the message after the last frame.
    fn finish(&mut self) {
        if let Some(chunks) = self.chunks.take() {
            chunks.release();
            if let Err(error) = self.assembly.end() {
                self.fail(error);
            }
        }
    }

    fn fail(&mut self, error: ModelError) {
        self.chunks = None;
        let id = error.request_id.clone().or_else(|| self.request_id.take());
        self.failure = Some(error.with_request_id(id));
    }

    /// Takes the data that arrived over the connection.
    fn take(&mut self, came: Option<Result<Bytes, HttpError>>) {
        match came {
            Some(Ok(chunk)) => self.decoder.put(chunk),
            // After the stop reason only the end is left, in whatever way the connection ends.
            Some(Err(error)) if !self.assembly.is_finished() => self.fail(from_http(error)),
            _ => self.finish(),
        }
    }
}

impl Stream for ConverseStream {
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
            if this.chunks.is_none() {
                return Poll::Ready(None);
            }
            match this.decoder.next() {
                Ok(Some(frame)) if this.read(&frame) => {}
                // Such a frame only shows that the connection lives, which must not keep a call alive for ever.
                Ok(Some(_)) => return Poll::Ready(Some(Ok(framed(ModelEvent::Ping, this.raw_frames)))),
                Ok(None) => {
                    let came = this.chunks.as_mut().map(|chunks| chunks.poll_next_chunk(context));
                    this.take(ready!(came.unwrap_or(Poll::Ready(None))));
                }
                Err(error) => this.broken(error),
            }
        }
    }
}
