use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use bytes::Bytes;
use reqwest::{Url, header::HeaderMap};

use crate::base_url::parse_base;

use crate::{HttpError, HttpErrorKind, HttpOptions, HttpRequest, HttpTransport, NetworkTransport, Response, tls};

/// Client of one base URL with kept connections. Cheap to clone.
#[derive(Clone)]
pub struct HttpClient {
    inner: Arc<ClientState>,
}

struct ClientState {
    base: Url,
    host: String,
    options: HttpOptions,
    transport: OnceLock<Arc<dyn HttpTransport>>,
}

impl fmt::Debug for HttpClient {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The base URL may hold a user and a password.
        formatter
            .debug_struct("HttpClient")
            .field("host", &self.inner.host)
            .field("options", &self.inner.options)
            .finish_non_exhaustive()
    }
}

impl HttpClient {
    /// Creates a client for a base URL. Its transport is set up at the first request.
    ///
    /// # Errors
    /// Fails if the URL is not an absolute http or https URL, if the proxy on the way to it is unusable, and if it is
    /// https and neither a TLS feature is enabled nor a transport given.
    pub fn new(base_url: &str, options: HttpOptions) -> Result<Self, HttpError> {
        let (base, host) = parse_base(base_url)?;
        let transport = OnceLock::new();
        match &options.transport {
            Some(own) => {
                let _ = transport.set(Arc::clone(own));
            }
            None => {
                tls::check(&base)?;
                options.proxy.route(&base)?;
            }
        }
        Ok(Self { inner: Arc::new(ClientState { base, host, options, transport }) })
    }

    /// Returns host and port of the base URL, for messages.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.inner.host
    }

    /// Posts a body to a path under the base URL and waits for the head of the answer, whatever its status, but no
    /// longer than the [idle timeout](HttpOptions::idle_timeout). Dropping the future ends the request.
    ///
    /// # Errors
    /// Fails if there is no answer.
    pub async fn post(&self, path: &str, headers: HeaderMap, body: Bytes) -> Result<Response, HttpError> {
        self.send(HttpRequest::post(self.url(path)).with_headers(headers).with_body(body)).await
    }

    /// Gets a path under the base URL, with the same limits as [`post`](Self::post).
    ///
    /// # Errors
    /// Fails if there is no answer.
    pub async fn get(&self, path: &str, headers: HeaderMap) -> Result<Response, HttpError> {
        self.send(HttpRequest::get(self.url(path)).with_headers(headers)).await
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.inner.base.as_str().trim_end_matches('/'))
    }

    async fn send(&self, request: HttpRequest) -> Result<Response, HttpError> {
        let inner = &*self.inner;
        let limit = inner.options.idle_timeout;
        let answer = tokio::time::timeout(limit, inner.transport()?.send(request)).await.unwrap_or_else(|_| {
            let text = format!("no answer from {} within {} s", inner.host, limit.as_secs_f64());
            Err(HttpError::new(HttpErrorKind::Timeout, text))
        })?;
        Ok(Response::new(answer, &inner.options))
    }
}

impl ClientState {
    fn transport(&self) -> Result<&dyn HttpTransport, HttpError> {
        if let Some(transport) = self.transport.get() {
            return Ok(&**transport);
        }
        // Two first requests may both build one; the first to finish is kept.
        let network = Arc::new(NetworkTransport::set_up(&self.base, &self.host, &self.options)?);
        Ok(&**self.transport.get_or_init(|| network))
    }
}
