use std::{
    fmt,
    net::IpAddr,
    sync::{Arc, OnceLock},
    time::Duration,
};

use bytes::Bytes;
use reqwest::{Url, header::HeaderMap, redirect};

use crate::tls::{self, Trust};
use crate::{HttpError, HttpErrorKind, Response};

/// Idle connections kept for later requests. Enough for a busy server; thousands
/// of sessions that end together do not leave thousands of sockets.
const MAX_IDLE_CONNECTIONS: usize = 32;

/// Time limits and bounds of a client.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HttpOptions {
    /// Longest time to establish a connection. Default: 30 s.
    pub connect_timeout: Duration,
    /// Longest time without a byte, before and inside an answer. Default: 120 s.
    pub idle_timeout: Duration,
    /// Longest time with bytes but without progress, see
    /// [`Events::progress`](crate::Events::progress). Default: 600 s.
    pub stall_timeout: Duration,
    /// Most bytes of one event, framing included. Default: 32 MiB.
    pub max_event_bytes: usize,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_secs(120),
            stall_timeout: Duration::from_secs(600),
            max_event_bytes: 32 * 1024 * 1024,
        }
    }
}

/// Posts to one base URL over kept connections. Cheap to clone.
#[derive(Clone)]
pub struct HttpClient {
    inner: Arc<Inner>,
}

struct Inner {
    base: Url,
    host: String,
    options: HttpOptions,
    client: OnceLock<reqwest::Client>,
}

impl fmt::Debug for HttpClient {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The base URL may carry a user and a password.
        formatter
            .debug_struct("HttpClient")
            .field("host", &self.inner.host)
            .field("options", &self.inner.options)
            .finish_non_exhaustive()
    }
}

impl HttpClient {
    /// A client for a base URL. It is set up at the first request.
    ///
    /// # Errors
    /// When the URL is not an absolute http or https URL, and when it is https and no feature of TLS is enabled.
    pub fn new(base_url: &str, options: HttpOptions) -> Result<Self, HttpError> {
        let (base, host) = base(base_url)?;
        Ok(Self { inner: Arc::new(Inner { base, host, options, client: OnceLock::new() }) })
    }

    /// Host and port of the base URL, for messages.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.inner.host
    }

    /// Posts a body to a path under the base URL and waits for the head of the
    /// answer, whatever its status. Dropping the future ends the request.
    ///
    /// # Errors
    /// When there is no answer.
    pub async fn post(&self, path: &str, headers: HeaderMap, body: Bytes) -> Result<Response, HttpError> {
        let inner = &*self.inner;
        let base = inner.base.as_str().trim_end_matches('/');
        let response = inner
            .client()?
            .post(format!("{base}{path}"))
            .headers(headers)
            .body(body)
            .send()
            .await
            .map_err(|error| HttpError::sending(error, &inner.host))?;
        Ok(Response::new(response, &inner.options))
    }
}

impl Inner {
    fn client(&self) -> Result<&reqwest::Client, HttpError> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        // Two first requests may both build one; the first to finish is kept.
        let client = self.build()?;
        Ok(self.client.get_or_init(|| client))
    }

    fn build(&self) -> Result<reqwest::Client, HttpError> {
        set_up(builder(&self.base, &self.options)?)
    }
}

/// A base URL, and its host and port for messages.
pub(crate) fn base(text: &str) -> Result<(Url, String), HttpError> {
    let invalid = |what: &str| {
        HttpError::new(
            HttpErrorKind::Configuration,
            format!("the base URL {what}; it should look like https://api.example.com"),
        )
    };
    let base = Url::parse(text.trim()).map_err(|error| invalid("is not a URL").with_source(error))?;
    if !matches!(base.scheme(), "http" | "https") {
        return Err(invalid("is neither http nor https"));
    }
    let Some(name) = base.host_str() else {
        return Err(invalid("has no host"));
    };
    let host = match base.port() {
        Some(port) => format!("{name}:{port}"),
        None => name.to_owned(),
    };
    tls::check(&base)?;
    Ok((base, host))
}

/// The set-up that every client of this crate has.
pub(crate) fn builder(base: &Url, options: &HttpOptions) -> Result<reqwest::ClientBuilder, HttpError> {
    // Without redirects no request of a client for plain HTTP can reach TLS, and reading the system's roots takes
    // longer than a local request.
    let trust = if base.scheme() == "http" { Trust::None } else { Trust::System };
    let mut builder = tls::client_builder(trust)?
        .user_agent(concat!("windlass/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::none())
        .retry(reqwest::retry::never())
        .connect_timeout(options.connect_timeout)
        .read_timeout(options.idle_timeout)
        .pool_max_idle_per_host(MAX_IDLE_CONNECTIONS)
        .tcp_nodelay(true);
    if is_loopback(base) {
        builder = builder.no_proxy();
    }
    Ok(builder)
}

pub(crate) fn set_up(builder: reqwest::ClientBuilder) -> Result<reqwest::Client, HttpError> {
    builder.build().map_err(|error| {
        let what = "the HTTP client cannot be set up".to_owned();
        HttpError::because(HttpErrorKind::Configuration, what, error.without_url())
    })
}

fn is_loopback(url: &Url) -> bool {
    let name = url.host_str().unwrap_or_default();
    let address = name.trim_start_matches('[').trim_end_matches(']');
    name == "localhost" || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}
