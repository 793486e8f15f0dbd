use futures_util::TryStreamExt;
use reqwest::header::HeaderMap;

use crate::{Events, HttpError, HttpOptions};

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

    /// Reads the body to its end or to `limit` bytes; what is not UTF-8 is
    /// replaced. Cancel safe in that nothing but the answer is lost.
    ///
    /// # Errors
    /// When the connection breaks or falls silent.
    pub async fn text(mut self, limit: usize) -> Result<String, HttpError> {
        let mut body = Vec::new();
        while let Some(chunk) = self.response.chunk().await.map_err(HttpError::receiving)? {
            let room = limit.saturating_sub(body.len());
            body.extend(chunk.iter().take(room));
            if body.len() >= limit {
                break;
            }
        }
        Ok(String::from_utf8_lossy(&body).into_owned())
    }

    /// Reads the body as server-sent events.
    #[must_use]
    pub fn events(self) -> Events {
        let chunks = self.response.bytes_stream().map_err(HttpError::receiving);
        Events::new(chunks, &self.options)
    }
}
