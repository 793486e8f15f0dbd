use std::{
    collections::VecDeque,
    fmt, io,
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex, PoisonError},
};

use tokio::{
    net::{TcpListener, TcpStream},
    sync::{oneshot, watch},
    task::JoinSet,
};

use super::{
    RecordedRequest, Reply,
    http::RequestReader,
    send::{ConnectionState, send},
};

type ReplyHandler = Arc<dyn Fn(&RecordedRequest) -> Reply + Send + Sync>;

/// A local server with scripted replies. Dropping it closes every connection.
pub struct WireServer {
    address: SocketAddr,
    shared: Arc<WireServerState>,
    _stop: oneshot::Sender<()>,
}

struct WireServerState {
    script: Mutex<ReplyScript>,
    counts: watch::Sender<ServerCounts>,
}

struct ReplyScript {
    queue: VecDeque<Reply>,
    handler: Option<ReplyHandler>,
    requests: Vec<RecordedRequest>,
    keep_requests: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct ServerCounts {
    connections: usize,
    requests: usize,
    hang_ups: usize,
}

impl fmt::Debug for WireServer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("WireServer")
            .field("address", &self.address)
            .field("counts", &*self.shared.counts.borrow())
            .finish_non_exhaustive()
    }
}

impl WireServer {
    /// Starts a server on a free port of 127.0.0.1, on the current tokio runtime.
    ///
    /// # Errors
    /// No socket can be bound.
    pub async fn start() -> io::Result<Self> {
        let (server, listener, stop) = Self::bind()?;
        let listener = TcpListener::from_std(listener)?;
        tokio::spawn(serve(listener, server.shared.clone(), stop));
        Ok(server)
    }

    /// Starts a server on its own thread and runtime: for plain tests, and for benches that must not share a runtime
    /// with the measured code.
    ///
    /// # Errors
    /// No socket can be bound, or no thread started.
    pub fn start_on_thread() -> io::Result<Self> {
        let (server, listener, stop) = Self::bind()?;
        let shared = server.shared.clone();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        std::thread::Builder::new().name("wire-server".to_owned()).spawn(move || {
            runtime.block_on(async {
                if let Ok(listener) = TcpListener::from_std(listener) {
                    serve(listener, shared, stop).await;
                }
            });
        })?;
        Ok(server)
    }

    fn bind() -> io::Result<(Self, std::net::TcpListener, oneshot::Receiver<()>)> {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let (stop, stopped) = oneshot::channel();
        let server = Self {
            address: listener.local_addr()?,
            shared: Arc::new(WireServerState {
                script: Mutex::new(ReplyScript {
                    queue: VecDeque::new(),
                    handler: None,
                    requests: Vec::new(),
                    keep_requests: true,
                }),
                counts: watch::Sender::new(ServerCounts::default()),
            }),
            _stop: stop,
        };
        Ok((server, listener, stopped))
    }

    /// Returns the base URL, such as `http://127.0.0.1:40123`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the address of the server.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Adds the reply to the next request without one.
    pub fn push(&self, reply: impl Into<Reply>) {
        self.shared.lock(|script| script.queue.push_back(reply.into()));
    }

    /// Sets the handler that answers a request when the queue is empty.
    pub fn on_request(&self, handler: impl Fn(&RecordedRequest) -> Reply + Send + Sync + 'static) {
        self.shared.lock(|script| script.handler = Some(Arc::new(handler)));
    }

    /// Stops keeping requests: for benches, where they would fill the memory.
    pub fn forget_requests(&self) {
        self.shared.lock(|script| {
            script.keep_requests = false;
            script.requests = Vec::new();
        });
    }

    /// Returns the requests so far, in order of arrival.
    #[must_use]
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.shared.lock(|script| script.requests.clone())
    }

    /// Returns the number of queued replies that are left.
    #[must_use]
    pub fn unused_replies(&self) -> usize {
        self.shared.lock(|script| script.queue.len())
    }

    /// Returns the number of requests so far.
    #[must_use]
    pub fn request_count(&self) -> usize {
        self.shared.counts.borrow().requests
    }

    /// Returns the number of accepted connections.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.shared.counts.borrow().connections
    }

    /// Waits until a number of connections were accepted. Cancel safe.
    pub async fn wait_connections(&self, count: usize) {
        self.wait(|counts| counts.connections >= count).await;
    }

    /// Waits until a number of requests have arrived. Cancel safe.
    pub async fn wait_requests(&self, count: usize) {
        self.wait(|counts| counts.requests >= count).await;
    }

    /// Waits until the client has hung up on a number of replies that were paused or silent. Cancel safe.
    pub async fn wait_hang_ups(&self, count: usize) {
        self.wait(|counts| counts.hang_ups >= count).await;
    }

    async fn wait(&self, mut done: impl FnMut(&ServerCounts) -> bool) {
        let mut watcher = self.shared.counts.subscribe();
        // The sender lives in self, so it still exists.
        let _ = watcher.wait_for(|counts| done(counts)).await;
    }
}

impl WireServerState {
    fn lock<T>(&self, act: impl FnOnce(&mut ReplyScript) -> T) -> T {
        act(&mut self.script.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn answer(&self, request: &mut RecordedRequest) -> Reply {
        let (queued, handler) = self.lock(|script| {
            self.counts.send_modify(|counts| {
                request.index = counts.requests;
                counts.requests += 1;
            });
            if script.keep_requests {
                script.requests.push(request.clone());
            }
            (script.queue.pop_front(), script.handler.clone())
        });
        match (queued, handler) {
            (Some(reply), _) => reply,
            (None, Some(handler)) => handler(request),
            (None, None) => Reply::error(
                400,
                "invalid_request_error",
                &format!("no reply is scripted for request {}", request.index),
            ),
        }
    }
}

async fn serve(listener: TcpListener, shared: Arc<WireServerState>, mut stop: oneshot::Receiver<()>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            _ = &mut stop => return,
            Some(_) = connections.join_next() => {}
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else { continue };
                let mut number = 0;
                shared.counts.send_modify(|counts| {
                    number = counts.connections;
                    counts.connections += 1;
                });
                connections.spawn(converse(stream, shared.clone(), number));
            }
        }
    }
}

/// Answers the requests of one connection. An I/O error ends it: the client then reports it.
async fn converse(mut stream: TcpStream, shared: Arc<WireServerState>, connection: usize) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = RequestReader::default();
    while let Some(mut request) = reader.next(&mut stream).await? {
        request.connection = connection;
        let reply = shared.answer(&mut request);
        let index = request.index;
        drop(request);
        match send(&mut stream, &reply, index).await? {
            ConnectionState::Kept => {}
            ConnectionState::Closed => break,
            ConnectionState::HungUp => {
                shared.counts.send_modify(|counts| counts.hang_ups += 1);
                break;
            }
        }
    }
    Ok(())
}
