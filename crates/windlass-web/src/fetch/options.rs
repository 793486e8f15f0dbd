//! Options of `WebFetch`: reachable hosts and bounds.

use std::sync::Arc;
use std::time::Duration;

use windlass_http::HttpOptions;
use windlass_permission::network::NetworkPolicy;

use super::{NetworkPages, PageTransport};
use crate::{Network, SystemNetwork};

/// Reachable hosts and bounds of a [`WebFetch`](super::WebFetch).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FetchOptions {
    /// Hosts that may be reached at all; the rules of the session apply to a call before that. A host without an entry
    /// is reached at its public addresses on the usual ports. Default: no entry.
    pub policy: NetworkPolicy,
    /// Maximum time of a call, over all its redirects. Default: 30 s.
    pub timeout: Duration,
    /// Maximum number of bytes of a page, after decompression. A longer page is cut. Default: 5 MiB.
    pub max_bytes: usize,
    /// Maximum number of redirects on one host. Default: 5.
    pub max_redirects: usize,
    /// Maximum number of characters of a page that one call returns. Default: 40,000.
    pub max_characters: usize,
    /// Time for which a page is cached, and not requested again. Default: 15 minutes.
    pub cache_time: Duration,
    /// Model that reads a page and answers the prompt of a call. Default: `None`, the call returns the page.
    pub reader: Option<Reader>,
    /// Resolver of names. Default: that of this machine.
    pub network: Arc<dyn Network>,
    /// Transport of requests. Default: directly, with the certificate authorities of this machine.
    pub transport: Arc<dyn PageTransport>,
}

/// Model that answers the prompt of a call from a page. It runs as a child of the calling agent, so that budget and
/// events are those of the session. It has no tools.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reader {
    /// Model, by id or alias. `None`: the model of the calling agent.
    pub model: Option<String>,
}

impl Reader {
    /// Creates a reader with a model by id or alias; a small one is enough.
    #[must_use]
    pub fn new(model: impl Into<String>) -> Self {
        Self { model: Some(model.into()) }
    }
}

impl Default for FetchOptions {
    fn default() -> Self {
        Self {
            policy: NetworkPolicy::default(),
            timeout: Duration::from_secs(30),
            max_bytes: 5 * 1024 * 1024,
            max_redirects: 5,
            max_characters: 40_000,
            cache_time: Duration::from_secs(15 * 60),
            reader: None,
            network: Arc::new(SystemNetwork),
            transport: Arc::new(NetworkPages::new(HttpOptions::default())),
        }
    }
}

impl FetchOptions {
    /// Reads proxies and certificate authorities from variables, by a lookup: `HTTPS_PROXY`, `NO_PROXY`,
    /// `SSL_CERT_FILE` and the others that providers read too.
    #[must_use]
    pub fn look_up(mut self, lookup: &dyn Fn(&str) -> Option<String>) -> Self {
        let mut http = HttpOptions::default();
        http.look_up(lookup);
        self.transport = Arc::new(NetworkPages::new(http));
        self
    }
}
