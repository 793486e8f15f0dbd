mod decoder;

use std::{
    fmt,
    sync::Arc,
    task::{Context, Poll, ready},
    time::{Duration, Instant},
};

use bytes::Bytes;
use futures_util::Stream;

use crate::drain::drain;
use crate::options::AnswerLimits;
use crate::silence::Silence;
use crate::{HttpBody, HttpError, HttpErrorKind, HttpOptions};
use decoder::{EventDecoder, FieldText};

/// One server-sent event that has data.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SseEvent {
    /// Value of the `event` field.
    pub name: Option<Arc<str>>,
    /// Values of the `data` lines, joined by line feeds.
    pub data: Arc<str>,
}

/// Event that has data, in the decoder.
struct FoundEvent {
    name: Option<FieldText>,
    data: FieldText,
}

/// Server-sent events of one answer.
///
/// An incomplete event at the end is dropped; blocks without data, and those without a name and with blank data, are
/// skipped. Memory is bounded by [`HttpOptions::max_event_bytes`] and one chunk.
pub struct Events {
    body: HttpBody,
    decoder: EventDecoder,
    max_event_bytes: usize,
    stall_timeout: Duration,
    silence: Silence,
    /// Number of bytes since the last event.
    pending: usize,
    /// Time of the first chunk after the last progress.
    unproductive_since: Option<Instant>,
    state: BodyState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BodyState {
    Open,
    Done,
}

impl fmt::Debug for Events {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Events")
            .field("pending", &self.pending)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

impl Events {
    /// Decodes a stream of byte chunks with the bounds of `options`.
    #[must_use]
    pub fn new(body: impl Stream<Item = Result<Bytes, HttpError>> + Send + 'static, options: &HttpOptions) -> Self {
        Self::of(Box::pin(body), AnswerLimits::of(options))
    }

    pub(crate) fn of(body: HttpBody, limits: AnswerLimits) -> Self {
        Self {
            body,
            decoder: EventDecoder::default(),
            max_event_bytes: limits.event_bytes,
            stall_timeout: limits.stall,
            silence: Silence::new(limits.idle),
            pending: 0,
            unproductive_since: None,
            state: BodyState::Open,
        }
    }

    /// Decodes each line of a stream that is not blank as the data of one event, for servers that write a JSON object
    /// in each line. A line without an end at the end of the stream is dropped.
    #[must_use]
    pub fn lines(body: impl Stream<Item = Result<Bytes, HttpError>> + Send + 'static, options: &HttpOptions) -> Self {
        Self::lines_of(Box::pin(body), AnswerLimits::of(options))
    }

    pub(crate) fn lines_of(body: HttpBody, limits: AnswerLimits) -> Self {
        Self { decoder: EventDecoder::lines(), ..Self::of(body, limits) }
    }

    /// Returns the next event; `None` once the answer has ended or failed. Cancel safe.
    ///
    /// # Errors
    /// Once, as the last item: the connection broke or fell silent, an event is too large or not UTF-8, or there was no
    /// progress for too long.
    pub async fn next(&mut self) -> Option<Result<SseEvent, HttpError>> {
        std::future::poll_fn(|context| self.poll_next_event(context)).await
    }

    /// Polls for the next event, for a hand-written stream; see [`next`](Self::next).
    pub fn poll_next_event(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<SseEvent, HttpError>>> {
        self.poll_next_with(context, |name, data| SseEvent { name: name.map(Into::into), data: data.into() })
    }

    /// Reads the next event in place, without a copy: its name, if it has one, and its data.
    pub fn poll_next_with<T>(
        &mut self,
        context: &mut Context<'_>,
        read: impl FnOnce(Option<&str>, &str) -> T,
    ) -> Poll<Option<Result<T, HttpError>>> {
        if self.state == BodyState::Done {
            return Poll::Ready(None);
        }
        let item = ready!(self.poll_item(context));
        if !matches!(item, Some(Ok(_))) {
            self.state = BodyState::Done;
        }
        Poll::Ready(item.map(|item| {
            item.map(|FoundEvent { name, data }| {
                let name = name.as_ref().map(|name| self.decoder.str(name));
                read(name, self.decoder.str(&data))
            })
        }))
    }

    /// Reports that the last event advanced the answer. Without it, a stream of comments or pings ends after
    /// [`HttpOptions::stall_timeout`].
    pub fn progress(&mut self) {
        self.unproductive_since = None;
    }

    /// Releases an answer whose last event has been seen. The rest of the body, usually its end mark, is read in the
    /// background for a moment, because a connection whose answer is not read to its end is lost.
    pub fn release(self) {
        if self.state == BodyState::Open {
            drain(self.body);
        }
    }

    fn poll_item(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<FoundEvent, HttpError>>> {
        loop {
            match self.decoder.next() {
                Ok(Some(block)) => {
                    self.pending = 0;
                    // Gateways send events without a name and with empty data to keep a connection open.
                    let is_sign = |data: &FieldText| block.name.is_none() && self.decoder.str(data).trim().is_empty();
                    if let Some(data) = block.data.filter(|data| !is_sign(data)) {
                        return Poll::Ready(Some(Ok(FoundEvent { name: block.name, data })));
                    }
                }
                Ok(None) => match ready!(self.poll_chunk(context)) {
                    Some(Ok(chunk)) => {
                        if let Err(error) = self.admit(chunk) {
                            return Poll::Ready(Some(Err(error)));
                        }
                    }
                    Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                    None => return Poll::Ready(None),
                },
                Err(error) => {
                    let error = HttpError::new(HttpErrorKind::Protocol, "the event stream cannot be decoded")
                        .with_source(error);
                    return Poll::Ready(Some(Err(error)));
                }
            }
        }
    }

    /// Returns the next chunk, unless the answer is silent for too long.
    fn poll_chunk(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, HttpError>>> {
        let polled = self.body.as_mut().poll_next(context);
        if polled.is_ready() {
            self.silence.end();
            return polled;
        }
        self.silence.poll(context).map(|()| Some(Err(HttpError::new(HttpErrorKind::Timeout, "the answer fell silent"))))
    }

    /// Checks a chunk against the bounds and passes it to the decoder.
    #[expect(clippy::disallowed_methods, reason = "measures how long a server is silent")]
    fn admit(&mut self, chunk: Bytes) -> Result<(), HttpError> {
        if self.pending > self.max_event_bytes {
            return Err(HttpError::new(
                HttpErrorKind::Protocol,
                format!("an event is larger than {} bytes", self.max_event_bytes),
            ));
        }
        self.pending = self.pending.saturating_add(chunk.len());
        let now = Instant::now();
        let since = *self.unproductive_since.get_or_insert(now);
        if now.duration_since(since) > self.stall_timeout {
            return Err(HttpError::new(
                HttpErrorKind::Timeout,
                format!("only signs of life came for {} s", self.stall_timeout.as_secs()),
            ));
        }
        self.decoder.put(chunk);
        Ok(())
    }
}
