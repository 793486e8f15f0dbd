//! Route to a host: directly, or through a proxy.

use std::fmt;
use std::net::IpAddr;

use reqwest::{ClientBuilder, Proxy, Url};

use crate::{HttpError, HttpErrorKind};

/// Forward proxy of requests.
#[derive(Clone, Default)]
pub struct ForwardProxy(RouteChoice);

#[derive(Clone, Default)]
enum RouteChoice {
    /// Settings of the process environment and of the system.
    #[default]
    System,
    Direct,
    Through(ProxyAddress),
    Variables(Box<ProxyVariables>),
}

/// Address of a proxy, and the setting that named it.
#[derive(Clone)]
struct ProxyAddress {
    url: String,
    setting: &'static str,
}

/// Proxies according to variables.
#[derive(Clone, Default)]
struct ProxyVariables {
    http: Option<ProxyAddress>,
    https: Option<ProxyAddress>,
    exceptions: String,
}

impl fmt::Debug for ForwardProxy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Addresses may hold passwords.
        formatter.write_str(match &self.0 {
            RouteChoice::System => "System",
            RouteChoice::Direct => "Direct",
            RouteChoice::Through(_) => "Through(..)",
            RouteChoice::Variables(_) => "Variables(..)",
        })
    }
}

impl ForwardProxy {
    /// Sends all requests through this proxy.
    #[must_use]
    pub fn through(url: impl AsRef<str>) -> Self {
        Self(RouteChoice::Through(ProxyAddress { url: url.as_ref().to_owned(), setting: "the proxy" }))
    }

    /// Uses no proxy.
    #[must_use]
    pub fn none() -> Self {
        Self(RouteChoice::Direct)
    }

    /// Reads the proxies of variables, unless a proxy was set otherwise. Lower-case names come first, as with curl.
    pub(crate) fn look_up(&mut self, lookup: &dyn Fn(&str) -> Option<String>) {
        if !matches!(self.0, RouteChoice::System | RouteChoice::Variables(_)) {
            return;
        }
        let text = |name: &str| lookup(name).filter(|value| !value.trim().is_empty());
        let address = |names: &[&'static str]| {
            names.iter().find_map(|setting| Some(ProxyAddress { url: text(setting)?, setting }))
        };
        let all = address(&["all_proxy", "ALL_PROXY"]);
        // A server that runs scripts turns a header of the request into this variable.
        let is_script = text("REQUEST_METHOD").is_some();
        let http = address(if is_script { &["http_proxy"] } else { &["http_proxy", "HTTP_PROXY"] });
        let https = address(&["https_proxy", "HTTPS_PROXY"]);
        self.0 = RouteChoice::Variables(Box::new(ProxyVariables {
            http: http.or_else(|| all.clone()),
            https: https.or(all),
            exceptions: text("no_proxy").or_else(|| text("NO_PROXY")).unwrap_or_default(),
        }));
    }

    /// Returns the route to a host.
    ///
    /// # Errors
    /// Fails if the address of the proxy is unusable.
    pub(crate) fn route(&self, base: &Url) -> Result<RequestRoute, HttpError> {
        let address = match &self.0 {
            RouteChoice::System if is_loopback(base) => None,
            RouteChoice::System => return Ok(RequestRoute::System),
            RouteChoice::Direct => None,
            RouteChoice::Through(address) => Some(address),
            RouteChoice::Variables(variables) => variables.address(base),
        };
        address.map_or(Ok(RequestRoute::Direct), |address| address.route())
    }
}

impl ForwardProxy {
    /// Returns the route of a client whose addresses are chosen by its creator: a proxy that only the HTTP stack would
    /// find counts as none.
    ///
    /// # Errors
    /// Fails if the address of the proxy is unusable.
    pub(crate) fn pinned_route(&self, base: &Url) -> Result<RequestRoute, HttpError> {
        self.route(base).map(|route| if matches!(route, RequestRoute::System) { RequestRoute::Direct } else { route })
    }
}

impl ProxyVariables {
    fn address(&self, base: &Url) -> Option<&ProxyAddress> {
        let address = if base.scheme() == "https" { &self.https } else { &self.http };
        let is_direct = is_loopback(base) || is_exception(&self.exceptions, base);
        address.as_ref().filter(|_| !is_direct)
    }
}

impl ProxyAddress {
    /// Parses the route. Errors do not show the address itself, which may hold a password.
    fn route(&self) -> Result<RequestRoute, HttpError> {
        let unusable = |what: &str| {
            let text = format!("{} {what}; it should look like http://proxy.example:3128", self.setting);
            HttpError::new(HttpErrorKind::Configuration, text)
        };
        let text = self.url.trim();
        let text = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        let url = Url::parse(&text).map_err(|_| unusable("is not a URL"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(unusable("is neither http nor https"));
        }
        let name = url.host_str().ok_or_else(|| unusable("has no host"))?;
        let shown = url.port().map_or_else(|| name.to_owned(), |port| format!("{name}:{port}"));
        Ok(RequestRoute::Through { url: Box::new(url), shown })
    }
}

/// Route of the requests of one client.
pub(crate) enum RequestRoute {
    /// The HTTP stack reads the environment of the process.
    System,
    Direct,
    Through {
        url: Box<Url>,
        /// Host and port of the proxy.
        shown: String,
    },
}

impl RequestRoute {
    /// Returns host and port of the proxy.
    pub(crate) fn proxy(&self) -> Option<&str> {
        match self {
            Self::Through { shown, .. } => Some(shown),
            Self::System | Self::Direct => None,
        }
    }

    /// `true` if the connection to the proxy itself uses TLS.
    pub(crate) fn needs_tls(&self) -> bool {
        matches!(self, Self::Through { url, .. } if url.scheme() == "https")
    }

    pub(crate) fn apply(&self, builder: ClientBuilder) -> Result<ClientBuilder, HttpError> {
        match self {
            Self::System => Ok(builder),
            Self::Direct => Ok(builder.no_proxy()),
            Self::Through { url, .. } => {
                let proxy = Proxy::all((**url).clone()).map_err(|error| {
                    let what = "the proxy cannot be used".to_owned();
                    HttpError::because(HttpErrorKind::Configuration, what, error.without_url())
                })?;
                Ok(builder.no_proxy().proxy(proxy))
            }
        }
    }
}

pub(crate) fn is_loopback(url: &Url) -> bool {
    let name = url.host_str().unwrap_or_default();
    let is_local_name = name == "localhost" || name.ends_with(".localhost");
    is_local_name || address(name).is_some_and(|address| address.is_loopback())
}

fn address(name: &str) -> Option<IpAddr> {
    name.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

/// `true` if a list like that of `NO_PROXY` names a host: by its name, by a domain, by a range of addresses, or by `*`.
/// An entry may have a port.
fn is_exception(list: &str, url: &Url) -> bool {
    let Some(host) = url.host_str() else { return false };
    let own = address(host);
    list.split([',', ' ', '\t', '\n']).map(str::trim).filter(|entry| !entry.is_empty()).any(|entry| {
        if entry == "*" {
            return true;
        }
        let (name, port) = without_port(entry);
        if port.is_some_and(|port| url.port_or_known_default() != Some(port)) {
            return false;
        }
        match own {
            Some(own) => address(name) == Some(own) || is_in_range(own, name),
            None => is_in_domain(host, name),
        }
    })
}

/// Splits an entry into its name and port. An IPv6 address without brackets has no port.
fn without_port(entry: &str) -> (&str, Option<u16>) {
    match entry.rsplit_once(':') {
        Some((name, port)) if !name.contains(':') || name.ends_with(']') => match port.parse() {
            Ok(port) => (name, Some(port)),
            Err(_) => (entry, None),
        },
        _ => (entry, None),
    }
}

fn is_in_domain(host: &str, name: &str) -> bool {
    let name = name.strip_prefix("*.").or_else(|| name.strip_prefix('.')).unwrap_or(name).to_ascii_lowercase();
    let host = host.trim_end_matches('.');
    // The URL has its host in lower case.
    host.strip_suffix(name.trim_end_matches('.')).is_some_and(|before| before.is_empty() || before.ends_with('.'))
        && !name.is_empty()
}

fn is_in_range(own: IpAddr, range: &str) -> bool {
    let Some((start, bits)) = range.split_once('/') else { return false };
    let (Some(start), Ok(bits)) = (address(start), bits.parse::<u32>()) else { return false };
    match (own, start) {
        (IpAddr::V4(own), IpAddr::V4(start)) if bits <= 32 => {
            let mask = u32::MAX.checked_shl(32 - bits).unwrap_or(0);
            own.to_bits() & mask == start.to_bits() & mask
        }
        (IpAddr::V6(own), IpAddr::V6(start)) if bits <= 128 => {
            let mask = u128::MAX.checked_shl(128 - bits).unwrap_or(0);
            own.to_bits() & mask == start.to_bits() & mask
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests;
