//! Streamable HTTP transport.

mod options;

pub use options::{BearerToken, HttpOptions};

use crate::handler::{ClientHandler, ServerOffer};
use crate::{McpServer, ServeError};
use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, HeaderValue, WWW_AUTHENTICATE};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;

/// Maximum time for a client to send the head of a request.
const HEAD: Duration = Duration::from_secs(30);
/// Pause if the system has no room for another connection.
const PAUSE: Duration = Duration::from_millis(100);

type HttpAnswer = Response<BoxBody<Bytes, Infallible>>;
type Sessions = StreamableHttpService<ClientHandler<Arc<OwnedSemaphorePermit>>, LocalSessionManager>;

impl McpServer {
    /// Serves clients over streamable HTTP until the future is dropped. A request needs the bearer token, a `Host` that
    /// is one of the server's names, and, if it has an `Origin`, an allowed one: no page in a browser can reach the
    /// server, by whatever name. All clients share the services.
    ///
    /// The connection is not encrypted: an address that is not on this machine belongs behind a proxy that encrypts.
    ///
    /// # Errors
    /// Fails if the address of the listener is unknown, or if it is no loopback address and the options name no host.
    pub async fn serve_http(self, listener: TcpListener, options: HttpOptions) -> Result<(), ServeError> {
        let address = listener.local_addr()?;
        if !address.ip().is_loopback() && options.hosts.is_empty() {
            return Err(ServeError::Options(
                "an address that is not of this machine needs the names by which clients reach it",
            ));
        }
        let endpoint = Arc::new(HttpState::new(self.into_offer(), options));
        let connections = Arc::new(Semaphore::new(endpoint.options.max_connections));
        let mut open = JoinSet::new();
        loop {
            let Ok(permit) = Arc::clone(&connections).acquire_owned().await else { return Ok(()) };
            tokio::select! {
                accepted = listener.accept() => match accepted {
                    Ok((stream, _)) => drop(open.spawn(connection(stream, Arc::clone(&endpoint), permit))),
                    Err(error) => {
                        tracing::warn!(%error, "a connection could not be accepted");
                        tokio::time::sleep(PAUSE).await;
                    }
                },
                Some(_) = open.join_next() => {}
            }
        }
    }
}

async fn connection(stream: TcpStream, endpoint: Arc<HttpState>, permit: OwnedSemaphorePermit) {
    let _permit = permit;
    let service = service_fn(|request| {
        let endpoint = Arc::clone(&endpoint);
        async move { Ok::<_, Infallible>(endpoint.answer(request).await) }
    });
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD);
    if let Err(error) = http.serve_connection(TokioIo::new(stream), service).await {
        tracing::debug!(%error, "a connection of an MCP client has failed");
    }
}

/// State that all connections share.
struct HttpState {
    options: HttpOptions,
    sessions: Sessions,
}

impl HttpState {
    fn new(offer: ServerOffer, options: HttpOptions) -> Self {
        let offer = Arc::new(offer);
        let room = Arc::new(Semaphore::new(options.max_sessions));
        let factory = move || {
            let permit = Arc::clone(&room).try_acquire_owned();
            let permit = permit.map_err(|_| io::Error::other("there are too many sessions"))?;
            Ok(ClientHandler::new(Arc::clone(&offer), Arc::new(permit)))
        };
        let own = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
        let config = StreamableHttpServerConfig::default()
            .with_allowed_hosts(own.into_iter().chain(options.hosts.iter().cloned()))
            .with_allowed_origins(options.origins.iter().cloned())
            .enforce_origin_validation();
        let sessions = StreamableHttpService::new(factory, Arc::new(LocalSessionManager::default()), config);
        Self { options, sessions }
    }

    async fn answer(&self, request: Request<Incoming>) -> HttpAnswer {
        if request.uri().path() != self.options.path {
            return refused(StatusCode::NOT_FOUND, "there is no such path");
        }
        if !self.options.token.is_in(request.headers().get(AUTHORIZATION)) {
            let mut answer = refused(StatusCode::UNAUTHORIZED, "the bearer token is missing or wrong");
            answer.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            return answer;
        }
        self.sessions.handle(request).await
    }
}

fn refused(status: StatusCode, why: &'static str) -> HttpAnswer {
    let mut answer = Response::new(Full::new(Bytes::from_static(why.as_bytes())).boxed());
    *answer.status_mut() = status;
    answer
}
