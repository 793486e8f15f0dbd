//! Requests and answers of a transport.

use std::fmt;
use std::pin::Pin;

use bytes::Bytes;
use futures_util::{Stream, stream};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use crate::HttpError;

/// Chunks of a body, as they arrive. An error is the last item.
pub type HttpBody = Pin<Box<dyn Stream<Item = Result<Bytes, HttpError>> + Send>>;

/// Request to send. Its debug form shows the method, the size of the body and the names of the headers.
#[derive(Clone)]
pub struct HttpRequest {
    method: &'static str,
    url: String,
    headers: HeaderMap,
    body: Bytes,
}

impl HttpRequest {
    /// Creates a request with the method `POST`.
    #[must_use]
    pub fn post(url: impl Into<String>) -> Self {
        Self { method: "POST", url: url.into(), headers: HeaderMap::new(), body: Bytes::new() }
    }

    /// Creates a request with the method `GET`.
    #[must_use]
    pub fn get(url: impl Into<String>) -> Self {
        Self { method: "GET", ..Self::post(url) }
    }

    /// Adds a header. An invalid one is left out.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        append(&mut self.headers, name, value.as_ref());
        self
    }

    /// Sets the body.
    #[must_use]
    pub fn with_body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    pub(crate) fn with_headers(mut self, headers: HeaderMap) -> Self {
        self.headers = headers;
        self
    }

    /// Returns the method, in upper case: `POST` or `GET`.
    #[must_use]
    pub fn method(&self) -> &str {
        self.method
    }

    /// Returns the absolute URL, `http` or `https`. It may hold a user and a password, which are to be sent as basic
    /// authorization.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns lower-case names and values of the headers, including the key.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes()))
    }

    /// Returns the first header of that name, in any case, if it is text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Returns the body. Its length is known, so no transfer coding is needed.
    #[must_use]
    pub fn body(&self) -> &Bytes {
        &self.body
    }

    pub(crate) fn into_parts(self) -> (&'static str, String, HeaderMap, Bytes) {
        (self.method, self.url, self.headers, self.body)
    }
}

impl fmt::Debug for HttpRequest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("HttpRequest")
            .field("method", &self.method)
            .field("headers", &self.headers.keys().collect::<Vec<_>>())
            .field("body", &self.body.len())
            .finish_non_exhaustive()
    }
}

/// Answer: its status and headers, with its body still to come. Its debug form shows the status and the names of the
/// headers.
pub struct HttpResponse {
    status: u16,
    headers: HeaderMap,
    body: HttpBody,
}

impl HttpResponse {
    /// Creates an answer without headers and body.
    #[must_use]
    pub fn new(status: u16) -> Self {
        Self { status, headers: HeaderMap::new(), body: Box::pin(stream::empty()) }
    }

    /// Adds a header. An invalid one is left out.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        append(&mut self.headers, name, value.as_ref());
        self
    }

    pub(crate) fn with_headers(mut self, headers: HeaderMap) -> Self {
        self.headers = headers;
        self
    }

    /// Sets a body that arrives chunk by chunk, without transfer coding and compression. Items after an error are not
    /// read.
    #[must_use]
    pub fn with_body(mut self, body: impl Stream<Item = Result<Bytes, HttpError>> + Send + 'static) -> Self {
        self.body = Box::pin(body);
        self
    }

    /// Sets a complete body.
    #[must_use]
    pub fn with_bytes(self, body: impl Into<Bytes>) -> Self {
        let body = body.into();
        self.with_body(stream::once(async move { Ok(body) }))
    }

    /// Returns the HTTP status.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.status
    }

    /// Returns lower-case names and values of the headers.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes()))
    }

    /// Returns the first header of that name, in any case, if it is text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Returns the body, for transports that wrap another one.
    #[must_use]
    pub fn into_body(self) -> HttpBody {
        self.body
    }

    /// Replaces the body by the result of a function, and keeps status and headers.
    #[must_use]
    pub fn map_body(self, change: impl FnOnce(HttpBody) -> HttpBody) -> Self {
        Self { body: change(self.body), ..self }
    }

    pub(crate) fn header_map(&self) -> &HeaderMap {
        &self.headers
    }
}

impl fmt::Debug for HttpResponse {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("HttpResponse")
            .field("status", &self.status)
            .field("headers", &self.headers.keys().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

fn append(headers: &mut HeaderMap, name: &str, value: &[u8]) {
    if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_bytes(value)) {
        headers.append(name, value);
    }
}
