//! Port to servers of pages.

use std::fmt;
use std::net::SocketAddr;

use async_trait::async_trait;
use windlass_http::{HttpError, HttpOptions, HttpRequest, HttpResponse, HttpTransport as _, NetworkTransport};

/// Sends one request for a page to checked addresses.
///
/// ```
/// use std::net::SocketAddr;
/// use windlass_http::{HttpError, HttpRequest, HttpResponse};
/// use windlass_web::fetch::PageTransport;
///
/// /// Answers every request with the same page.
/// #[derive(Debug)]
/// struct OnePage;
///
/// #[async_trait::async_trait]
/// impl PageTransport for OnePage {
///     fn is_proxied(&self, _: &str) -> bool {
///         false
///     }
///
///     async fn send(&self, _: HttpRequest, _: &[SocketAddr]) -> Result<HttpResponse, HttpError> {
///         Ok(HttpResponse::new(200).with_header("content-type", "text/plain").with_bytes("Hello."))
///     }
/// }
/// ```
#[async_trait]
pub trait PageTransport: fmt::Debug + Send + Sync + 'static {
    /// `true` if requests for a URL are sent through a proxy, which looks the name up itself. `send` gets no addresses
    /// then.
    fn is_proxied(&self, url: &str) -> bool;

    /// Sends a request, connecting only to these addresses, and waits for the head of its answer. Follows no redirect
    /// and retries nothing. Dropping the future ends the request.
    ///
    /// # Errors
    /// Fails if there is no answer.
    async fn send(&self, request: HttpRequest, addresses: &[SocketAddr]) -> Result<HttpResponse, HttpError>;
}

/// Transport over the network of this machine, with a connection of its own for each request.
#[derive(Debug, Clone)]
pub struct NetworkPages {
    options: HttpOptions,
}

impl NetworkPages {
    /// Creates a transport with these limits, proxies and certificate authorities.
    #[must_use]
    pub fn new(options: HttpOptions) -> Self {
        Self { options }
    }
}

#[async_trait]
impl PageTransport for NetworkPages {
    fn is_proxied(&self, url: &str) -> bool {
        self.options.is_proxied(url)
    }

    async fn send(&self, request: HttpRequest, addresses: &[SocketAddr]) -> Result<HttpResponse, HttpError> {
        NetworkTransport::pinned(request.url(), addresses, &self.options)?.send(request).await
    }
}
