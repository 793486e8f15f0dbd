//! The port to names and connections.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};

use async_trait::async_trait;
use tokio::net::TcpStream;

/// Looks names up, and connects. Implement it for tests, or for a resolver of your own.
///
/// It decides nothing: callers check each address that [`lookup`](Self::lookup) gives and connect to those alone, so a name
/// whose addresses change between the two leads nowhere else.
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
    /// The addresses of a name. Cancel safe.
    ///
    /// # Errors
    /// The name has none, or they cannot be learned.
    async fn lookup(&self, name: &str) -> io::Result<Vec<IpAddr>>;

    /// Connects to an address. Cancel safe: a connection that is not handed over is closed.
    ///
    /// # Errors
    /// There is no connection.
    async fn connect(&self, address: SocketAddr) -> io::Result<TcpStream>;
}

/// The resolver and the network of this machine.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct SystemNetwork;

/// How many addresses of a name are looked at. One that has more is not a server that is to be reached.
const MOST_ADDRESSES: usize = 64;

#[async_trait]
impl Network for SystemNetwork {
    async fn lookup(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        // A dot at the end keeps the resolver from trying domains of this network.
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
        // Without it small writes wait for acknowledgements; with it they are merely slower.
        let _ = stream.set_nodelay(true);
        Ok(stream)
    }
}
