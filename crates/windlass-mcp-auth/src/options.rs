//! Options that the logins of a program share.

use crate::{MemoryTokenStore, TokenStore};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use windlass_http::{HttpOptions, HttpTransport};
use windlass_tool::{Clock, Ids, SystemClock, SystemIds};

/// Options that the logins of a program share: token store, clock, transport and name of the program.
#[derive(Clone)]
#[non_exhaustive]
pub struct AuthOptions {
    pub(crate) store: Arc<dyn TokenStore>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) random: Arc<dyn Ids>,
    pub(crate) http: HttpOptions,
    pub(crate) client_name: String,
    pub(crate) client_metadata_url: Option<String>,
    pub(crate) login_timeout: Duration,
}

impl Default for AuthOptions {
    fn default() -> Self {
        Self {
            store: Arc::new(MemoryTokenStore::new()),
            clock: Arc::new(SystemClock::default()),
            random: Arc::new(SystemIds::default()),
            http: HttpOptions::default(),
            client_name: "windlass".to_owned(),
            client_metadata_url: None,
            login_timeout: Duration::from_secs(300),
        }
    }
}

impl AuthOptions {
    /// Creates the default options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the token store. Default: in memory, tokens end with the process.
    #[must_use]
    pub fn with_store(mut self, store: Arc<dyn TokenStore>) -> Self {
        self.store = store;
        self
    }

    /// Sets the clock. Default: that of the system.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Sets the source of states and verifiers. They must not be guessable. Default: random bits of the operating
    /// system.
    #[must_use]
    pub fn with_random(mut self, random: Arc<dyn Ids>) -> Self {
        self.random = random;
        self
    }

    /// Sets the transport of requests to authorisation servers. Default: the network, with the proxy and the trust
    /// store of the system.
    #[must_use]
    pub fn with_transport(mut self, transport: Arc<dyn HttpTransport>) -> Self {
        self.http.transport = Some(transport);
        self
    }

    /// Sets the name under which clients are registered. Users see it on the login page. Default: `windlass`.
    #[must_use]
    pub fn with_client_name(mut self, name: impl Into<String>) -> Self {
        self.client_name = name.into();
        self
    }

    /// Sets the address of a document that describes the client, for servers that accept such in place of a
    /// registration. Default: `None`.
    #[must_use]
    pub fn with_client_metadata_url(mut self, address: impl Into<String>) -> Self {
        self.client_metadata_url = Some(address.into());
        self
    }

    /// Sets the maximum time for a user to log in. Default: 5 minutes.
    #[must_use]
    pub fn with_login_timeout(mut self, limit: Duration) -> Self {
        self.login_timeout = limit;
        self
    }
}

impl fmt::Debug for AuthOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthOptions")
            .field("store", &self.store)
            .field("client_name", &self.client_name)
            .field("login_timeout", &self.login_timeout)
            .finish_non_exhaustive()
    }
}
