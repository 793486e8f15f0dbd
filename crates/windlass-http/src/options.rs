//! Connection settings and bounds of a client.

use std::sync::Arc;
use std::time::Duration;

use crate::HttpTransport;
use crate::roots::Roots;
use crate::route::ForwardProxy;

/// Time limits and bounds of a client, and the route of its requests.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HttpOptions {
    /// Maximum time to establish a connection. Default: 30 s.
    pub connect_timeout: Duration,
    /// Maximum time without a byte, before and inside an answer. Default: 120 s.
    pub idle_timeout: Duration,
    /// Maximum time with bytes but without progress, see [`Events::progress`](crate::Events::progress). Default: 600 s.
    pub stall_timeout: Duration,
    /// Maximum number of bytes of one event, framing included. Default: 32 MiB.
    pub max_event_bytes: usize,
    /// Forward proxy of requests. Default: the settings of the process environment and of the system.
    pub proxy: ForwardProxy,
    /// Trusted certificate authorities. Default: those of the trust store of this machine.
    pub roots: Roots,
    /// Transport that sends the requests, in place of the client of this crate. Proxy and roots do not apply to it.
    /// Default: `None`.
    pub transport: Option<Arc<dyn HttpTransport>>,
}

/// Bounds of one answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AnswerLimits {
    pub(crate) idle: Duration,
    pub(crate) stall: Duration,
    pub(crate) event_bytes: usize,
}

impl AnswerLimits {
    pub(crate) fn of(options: &HttpOptions) -> Self {
        Self { idle: options.idle_timeout, stall: options.stall_timeout, event_bytes: options.max_event_bytes }
    }
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_secs(120),
            stall_timeout: Duration::from_secs(600),
            max_event_bytes: 32 * 1024 * 1024,
            proxy: ForwardProxy::default(),
            roots: Roots::default(),
            transport: None,
        }
    }
}

impl HttpOptions {
    /// Reads proxies and authorities from variables, by a lookup: `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`, `NO_PROXY`,
    /// `SSL_CERT_FILE`, `NODE_EXTRA_CA_CERTS`. Proxies in the environment of the process are ignored then. A proxy that
    /// was set before stays.
    pub fn look_up(&mut self, lookup: &dyn Fn(&str) -> Option<String>) {
        self.proxy.look_up(lookup);
        self.roots.look_up(lookup);
    }
}

impl HttpOptions {
    /// `true` if a client of [`NetworkTransport::pinned`](crate::NetworkTransport::pinned) sends the requests for a URL
    /// through a proxy. `false` for an invalid URL.
    #[must_use]
    pub fn is_proxied(&self, url: &str) -> bool {
        let Ok((base, _)) = crate::base_url::connectable_base(url) else { return false };
        self.proxy.pinned_route(&base).is_ok_and(|route| route.proxy().is_some())
    }
}

/// Connection methods that the builders of all providers share. `$idle` is the sentence with the default of the idle
/// limit.
#[doc(hidden)]
#[macro_export]
macro_rules! connection_methods {
    ($options:ident, $idle:literal) => {
        /// Sets the maximum time to establish a connection. Default: 30 s.
        pub fn connect_timeout(mut self, limit: ::std::time::Duration) -> Self {
            self.$options.connect_timeout = limit;
            self
        }

        #[doc = concat!("Sets the longest time without a byte of an answer. ", $idle)]
        pub fn idle_timeout(mut self, limit: ::std::time::Duration) -> Self {
            self.$options.idle_timeout = limit;
            self
        }

        /// Sets the maximum time without progress of an answer while bytes arrive. Default: 600 s.
        pub fn stall_timeout(mut self, limit: ::std::time::Duration) -> Self {
            self.$options.stall_timeout = limit;
            self
        }

        /// Sends all requests through a proxy, also those to this machine: `http://proxy.example:3128`, with user and
        /// password in front of the host if the proxy requires them. Takes precedence over variables.
        ///
        /// Default: the variables of the `lookup`. Without a lookup, the environment of the process when the first
        /// request is sent. Variables never send requests to this machine through a proxy.
        pub fn proxy(mut self, url: impl AsRef<str>) -> Self {
            self.$options.proxy = $crate::ForwardProxy::through(url);
            self
        }

        /// Connects directly, regardless of variables and the system.
        pub fn without_proxy(mut self) -> Self {
            self.$options.proxy = $crate::ForwardProxy::none();
            self
        }

        /// Trusts these certificate authorities in addition to the default ones: one certificate or several, as PEM.
        /// For gateways and proxies with certificates of a company.
        pub fn root_certificate_pem(mut self, pem: impl AsRef<[u8]>) -> Self {
            self.$options.roots.add_pem(pem);
            self
        }

        /// Sends all requests over a custom transport, which can be shared as an `Arc`. Proxies, certificate
        /// authorities and the connect timeout do not apply to it; the other limits do.
        pub fn transport(mut self, transport: impl $crate::HttpTransport) -> Self {
            self.$options.transport = Some(::std::sync::Arc::new(transport));
            self
        }

        /// Sets the limits, the route and the transport of connections at once.
        #[doc(hidden)]
        pub fn http_options(mut self, change: impl FnOnce(&mut $crate::HttpOptions)) -> Self {
            change(&mut self.$options);
            self
        }
    };
}
