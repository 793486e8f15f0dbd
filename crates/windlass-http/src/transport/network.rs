//! Transport over sockets: the client of reqwest.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use futures_util::stream;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Method, Url, redirect};

use super::{HttpRequest, HttpResponse, HttpTransport};
use crate::route::RequestRoute;
use crate::tls::{self, Trust};
use crate::{HttpError, HttpErrorKind, HttpOptions, cause};

/// Maximum number of idle connections kept for later requests. Enough for a busy server; thousands of sessions that end
/// together do not leave thousands of sockets.
const MAX_IDLE_CONNECTIONS: usize = 32;

/// Default transport of clients: over sockets, with kept connections. Public for transports that wrap it.
///
/// A request that fails because the server closed the kept connection is sent once more over a new one.
///
/// ```
/// use windlass_http::{HttpError, HttpOptions, HttpRequest, HttpResponse, HttpTransport, NetworkTransport};
///
/// /// Counts the requests that leave.
/// #[derive(Debug)]
/// struct Counting {
///     network: NetworkTransport,
///     sent: std::sync::atomic::AtomicUsize,
/// }
///
/// #[async_trait::async_trait]
/// impl HttpTransport for Counting {
///     async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
///         self.sent.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
///         self.network.send(request).await
///     }
/// }
///
/// let network = NetworkTransport::new("https://api.example.com", &HttpOptions::default())?;
/// # let _ = Counting { network, sent: 0.into() };
/// # Ok::<(), HttpError>(())
/// ```
#[derive(Debug)]
pub struct NetworkTransport {
    client: reqwest::Client,
    /// Host and port, for messages.
    host: String,
    /// Host and port of the proxy on the way, for messages.
    proxy: Option<String>,
    /// `true` once a request was answered: later ones may use its connection.
    has_answered: AtomicBool,
}

impl NetworkTransport {
    /// Creates a transport to the host of a base URL, which decides on the proxy and on TLS. The trust store is read
    /// here.
    ///
    /// # Errors
    /// [`HttpErrorKind::Configuration`] if the URL is not an absolute http or https URL, or if the proxy, the
    /// certificate authorities or TLS cannot be set up.
    pub fn new(base_url: &str, options: &HttpOptions) -> Result<Self, HttpError> {
        let (base, host) = crate::base_url::connectable_base(base_url)?;
        Self::set_up(&base, &host, options)
    }

    /// Creates a transport that connects only to these addresses, regardless of the current addresses of the host name.
    /// Certificates are still checked for the name. A port of 0 means the port of the URL. Requests to other hosts
    /// fail. Through a proxy (see [`HttpOptions::is_proxied`]) the addresses are ignored: the proxy looks the name up.
    ///
    /// # Errors
    /// The errors of [`new`](Self::new).
    pub fn pinned(base_url: &str, addresses: &[SocketAddr], options: &HttpOptions) -> Result<Self, HttpError> {
        let (base, host) = crate::base_url::connectable_base(base_url)?;
        let route = options.proxy.pinned_route(&base)?;
        let proxy = route.proxy().map(str::to_owned);
        let mut builder = builder(&base, &route, options)?.pool_max_idle_per_host(0);
        if proxy.is_none() {
            builder = builder.dns_resolver(PinnedAddresses::new(base.host_str().unwrap_or_default(), addresses));
        }
        Ok(Self::of(set_up(builder)?, host, proxy))
    }

    /// Sets up a client for a base URL.
    ///
    /// # Errors
    /// Fails if the proxy, the authorities or TLS cannot be set up.
    pub(crate) fn set_up(base: &Url, host: &str, options: &HttpOptions) -> Result<Self, HttpError> {
        let route = options.proxy.route(base)?;
        let proxy = route.proxy().map(str::to_owned);
        let client = set_up(builder(base, &route, options)?)?;
        Ok(Self::of(client, host.to_owned(), proxy))
    }

    fn of(client: reqwest::Client, host: String, proxy: Option<String>) -> Self {
        Self { client, host, proxy, has_answered: AtomicBool::new(false) }
    }

    async fn send_once(&self, request: HttpRequest) -> Result<reqwest::Response, reqwest::Error> {
        let (method, url, headers, body) = request.into_parts();
        let method = if method == "GET" { Method::GET } else { Method::POST };
        self.client.request(method, url).headers(headers).body(body).send().await
    }
}

/// Addresses of a single name.
struct PinnedAddresses {
    name: String,
    addresses: Vec<SocketAddr>,
}

impl PinnedAddresses {
    fn new(name: &str, addresses: &[SocketAddr]) -> Self {
        Self { name: name.to_owned(), addresses: addresses.to_vec() }
    }
}

impl Resolve for PinnedAddresses {
    fn resolve(&self, name: Name) -> Resolving {
        let found: Result<Addrs, Box<dyn std::error::Error + Send + Sync>> = if name.as_str() == self.name {
            Ok(Box::new(self.addresses.clone().into_iter()))
        } else {
            Err("the name is not the one that this client is for".into())
        };
        Box::pin(std::future::ready(found))
    }
}

#[async_trait]
impl HttpTransport for NetworkTransport {
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let mut sent = self.send_once(request.clone()).await;
        // Many servers close a connection after each answer, or after a while, without announcing it.
        if self.has_answered.load(Ordering::Relaxed) && sent.as_ref().is_err_and(cause::is_closed_by_server) {
            sent = self.send_once(request).await;
        }
        self.has_answered.fetch_or(sent.is_ok(), Ordering::Relaxed);
        let mut response = sent.map_err(|error| HttpError::sending(error, &self.host, self.proxy.as_deref()))?;
        let head = HttpResponse::new(response.status().as_u16()).with_headers(std::mem::take(response.headers_mut()));
        Ok(head.with_body(stream::unfold(response, |mut response| async move {
            let chunk = response.chunk().await.map_err(HttpError::receiving).transpose()?;
            Some((chunk, response))
        })))
    }
}

/// Returns the builder that every client of this crate uses.
pub(crate) fn builder(
    base: &Url,
    route: &RequestRoute,
    options: &HttpOptions,
) -> Result<reqwest::ClientBuilder, HttpError> {
    // Without redirects no request of a client for plain HTTP can reach TLS, and reading the system's roots takes
    // longer than a local request.
    let is_plain = base.scheme() == "http" && !route.needs_tls();
    let trust = if is_plain { Trust::None } else { options.roots.trust()? };
    let builder = tls::client_builder(trust)?
        .user_agent(concat!("windlass/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::none())
        .retry(reqwest::retry::never())
        .connect_timeout(options.connect_timeout)
        .pool_max_idle_per_host(MAX_IDLE_CONNECTIONS)
        .tcp_nodelay(true);
    route.apply(builder)
}

pub(crate) fn set_up(builder: reqwest::ClientBuilder) -> Result<reqwest::Client, HttpError> {
    builder.build().map_err(|error| {
        let what = "the HTTP client cannot be set up".to_owned();
        HttpError::because(HttpErrorKind::Configuration, what, error.without_url())
    })
}
