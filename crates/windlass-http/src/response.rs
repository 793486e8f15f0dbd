use std::future::poll_fn;
use std::time::Duration;

use reqwest::header::HeaderMap;

use crate::options::AnswerLimits;
use crate::{Chunks, Events, HttpError, HttpErrorKind, HttpOptions, HttpResponse};

/// Head of an answer, with its body still to come.
#[derive(Debug)]
pub struct Response {
    response: HttpResponse,
    limits: AnswerLimits,
}

impl Response {
    pub(crate) fn new(response: HttpResponse, options: &HttpOptions) -> Self {
        Self { response, limits: AnswerLimits::of(options) }
    }

    /// Returns the HTTP status.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.response.status()
    }

    /// Returns the headers.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        self.response.header_map()
    }

    /// Returns the first header of that name, if it is text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.response.header(name)
    }

    /// Reads the body to its end or to `limit` bytes, within the [idle timeout](HttpOptions::idle_timeout) in all;
    /// bytes that are not UTF-8 are replaced. Cancel safe in that only the answer is lost.
    ///
    /// # Errors
    /// Fails if the connection breaks, or the body does not arrive in time.
    pub async fn text(self, limit: usize) -> Result<String, HttpError> {
        let time_limit = self.limits.idle;
        let (text, ended) = self.read(limit, time_limit).await;
        ended.map(|()| text)
    }

    /// Reads the part of the body that arrives within a time, at most the idle timeout, to its end or to `limit` bytes;
    /// bytes that are not UTF-8 are replaced. For the bodies of errors, which must not be waited for, because the
    /// status is known without them. Cancel safe.
    pub async fn excerpt(self, limit: usize, time_limit: Duration) -> String {
        let time_limit = time_limit.min(self.limits.idle);
        self.read(limit, time_limit).await.0
    }

    async fn read(self, limit: usize, time_limit: Duration) -> (String, Result<(), HttpError>) {
        let mut body = Vec::new();
        let mut chunks = self.response.into_body();
        let reading = async {
            while let Some(chunk) = poll_fn(|context| chunks.as_mut().poll_next(context)).await.transpose()? {
                let room = limit.saturating_sub(body.len());
                body.extend(chunk.iter().take(room));
                if body.len() >= limit {
                    break;
                }
            }
            Ok(())
        };
        let result = tokio::time::timeout(time_limit, reading).await.unwrap_or_else(|_| {
            let text = format!("the answer did not come to its end within {} s", time_limit.as_secs());
            Err(HttpError::new(HttpErrorKind::Timeout, text))
        });
        (String::from_utf8_lossy(&body).into_owned(), result)
    }

    /// Reads the body as server-sent events.
    #[must_use]
    pub fn events(self) -> Events {
        Events::of(self.response.into_body(), self.limits)
    }

    /// Reads the body as lines, each the data of one event: [`Events::lines`].
    #[must_use]
    pub fn lines(self) -> Events {
        Events::lines_of(self.response.into_body(), self.limits)
    }

    /// Reads the body as chunks, for answers in a framing of their own.
    #[must_use]
    pub fn body(self) -> Chunks {
        Chunks::of(self.response.into_body(), self.limits)
    }
}
