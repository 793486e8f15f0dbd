//! Address and limits of a store.

use crate::ConnectError;
use std::fmt;
use std::net::IpAddr;
use std::time::Duration;
use tokio_postgres::config::{Host, SslMode};

/// Time for which a lease holds without a renewal.
const LEASE_TERM: Duration = Duration::from_secs(15);

/// Maximum number of connections of one store.
const CONNECTIONS: usize = 8;

/// Time limit for a new connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Address of a database, the tenant whose sessions are stored there, and the limits of a store.
///
/// ```
/// use std::time::Duration;
/// use windlass_postgres::PgConfig;
///
/// let config = PgConfig::new("postgres://worker@db.example/windlass", "acme")?
///     .with_lease_term(Duration::from_secs(15));
/// assert_eq!(config.tenant(), "acme");
/// // Off this machine, connections are encrypted.
/// assert!(config.needs_tls());
/// # Ok::<(), windlass_postgres::ConnectError>(())
/// ```
#[derive(Clone)]
pub struct PgConfig {
    address: tokio_postgres::Config,
    tenant: String,
    lease_term: Duration,
    connections: usize,
    roots: Option<Vec<u8>>,
}

impl PgConfig {
    /// Returns a configuration. `address`: a URL (`postgres://user@host/database`) or words
    /// (`host=/run/postgresql user=worker dbname=windlass`); `tenant`: the owner of the sessions, to which the role of
    /// the address must belong.
    ///
    /// # Errors
    /// [`ConnectError::Address`].
    pub fn new(address: &str, tenant: impl Into<String>) -> Result<Self, ConnectError> {
        let parsed: Result<tokio_postgres::Config, _> = address.parse();
        let mut address = parsed.map_err(|error| {
            // The text may contain a password.
            let why = std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
            ConnectError::Address { message: why }
        })?;
        let tenant = tenant.into();
        if tenant.is_empty() {
            return Err(ConnectError::Address { message: "the tenant is empty".to_owned() });
        }
        if address.get_hosts().is_empty() && address.get_hostaddrs().is_empty() {
            return Err(ConnectError::Address { message: "it names no host".to_owned() });
        }
        if address.get_connect_timeout().is_none() {
            address.connect_timeout(CONNECT_TIMEOUT);
        }
        Ok(Self { address, tenant, lease_term: LEASE_TERM, connections: CONNECTIONS, roots: None })
    }

    /// Sets the time for which a lease holds without a renewal: another worker takes over that much later. Default: 15 s,
    /// at least 300 ms.
    #[must_use]
    pub fn with_lease_term(mut self, term: Duration) -> Self {
        self.lease_term = term.max(Duration::from_millis(300));
        self
    }

    /// Sets the maximum number of connections. Default: 8. All sessions of the store share them.
    #[must_use]
    pub fn with_connections(mut self, most: usize) -> Self {
        self.connections = most.max(2);
        self
    }

    /// Trusts the certificate authorities of this PEM text, and no others. Default: those of the system.
    #[must_use]
    pub fn with_root_certificates(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.roots = Some(pem.into());
        self
    }

    /// Returns the tenant.
    pub fn tenant(&self) -> &str {
        &self.tenant
    }

    /// `true` if connections are encrypted: always, unless all hosts are this machine and the address does not ask for
    /// it by `sslmode=require`.
    pub fn needs_tls(&self) -> bool {
        let local = |host: &Host| match host {
            Host::Tcp(name) => name == "localhost" || name.parse().is_ok_and(|ip: IpAddr| ip.is_loopback()),
            _ => true,
        };
        let addresses = self.address.get_hostaddrs();
        // An address takes precedence over the name beside it.
        let is_local = match addresses {
            [] => self.address.get_hosts().iter().all(local),
            addresses => addresses.iter().all(IpAddr::is_loopback),
        };
        !is_local || self.address.get_ssl_mode() == SslMode::Require
    }

    pub(crate) fn address(&self) -> &tokio_postgres::Config {
        &self.address
    }

    pub(crate) fn lease_term(&self) -> Duration {
        self.lease_term
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections
    }

    #[cfg_attr(not(feature = "rustls-no-provider"), expect(dead_code, reason = "only TLS needs them"))]
    pub(crate) fn root_certificates(&self) -> Option<&[u8]> {
        self.roots.as_deref()
    }
}

impl fmt::Debug for PgConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The address may contain a password.
        let Self { tenant, lease_term, connections, .. } = self;
        let mut fields = f.debug_struct("PgConfig");
        fields.field("hosts", &self.address.get_hosts()).field("tenant", tenant);
        fields.field("lease_term", lease_term).field("connections", connections).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_off_this_machine_are_encrypted() {
        for (address, encrypted) in [
            ("host=/run/postgresql user=w", false),
            ("postgres://w@127.0.0.1/d", false),
            ("postgres://w@[::1]/d", false),
            ("postgres://w@localhost/d?sslmode=require", true),
            ("postgres://w@10.0.0.1/d", true),
            ("postgres://w@db.example/d?sslmode=disable", true),
            ("host=localhost hostaddr=10.0.0.1 user=w", true),
            ("host=/run/postgresql,db.example user=w", true),
        ] {
            assert_eq!(PgConfig::new(address, "t").unwrap().needs_tls(), encrypted, "{address}");
        }
    }

    #[test]
    fn an_address_that_is_refused_is_not_repeated() {
        for address in ["postgres://w:secret@", "host=a port=secret", "user=secret", "nonsense secret"] {
            let error = PgConfig::new(address, "t").unwrap_err().to_string();
            assert!(!error.contains("secret"), "{error}");
        }
        assert!(PgConfig::new("host=a", "").is_err());
    }
}
