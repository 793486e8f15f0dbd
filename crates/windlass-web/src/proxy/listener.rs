//! Listener of the proxy, and its lifetime.

use std::convert::Infallible;
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::sleep;
use windlass_permission::network::NetworkPolicy;

use super::auth::{ProxyToken, USER};
use super::forward::ForwardedConnection;
use super::gate::HostGate;
use super::options::EgressOptions;
use super::traffic::tunnel;

/// Minimum size of the read buffer that the HTTP library accepts, in bytes.
const LEAST_BUFFER: usize = 8 * 1024;

/// Pause after a failed accept. Accepting fails when descriptors run out; trying again at once would only waste
/// processor time.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Variables that name the proxy for the usual programs.
const VARIABLES: [&str; 6] = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];

/// Variables that would send requests past the proxy.
const EXCEPTIONS: [&str; 2] = ["NO_PROXY", "no_proxy"];

/// Reason why a proxy could not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EgressError {
    /// Listening on the address or the socket failed.
    #[error("the proxy cannot listen")]
    Bind(#[source] io::Error),
}

/// Running proxy. Dropping it ends it at once, with all connections through it.
pub struct EgressProxy {
    address: Option<SocketAddr>,
    token: ProxyToken,
    policy: Arc<RwLock<NetworkPolicy>>,
    serving: JoinHandle<()>,
}

impl EgressProxy {
    /// Starts on a free port of 127.0.0.1 (of ::1 if there is no such address), with a fresh token, on the current
    /// tokio runtime, which needs I/O and time.
    ///
    /// # Errors
    /// Fails if no loopback address can be listened on.
    pub async fn start(policy: NetworkPolicy, options: EgressOptions) -> Result<Self, EgressError> {
        let listener = match TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await {
            Ok(listener) => listener,
            Err(_) => TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).await.map_err(EgressError::Bind)?,
        };
        let address = listener.local_addr().map_err(EgressError::Bind)?;
        Ok(Self::serve(ProxyListener::Tcp(listener), Some(address), policy, options))
    }

    /// Starts on a Unix socket, for programs that have no network of their own and reach the proxy by a path. The
    /// folder must be inaccessible to other users; an existing socket is an error. The caller removes the socket.
    ///
    /// # Errors
    /// Fails if the socket cannot be created.
    #[cfg(unix)]
    pub fn start_at(
        path: &std::path::Path,
        policy: NetworkPolicy,
        options: EgressOptions,
    ) -> Result<Self, EgressError> {
        let listener = tokio::net::UnixListener::bind(path).map_err(EgressError::Bind)?;
        Ok(Self::serve(ProxyListener::Unix(listener), None, policy, options))
    }

    fn serve(
        listener: ProxyListener,
        address: Option<SocketAddr>,
        policy: NetworkPolicy,
        options: EgressOptions,
    ) -> Self {
        let token = ProxyToken::new(&*options.ids);
        let policy = Arc::new(RwLock::new(policy));
        let gate = Arc::new(HostGate { policy: Arc::clone(&policy), options });
        let serving = tokio::spawn(serve(listener, gate, token.clone()));
        Self { address, token, policy, serving }
    }

    /// Returns the address, or `None` if the proxy listens on a Unix socket.
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// Returns the URL of the proxy for programs, token included: `http://windlass:TOKEN@127.0.0.1:40123`. `None` if it
    /// listens on a Unix socket; see [`url_at`](Self::url_at).
    #[must_use]
    pub fn url(&self) -> Option<String> {
        self.address.map(|address| self.url_at(address))
    }

    /// Returns the URL like [`url`](Self::url), for a program that reaches the proxy at another address, over a bridge
    /// to its Unix socket.
    #[must_use]
    pub fn url_at(&self, address: SocketAddr) -> String {
        format!("http://{USER}:{}@{address}", self.token.text())
    }

    /// Returns the variables that send the usual programs through the proxy, for [`Self::address`]. Empty if it listens
    /// on a Unix socket.
    #[must_use]
    pub fn environment(&self) -> Vec<(&'static str, String)> {
        self.address.map(|address| self.environment_at(address)).unwrap_or_default()
    }

    /// Returns the variables like [`environment`](Self::environment), for a program that reaches the proxy at another
    /// address.
    #[must_use]
    pub fn environment_at(&self, address: SocketAddr) -> Vec<(&'static str, String)> {
        let url = self.url_at(address);
        let proxies = VARIABLES.into_iter().map(|name| (name, url.clone()));
        proxies.chain(EXCEPTIONS.into_iter().map(|name| (name, String::new()))).collect()
    }

    /// Replaces the policy for new requests. Open tunnels stay.
    pub fn set_policy(&self, policy: NetworkPolicy) {
        *self.policy.write().unwrap_or_else(PoisonError::into_inner) = policy;
    }
}

impl Drop for EgressProxy {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl fmt::Debug for EgressProxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EgressProxy").field("address", &self.address).finish_non_exhaustive()
    }
}

enum ProxyListener {
    Tcp(TcpListener),
    #[cfg(unix)]
    Unix(tokio::net::UnixListener),
}

async fn serve(listener: ProxyListener, gate: Arc<HostGate>, token: ProxyToken) {
    let mut connections = JoinSet::new();
    let most = gate.options.max_connections.max(1);
    loop {
        tokio::select! {
            Some(_) = connections.join_next() => {}
            accepted = listener.accept(), if connections.len() < most => match accepted {
                Ok(accepted) => drop(connections.spawn(converse(accepted, Arc::clone(&gate), token.clone()))),
                Err(_) => sleep(ACCEPT_PAUSE).await,
            },
        }
    }
}

trait ProxiedStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> ProxiedStream for S {}

impl ProxyListener {
    async fn accept(&self) -> io::Result<(Box<dyn ProxiedStream>, Option<SocketAddr>)> {
        match self {
            Self::Tcp(listener) => {
                let (stream, from) = listener.accept().await?;
                // Without this option small writes wait for acknowledgements; a failure only makes them slower.
                let _ = stream.set_nodelay(true);
                Ok((Box::new(stream), Some(from)))
            }
            #[cfg(unix)]
            Self::Unix(listener) => Ok((Box::new(listener.accept().await?.0), None)),
        }
    }
}

/// Serves one connection until it ends, also as a tunnel.
async fn converse(
    (stream, from): (Box<dyn ProxiedStream>, Option<SocketAddr>),
    gate: Arc<HostGate>,
    token: ProxyToken,
) {
    let conversation = ForwardedConnection { gate: Arc::clone(&gate), token, from, tunnel: Mutex::new(None) };
    let conversation = &Arc::new(conversation);
    let service = service_fn(move |request| {
        let conversation = Arc::clone(conversation);
        async move { Ok::<_, Infallible>(conversation.answer(request).await) }
    });
    let head = gate.options.max_head_bytes.max(LEAST_BUFFER);
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(gate.options.head_timeout)
        .max_header_size(head)
        .max_buf_size(head)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades()
        .await;
    let opened = conversation.tunnel.lock().unwrap_or_else(PoisonError::into_inner).take();
    let (Ok(()), Some((upgrade, server))) = (served, opened) else { return };
    if let Ok(client) = upgrade.await {
        tunnel(TokioIo::new(client), server, gate.options.idle_timeout).await;
    }
}
