//! Forwarding of requests with an absolute address, and tunnels.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::header::{self, HeaderValue};
use hyper::upgrade::OnUpgrade;
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use windlass_permission::network::Target;

use super::auth::ProxyToken;
use super::gate::HostGate;
use super::traffic::{CountedStream, Traffic};
use super::{EgressOutcome, head};

/// Handler of the requests of one connection.
pub(super) struct ForwardedConnection {
    pub(super) gate: Arc<HostGate>,
    pub(super) token: ProxyToken,
    /// Address of the client.
    pub(super) from: Option<SocketAddr>,
    /// Tunnel that the connection becomes.
    pub(super) tunnel: Mutex<Option<(OnUpgrade, TcpStream)>>,
}

impl ForwardedConnection {
    pub(super) async fn answer(&self, request: Request<Incoming>) -> Response<ForwardedBody> {
        if !self.token.is_shown(request.headers()) {
            self.gate.report(None, self.from, EgressOutcome::Unauthorized);
            let mut response = own(StatusCode::PROXY_AUTHENTICATION_REQUIRED, "this proxy needs its token");
            let realm = HeaderValue::from_static("Basic realm=\"windlass\"");
            response.headers_mut().insert(header::PROXY_AUTHENTICATE, realm);
            return response;
        }
        let served = if request.method() == Method::CONNECT {
            self.open_tunnel(request).await
        } else {
            self.send_on(request).await
        };
        served.unwrap_or_else(|outcome| refused(&outcome))
    }

    async fn open_tunnel(&self, request: Request<Incoming>) -> Result<Response<ForwardedBody>, EgressOutcome> {
        let uri = request.uri();
        let is_plain = uri.scheme().is_none() && uri.path_and_query().is_none();
        let target = uri.authority().filter(|_| is_plain).and_then(|authority| Target::parse(authority.as_str()));
        let Some(target) = target.filter(|_| is_bare(&request)) else {
            return Err(self.malformed("CONNECT takes a host and a port, such as example.com:443, and no body"));
        };
        let stream = self.gate.connect(&target, self.from).await?;
        let upgrade = hyper::upgrade::on(request);
        *self.tunnel.lock().unwrap_or_else(PoisonError::into_inner) = Some((upgrade, stream));
        Ok(own(StatusCode::OK, ""))
    }

    async fn send_on(&self, request: Request<Incoming>) -> Result<Response<ForwardedBody>, EgressOutcome> {
        let Some((target, path)) = http_target(request.uri()) else {
            return Err(self.malformed("a proxy takes CONNECT, or a whole address that begins with http://"));
        };
        let (mut parts, body) = request.into_parts();
        parts.uri = path;
        head::strip(&mut parts.headers);
        if head::set_host(&mut parts.headers, target.host(), target.port()).is_none() {
            return Err(self.malformed("the host cannot be written into a header"));
        }
        let stream = self.gate.connect(&target, self.from).await?;
        let traffic = Traffic::default();
        let io = TokioIo::new(CountedStream::new(stream, &traffic));
        let unreachable = |error: hyper::Error| EgressOutcome::Failed(error.to_string());
        let (mut sender, connection) = hyper::client::conn::http1::handshake(io).await.map_err(unreachable)?;
        let idle = self.gate.options.idle_timeout;
        let driving = tokio::spawn(async move {
            // The body reports the outcome.
            let _ = traffic.bound(idle, connection).await;
        });
        let driving = EndOnDrop(driving);
        let answered = sender.send_request(Request::from_parts(parts, body)).await.map_err(unreachable)?;
        let (mut parts, body) = answered.into_parts();
        head::strip(&mut parts.headers);
        Ok(Response::from_parts(parts, ForwardedBody::Relayed { body, _driving: driving }))
    }

    fn malformed(&self, why: &str) -> EgressOutcome {
        let outcome = EgressOutcome::Malformed(why.to_owned());
        self.gate.report(None, self.from, outcome.clone());
        outcome
    }
}

/// `true` if a request declares that it has no body.
fn is_bare(request: &Request<Incoming>) -> bool {
    !request.headers().contains_key(header::TRANSFER_ENCODING)
        && request.headers().get(header::CONTENT_LENGTH).is_none_or(|length| length == "0")
}

/// Returns the target of a request with an absolute address, and the rest of the address.
fn http_target(uri: &Uri) -> Option<(Target, Uri)> {
    if uri.scheme_str() != Some("http") {
        return None;
    }
    let authority = uri.authority()?.as_str();
    let target = Target::of_url(&format!("http://{authority}/"))?;
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let path = if path.starts_with('/') { path.parse().ok()? } else { format!("/{path}").parse().ok()? };
    Some((target, path))
}

fn refused(outcome: &EgressOutcome) -> Response<ForwardedBody> {
    match outcome {
        EgressOutcome::Denied(why) => own(StatusCode::FORBIDDEN, why),
        EgressOutcome::Malformed(why) => own(StatusCode::BAD_REQUEST, why),
        EgressOutcome::Failed(why) => own(StatusCode::BAD_GATEWAY, &format!("the host cannot be reached: {why}")),
        _ => own(StatusCode::FORBIDDEN, "the host is not in the list of allowed hosts"),
    }
}

fn own(status: StatusCode, text: &str) -> Response<ForwardedBody> {
    let body = (!text.is_empty()).then(|| Bytes::from(format!("windlass: {text}\n")));
    let mut response = Response::new(ForwardedBody::Own(body));
    *response.status_mut() = status;
    response
}

/// Body of an answer.
pub(super) enum ForwardedBody {
    /// Body of the proxy itself.
    Own(Option<Bytes>),
    /// Body of the server, with the task that drives the connection to it.
    Relayed { body: Incoming, _driving: EndOnDrop },
}

/// Guard that aborts its task when it is dropped.
pub(super) struct EndOnDrop(JoinHandle<()>);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Body for ForwardedBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match &mut *self {
            Self::Own(text) => Poll::Ready(text.take().map(|text| Ok(Frame::data(text)))),
            Self::Relayed { body, .. } => Pin::new(body).poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Own(text) => text.is_none(),
            Self::Relayed { body, .. } => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Own(text) => SizeHint::with_exact(text.as_ref().map_or(0, |text| text.len() as u64)),
            Self::Relayed { body, .. } => body.size_hint(),
        }
    }
}
