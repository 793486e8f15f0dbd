//! Port to an HTTP client.

mod message;
mod network;

pub use message::{HttpBody, HttpRequest, HttpResponse};
pub use network::NetworkTransport;
#[cfg(feature = "proxy")]
pub(crate) use network::{builder, set_up};

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use crate::HttpError;

/// Sends HTTP requests. Implement it for a client of your own: one with another TLS, another pool, a recorder, or
/// answers from memory.
///
/// The providers' bounds on time and memory hold over any transport: the idle and the stall limit, the largest event
/// and the largest body are checked above it. A transport is only responsible for its time to connect.
///
/// # Duties of a transport
/// - A transport sends each request once and unchanged: it does not retry, follows no redirect, and adds no header
///   except those of the protocol itself (`host`, `content-length`, …) and a `user-agent`.
/// - Any status is an answer, also 4xx and 5xx.
/// - Chunks are passed on as they arrive, and a body that was cut ends with an error: a body that ends without one
///   counts as complete.
/// - Errors have the right kind: [`HttpErrorKind`](crate::HttpErrorKind). [`HttpError::unsent`] marks a request as
///   certainly not sent; a request that may have been sent may have been billed, and is retried with more care.
/// - Dropping the future, or the body, ends the request and its connection.
///
/// # Secrets
/// The headers hold the key, because a request cannot be sent without it; a URL may hold a password. The debug forms of
/// requests show neither. The text of an error is shown to users: it must contain no headers and no URLs.
///
/// The kit `transport` of the test kit checks all these duties.
///
/// ```
/// use std::sync::Mutex;
/// use windlass_http::{HttpError, HttpRequest, HttpResponse, HttpTransport};
///
/// /// Keeps the bodies of requests and answers each with the same text.
/// #[derive(Debug, Default)]
/// struct Canned {
///     sent: Mutex<Vec<String>>,
/// }
///
/// #[async_trait::async_trait]
/// impl HttpTransport for Canned {
///     async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
///         let body = String::from_utf8_lossy(request.body()).into_owned();
///         self.sent.lock().expect("no panic").push(body);
///         let answer = HttpResponse::new(200).with_header("content-type", "text/event-stream");
///         Ok(answer.with_bytes("data: {\"type\":\"ping\"}\n\n"))
///     }
/// }
/// ```
#[async_trait]
pub trait HttpTransport: fmt::Debug + Send + Sync + 'static {
    /// Sends a request and waits for the head of its answer. Dropping the future ends the request.
    ///
    /// # Errors
    /// Fails if there is no answer.
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError>;
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<T: HttpTransport + ?Sized> HttpTransport for Arc<T> {
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        (**self).send(request).await
    }
}
