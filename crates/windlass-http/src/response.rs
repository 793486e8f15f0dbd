use std::time::Duration;

use futures_util::stream;
use reqwest::header::HeaderMap;

use crate::{Chunks, Events, HttpError, HttpErrorKind, HttpOptions};

/// The head of an answer, with its body still to come.
#[derive(Debug)]
pub struct Response {
    response: reqwest::Response,
    options: HttpOptions,
}

impl Response {
    pub(crate) fn new(response: reqwest::Response, options: &HttpOptions) -> Self {
        Self { response, options: options.clone() }
    }

    /// The HTTP status.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    /// The headers.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        self.response.headers()
    }

    /// The first header of that name, when it is text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers().get(name)?.to_str().ok()
    }

    /// Reads the body to its end or to `limit` bytes, within the [idle
    /// timeout](HttpOptions::idle_timeout) all in all; what is not UTF-8 is replaced. Cancel safe
    /// in that only the answer is lost.
    ///
    /// # Errors
    /// When the connection breaks, or the body does not come in time.
    pub async fn text(self, limit: usize) -> Result<String, HttpError> {
        let within = self.options.idle_timeout;
        let (text, ended) = self.read(limit, within).await;
        ended.map(|()| text)
    }

    /// The part of the body that comes within a time, at most the idle timeout, to its end or to `limit`
    /// bytes; what is not UTF-8 is replaced. For the bodies of errors, which must not be waited for: that there was an answer
    /// with its status is known without them. Cancel safe.
    pub async fn excerpt(self, limit: usize, within: Duration) -> String {
        let within = within.min(self.options.idle_timeout);
        self.read(limit, within).await.0
    }

    async fn read(mut self, limit: usize, within: Duration) -> (String, Result<(), HttpError>) {
        let mut body = Vec::new();
        let reading = async {
            while let Some(chunk) = self.response.chunk().await.map_err(HttpError::receiving)? {
                let room = limit.saturating_sub(body.len());
                body.extend(chunk.iter().take(room));
                if body.len() >= limit {
                    break;
                }
            }
            Ok(())
        };
        let ended = tokio::time::timeout(within, reading).await.unwrap_or_else(|_| {
            let text = format!("the answer did not come to its end within {} s", within.as_secs());
            Err(HttpError::new(HttpErrorKind::Timeout, text))
        });
        (String::from_utf8_lossy(&body).into_owned(), ended)
    }

    /// Reads the body as server-sent events.
    #[must_use]
    pub fn events(self) -> Events {
        let options = self.options.clone();
        Events::new(self.chunks(), &options)
    }

    /// Reads the body as lines, each the data of one event: [`Events::lines`].
    #[must_use]
    pub fn lines(self) -> Events {
        let options = self.options.clone();
        Events::lines(self.chunks(), &options)
    }

    /// Reads the body as it comes, for answers in a framing of their own.
    #[must_use]
    pub fn body(self) -> Chunks {
        let options = self.options.clone();
        Chunks::new(self.chunks(), &options)
    }

    fn chunks(self) -> impl futures_util::Stream<Item = Result<bytes::Bytes, HttpError>> + Send + 'static {
        stream::unfold(self.response, |mut response| async move {
            let chunk = response.chunk().await.map_err(HttpError::receiving).transpose()?;
            Some((chunk, response))
        })
    }
}
