use std::{fmt, sync::Arc, time::Duration};

use super::{ProxyCredential, ProxyError, ProxyNotice};

const BASE_URL: &str = "https://api.anthropic.com";

pub(super) type NoticeSink = Arc<dyn Fn(&ProxyNotice) + Send + Sync>;

/// Upstream, credential and bounds of a [`CredentialProxy`](super::CredentialProxy).
#[derive(Clone)]
#[non_exhaustive]
pub struct ProxyOptions {
    /// Only upstream, without `/v1`. Default: `https://api.anthropic.com`.
    pub base_url: String,
    /// Credential for the upstream.
    pub credential: ProxyCredential,
    /// Maximum number of concurrent connections; further ones wait. Default: 256.
    pub max_connections: usize,
    /// Maximum number of bytes of the head of a request, at least 8 KiB. Default: 64 KiB.
    pub max_head_bytes: usize,
    /// Maximum number of bytes of the body of a request. Default: 64 MiB.
    pub max_request_bytes: u64,
    /// Maximum time for the head of a request, and between two requests on one connection. Default: 30 s.
    pub head_timeout: Duration,
    /// Maximum time without a byte of the body of a request. Default: 30 s.
    pub body_timeout: Duration,
    /// Maximum time in which a client takes no byte of an answer. Default: 600 s.
    pub stall_timeout: Duration,
    /// Maximum time to establish a connection to the upstream. Default: 30 s.
    pub connect_timeout: Duration,
    /// Maximum time without a byte of the upstream, before and inside an answer. Answers that are not streamed are
    /// silent while they are made. Default: 600 s.
    pub idle_timeout: Duration,
    /// Maximum time that [`shutdown`](super::CredentialProxy::shutdown) waits for requests in flight. Default: 5 s.
    pub grace: Duration,
    on_notice: Option<NoticeSink>,
}

impl ProxyOptions {
    /// Creates the default options with a credential.
    #[must_use]
    pub fn new(credential: ProxyCredential) -> Self {
        Self {
            base_url: BASE_URL.to_owned(),
            credential,
            max_connections: 256,
            max_head_bytes: 64 * 1024,
            max_request_bytes: 64 * 1024 * 1024,
            head_timeout: Duration::from_secs(30),
            body_timeout: Duration::from_secs(30),
            stall_timeout: Duration::from_secs(600),
            connect_timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_secs(600),
            grace: Duration::from_secs(5),
            on_notice: None,
        }
    }

    /// Reads the settings that the provider would read from the same lookup: `ANTHROPIC_API_KEY`,
    /// `ANTHROPIC_AUTH_TOKEN` (preferred), `ANTHROPIC_BASE_URL` and `ANTHROPIC_CUSTOM_HEADERS`. Blank ones count as
    /// unset.
    ///
    /// # Errors
    /// Fails without a key, a token or a custom header of their names, and for a header that cannot be sent.
    pub fn lookup(lookup: impl Fn(&str) -> Option<String>) -> Result<Self, ProxyError> {
        let lookup = |name: &str| lookup(name).filter(|value| !value.trim().is_empty());
        let mut options = Self::new(ProxyCredential::lookup(&lookup)?);
        if let Some(url) = lookup("ANTHROPIC_BASE_URL") {
            options.base_url = url;
        }
        Ok(options)
    }

    /// Sets a function that receives notices, at most once a second for each kind. It is called on the proxy's tasks
    /// and must not block.
    #[must_use]
    pub fn on_notice(mut self, sink: impl Fn(&ProxyNotice) + Send + Sync + 'static) -> Self {
        self.on_notice = Some(Arc::new(sink));
        self
    }

    pub(super) fn notice_sink(&self) -> Option<NoticeSink> {
        self.on_notice.clone()
    }
}

impl fmt::Debug for ProxyOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The base URL may hold a user and a password.
        formatter
            .debug_struct("ProxyOptions")
            .field("credential", &self.credential)
            .field("max_connections", &self.max_connections)
            .field("max_head_bytes", &self.max_head_bytes)
            .field("max_request_bytes", &self.max_request_bytes)
            .finish_non_exhaustive()
    }
}
