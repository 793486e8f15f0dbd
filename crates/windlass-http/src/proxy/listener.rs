use std::{
    convert::Infallible,
    fmt, io,
    net::{Ipv4Addr, Ipv6Addr, SocketAddr},
    pin::pin,
    sync::Arc,
    time::Duration,
};

use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    task::{JoinHandle, JoinSet},
    time::{sleep, timeout},
};

use super::{
    ProxyError, ProxyNoticeKind, ProxyOptions,
    forward::{Gateway, Upstream},
    gate::ProxyGate,
    nonce::Nonce,
    redact::Needles,
    stall::StallGuard,
};

/// Minimum size of the read buffer that the HTTP library accepts, in bytes.
const MIN_BUFFER_BYTES: usize = 8 * 1024;

/// Pause after a failed accept. Accepting fails when descriptors run out; trying again at once would only waste
/// processor time.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Running proxy. Dropping it ends it at once and cuts requests in flight; [`shutdown`](Self::shutdown) lets them
/// finish.
///
/// ```no_run
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// use windlass_http::proxy::{CredentialProxy, ProxyOptions};
///
/// let options = ProxyOptions::lookup(|name| std::env::var(name).ok())?;
/// let proxy = CredentialProxy::bind(options).await?;
/// let mut child = std::process::Command::new("agent");
/// child.env_clear().envs(proxy.child_environment(std::env::vars_os()));
/// # Ok(())
/// # }
/// ```
pub struct CredentialProxy {
    pub(super) address: SocketAddr,
    pub(super) nonce: Nonce,
    pub(super) needles: Needles,
    grace: Duration,
    draining: watch::Sender<bool>,
    serving: JoinHandle<()>,
}

impl CredentialProxy {
    /// Starts on a free port of 127.0.0.1 (of ::1 if there is no such address), with a fresh nonce, on the current
    /// tokio runtime, which needs I/O and time. No request is sent upstream yet.
    ///
    /// # Errors
    /// Fails for an unusable base URL, if no socket can be bound, or if the system gives no random numbers.
    pub async fn bind(options: ProxyOptions) -> Result<Self, ProxyError> {
        let nonce = Nonce::fresh()?;
        let upstream = Upstream::new(&options)?;
        let needles = upstream.needles.clone();
        let listener = match TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await {
            Ok(listener) => listener,
            Err(_) => TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).await.map_err(ProxyError::Bind)?,
        };
        let address = listener.local_addr().map_err(ProxyError::Bind)?;
        let gateway = Gateway::new(ProxyGate::new(address, nonce.clone()), upstream, &options);
        let (draining, drained) = watch::channel(false);
        let grace = options.grace;
        let server = Arc::new(ProxyServer { gateway, options });
        let serving = tokio::spawn(serve(listener, server, drained));
        Ok(Self { address, nonce, needles, grace, draining, serving })
    }

    /// Returns the base URL for clients, such as `http://127.0.0.1:40123`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the nonce, which clients show as their key.
    #[must_use]
    pub fn nonce(&self) -> &str {
        self.nonce.text()
    }

    /// Accepts no more connections, lets requests in flight finish for [`ProxyOptions::grace`], and cuts the rest.
    /// Dropping the future cuts at once.
    pub async fn shutdown(mut self) {
        self.draining.send_replace(true);
        if timeout(self.grace, &mut self.serving).await.is_err() {
            self.serving.abort();
            // Sockets are closed once the task has ended.
            let _ = (&mut self.serving).await;
        }
    }
}

impl Drop for CredentialProxy {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl fmt::Debug for CredentialProxy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("CredentialProxy").field("address", &self.address).finish_non_exhaustive()
    }
}

struct ProxyServer {
    gateway: Gateway,
    options: ProxyOptions,
}

async fn serve(listener: TcpListener, server: Arc<ProxyServer>, mut draining: watch::Receiver<bool>) {
    let mut connections = JoinSet::new();
    let max_connections = server.options.max_connections.max(1);
    loop {
        tokio::select! {
            () = drained(&mut draining) => break,
            Some(_) = connections.join_next() => {}
            accepted = listener.accept(), if connections.len() < max_connections => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(converse(stream, Arc::clone(&server), draining.clone()));
                }
                Err(error) => server.complain(&error).await,
            },
        }
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

impl ProxyServer {
    async fn complain(&self, error: &io::Error) {
        let notice = format!("a connection cannot be accepted: {error}");
        self.gateway.notices.report(ProxyNoticeKind::Accept, notice);
        sleep(ACCEPT_PAUSE).await;
    }
}

/// Waits until the proxy is shut down or dropped.
async fn drained(draining: &mut watch::Receiver<bool>) {
    let _ = draining.wait_for(|draining| *draining).await;
}

/// Serves one connection until it or the proxy ends.
async fn converse(stream: TcpStream, server: Arc<ProxyServer>, mut draining: watch::Receiver<bool>) {
    // Without this option, deltas wait for acknowledgements; a failure only makes them slower.
    let _ = stream.set_nodelay(true);
    let options = &server.options;
    let io = TokioIo::new(StallGuard::new(stream, options.stall_timeout));
    let service = service_fn(|request| async { Ok::<_, Infallible>(server.gateway.answer(request).await) });
    let head = options.max_head_bytes.max(MIN_BUFFER_BYTES);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(options.head_timeout)
        .max_header_size(head)
        .max_buf_size(head)
        .serve_connection(io, service);
    let mut connection = pin!(connection);
    tokio::select! {
        // An error here is one of the client or of the upstream, and reported there.
        _ = connection.as_mut() => return,
        () = drained(&mut draining) => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
}
