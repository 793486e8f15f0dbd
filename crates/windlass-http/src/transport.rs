//! The port to a client of HTTP.

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

/// Sends requests of HTTP. Implement it to bring a client of your own: one with another TLS, another pool, a recorder, or
/// answers from memory.
///
/// What providers promise of time and memory holds over any transport: the idle and the stall limit, the largest event
/// and the largest body are watched above it. What is left to a transport is how long it takes to connect.
///
/// # What a transport does
/// - It sends each request once, as it is: no repeat, no redirect followed, no header added but those of the protocol
///   itself (`host`, `content-length`, …) and a `user-agent`.
/// - It gives any status as an answer, also 4xx and 5xx.
/// - It hands on chunks as they come, and ends the body with an error if it was cut: a body that ends without one is
///   taken for whole.
/// - It marks errors by their kind: [`HttpErrorKind`](crate::HttpErrorKind). [`HttpError::unsent`] says that the request
///   has certainly not left; what may have left may have been billed, and is repeated with more care.
/// - A dropped future, or a dropped body, ends the request and its connection.
///
/// # Secrets
/// The headers hold the key, because a request cannot be sent without it; a URL may hold a password. The debug forms of
/// requests show neither. The text of an error is shown to users: keep headers and URLs out of it.
///
/// The kit `transport` of the test kit checks all this.
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
    /// There is no answer.
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError>;
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<T: HttpTransport + ?Sized> HttpTransport for Arc<T> {
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        (**self).send(request).await
    }
}
