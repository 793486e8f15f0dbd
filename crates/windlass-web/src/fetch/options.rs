//! What a `WebFetch` may reach, and its bounds.

use std::sync::Arc;
use std::time::Duration;

use windlass_http::HttpOptions;
use windlass_permission::network::NetworkPolicy;

use super::{NetworkPages, PageTransport};
use crate::{Network, SystemNetwork};

/// What a [`WebFetch`](super::WebFetch) may reach, and its bounds.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FetchOptions {
    /// Which hosts may be reached at all; what the rules of the session say of a call comes before that. A host that no entry
    /// names is reached at its public addresses on the usual ports. Default: no entry.
    pub policy: NetworkPolicy,
    /// Longest time of a call, over all its redirects. Default: 30 s.
    pub timeout: Duration,
    /// Most bytes of a page, after decompression. What is longer is cut. Default: 5 MiB.
    pub max_bytes: usize,
    /// Most redirects on one host. Default: 5.
    pub max_redirects: usize,
    /// Most characters of a page that one call returns. Default: 40,000.
    pub max_characters: usize,
    /// How long a page is kept, and not requested again. Default: 15 minutes.
    pub cache_time: Duration,
    /// What reads a page and answers the prompt of a call. Default: `None`, the call returns the page.
    pub reader: Option<Reader>,
    /// How names are looked up. Default: as this machine does it.
    pub network: Arc<dyn Network>,
    /// How requests are sent. Default: directly, with the certificate authorities of this machine.
    pub transport: Arc<dyn PageTransport>,
}

/// The model that answers the prompt of a call from a page. It runs as an agent below the one that calls, so that budget and
/// events are those of the session. It has no tools.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reader {
    /// Its model, by id or alias. `None`: the model of the agent that calls.
    pub model: Option<String>,
}

impl Reader {
    /// A model by id or alias; a small one is enough.
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
    /// Takes proxies and certificate authorities from variables, by a lookup: `HTTPS_PROXY`, `NO_PROXY`, `SSL_CERT_FILE` and
    /// the others that providers read too.
    #[must_use]
    pub fn look_up(mut self, lookup: &dyn Fn(&str) -> Option<String>) -> Self {
        let mut http = HttpOptions::default();
        http.look_up(lookup);
        self.transport = Arc::new(NetworkPages::new(http));
        self
    }
}
