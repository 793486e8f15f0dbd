//! The transport over sockets: the client of reqwest.

use async_trait::async_trait;
use futures_util::stream;
use reqwest::{Method, Url, redirect};

use super::{HttpRequest, HttpResponse, HttpTransport};
use crate::route::Route;
use crate::tls::{self, Trust};
use crate::{HttpError, HttpErrorKind, HttpOptions};

/// Idle connections kept for later requests. Enough for a busy server; thousands
/// of sessions that end together do not leave thousands of sockets.
const MAX_IDLE_CONNECTIONS: usize = 32;

/// Sends over sockets to one host.
#[derive(Debug)]
pub(crate) struct Network {
    client: reqwest::Client,
    /// Host and port, for messages.
    host: String,
    /// Host and port of the proxy on the way, for messages.
    proxy: Option<String>,
}

impl Network {
    /// Sets up a client for a base URL.
    ///
    /// # Errors
    /// The proxy, the authorities or TLS cannot be set up.
    pub(crate) fn new(base: &Url, host: &str, options: &HttpOptions) -> Result<Self, HttpError> {
        let route = options.proxy.route(base)?;
        let proxy = route.proxy().map(str::to_owned);
        let client = set_up(builder(base, &route, options)?)?;
        Ok(Self { client, host: host.to_owned(), proxy })
    }
}

#[async_trait]
impl HttpTransport for Network {
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (method, url, headers, body) = request.into_parts();
        let method = if method == "GET" { Method::GET } else { Method::POST };
        let sent = self.client.request(method, url).headers(headers).body(body).send().await;
        let mut response = sent.map_err(|error| HttpError::sending(error, &self.host, self.proxy.as_deref()))?;
        let head = HttpResponse::new(response.status().as_u16()).with_headers(std::mem::take(response.headers_mut()));
        Ok(head.with_body(stream::unfold(response, |mut response| async move {
            let chunk = response.chunk().await.map_err(HttpError::receiving).transpose()?;
            Some((chunk, response))
        })))
    }
}

/// The set-up that every client of this crate has.
pub(crate) fn builder(base: &Url, route: &Route, options: &HttpOptions) -> Result<reqwest::ClientBuilder, HttpError> {
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
