//! Body of an answer in another framing than that of server-sent events.

use std::{
    fmt,
    task::{Context, Poll, ready},
    time::Instant,
};

use bytes::Bytes;
use futures_util::Stream;

use crate::drain::drain;
use crate::options::AnswerLimits;
use crate::silence::Silence;
use crate::{HttpBody, HttpError, HttpErrorKind, HttpOptions};

/// Bytes of one answer as they arrive, with a bound on the time without progress.
pub struct Chunks {
    /// Removed once the answer has ended or failed.
    body: Option<HttpBody>,
    limits: AnswerLimits,
    silence: Silence,
    /// Time of the first chunk after the last progress.
    unproductive_since: Option<Instant>,
}

impl fmt::Debug for Chunks {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Chunks").field("is_open", &self.body.is_some()).finish_non_exhaustive()
    }
}

impl Chunks {
    /// Reads a stream of chunks with the bounds of `options`.
    #[must_use]
    pub fn new(body: impl Stream<Item = Result<Bytes, HttpError>> + Send + 'static, options: &HttpOptions) -> Self {
        Self::of(Box::pin(body), AnswerLimits::of(options))
    }

    pub(crate) fn of(body: HttpBody, limits: AnswerLimits) -> Self {
        Self { body: Some(body), limits, silence: Silence::new(limits.idle), unproductive_since: None }
    }

    /// Returns the maximum number of bytes of one event, framing included: [`HttpOptions::max_event_bytes`].
    #[must_use]
    pub fn max_event_bytes(&self) -> usize {
        self.limits.event_bytes
    }

    /// Returns the next chunk; `None` once the answer has ended or failed.
    ///
    /// # Errors
    /// Once, as the last item: the connection broke or fell silent, or there was no progress for
    /// [`HttpOptions::stall_timeout`].
    pub fn poll_next_chunk(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, HttpError>>> {
        let Some(body) = &mut self.body else {
            return Poll::Ready(None);
        };
        let came = match body.as_mut().poll_next(context) {
            Poll::Ready(came) => {
                self.silence.end();
                came.map(|chunk| chunk.and_then(|chunk| self.admit(chunk)))
            }
            Poll::Pending => {
                ready!(self.silence.poll(context));
                Some(Err(HttpError::new(HttpErrorKind::Timeout, "the answer fell silent")))
            }
        };
        if !matches!(came, Some(Ok(_))) {
            self.body = None;
        }
        Poll::Ready(came)
    }

    /// Reports that the last chunk advanced the answer.
    pub fn progress(&mut self) {
        self.unproductive_since = None;
    }

    /// Releases an answer whose last event has been seen. The rest of the body is read in the background for a moment,
    /// because a connection whose answer is not read to its end is lost.
    pub fn release(self) {
        self.body.into_iter().for_each(drain);
    }

    #[expect(clippy::disallowed_methods, reason = "measures how long a server is silent")]
    fn admit(&mut self, chunk: Bytes) -> Result<Bytes, HttpError> {
        let now = Instant::now();
        let since = *self.unproductive_since.get_or_insert(now);
        if now.duration_since(since) > self.limits.stall {
            let text = format!("only signs of life came for {} s", self.limits.stall.as_secs());
            return Err(HttpError::new(HttpErrorKind::Timeout, text));
        }
        Ok(chunk)
    }
}
