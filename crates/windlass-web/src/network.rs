//! Port to name resolution and connections.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};

use async_trait::async_trait;
use tokio::net::TcpStream;

/// Looks names up, and connects. Implement it for tests, or for a resolver of your own.
///
/// A network decides nothing: callers check each address that [`lookup`](Self::lookup) returns and connect only to
/// these, so a name whose addresses change in between cannot redirect a connection.
///
/// ```
/// use std::io;
/// use std::net::{IpAddr, SocketAddr};
/// use tokio::net::TcpStream;
/// use windlass_web::{Network, SystemNetwork};
///
/// /// Knows one name by heart, and asks the machine for others.
/// #[derive(Debug)]
/// struct WithOneName;
///
/// #[async_trait::async_trait]
/// impl Network for WithOneName {
///     async fn lookup(&self, name: &str) -> io::Result<Vec<IpAddr>> {
///         match name {
///             "build.example.com" => Ok(vec![IpAddr::from([93, 184, 216, 34])]),
///             other => SystemNetwork::default().lookup(other).await,
///         }
///     }
///
///     async fn connect(&self, address: SocketAddr) -> io::Result<TcpStream> {
///         TcpStream::connect(address).await
///     }
/// }
/// ```
#[async_trait]
pub trait Network: fmt::Debug + Send + Sync + 'static {
    /// Returns the addresses of a name. Cancel safe.
    ///
    /// # Errors
    /// Fails if the name has none, or the lookup fails.
    async fn lookup(&self, name: &str) -> io::Result<Vec<IpAddr>>;

    /// Connects to an address. Cancel safe: an unreturned connection is closed.
    ///
    /// # Errors
    /// Fails if there is no connection.
    async fn connect(&self, address: SocketAddr) -> io::Result<TcpStream>;
}

/// Resolver and network of this machine.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct SystemNetwork;

/// Maximum number of addresses of a name. A name with more is not a legitimate server.
const MOST_ADDRESSES: usize = 64;

#[async_trait]
impl Network for SystemNetwork {
    async fn lookup(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        // A trailing dot keeps the resolver from trying domains of this network.
        let absolute = format!("{}.", name.trim_end_matches('.'));
        let found = tokio::net::lookup_host((absolute, 0)).await?;
        let mut addresses: Vec<IpAddr> = Vec::new();
        for address in found.map(|address| address.ip()) {
            if !addresses.contains(&address) {
                addresses.push(address);
            }
        }
        if addresses.len() > MOST_ADDRESSES {
            return Err(io::Error::other("the name has too many addresses"));
        }
        Ok(addresses)
    }

    async fn connect(&self, address: SocketAddr) -> io::Result<TcpStream> {
        let stream = TcpStream::connect(address).await?;
        // Without this option small writes wait for acknowledgements; a failure only makes them slower.
        let _ = stream.set_nodelay(true);
        Ok(stream)
    }
}
