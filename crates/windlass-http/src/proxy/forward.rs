use std::time::Duration;

use bytes::Bytes;
use hyper::{
    Method, Request, Response, StatusCode,
    body::{Body as _, Incoming},
    header::{self, HeaderMap, HeaderName, HeaderValue},
    http::request::Parts,
};
use reqwest::Url;

use super::{
    ProxyError, ProxyNoticeKind, ProxyOptions,
    body::{AnswerBody, Upload, UploadFault},
    credential::API_KEY,
    gate::{GateRefusal, ProxyGate},
    header::may_pass,
    notice::ProxyNotices,
    redact::Needles,
};
use crate::{HttpError, HttpErrorKind, HttpOptions, Secret, base_url, transport};

/// Headers for the next hop only.
const HOP_BY_HOP: [HeaderName; 9] = [
    header::CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// Request headers that are dropped: the proxy sets them itself, or a client may not send them.
const REPLACED_HEADERS: [HeaderName; 7] = [
    header::HOST,
    header::CONTENT_LENGTH,
    header::AUTHORIZATION,
    API_KEY,
    header::COOKIE,
    header::EXPECT,
    header::ACCEPT_ENCODING,
];

/// Headers of an answer that would reveal credentials, or redirect the client.
const WITHHELD_HEADERS: [HeaderName; 3] = [header::SET_COOKIE, header::LOCATION, header::ALT_SVC];

/// Gateway that admits requests, sends them upstream, and relays the answers.
pub(super) struct Gateway {
    pub(super) gate: ProxyGate,
    pub(super) notices: ProxyNotices,
    upstream: Upstream,
    max_request_bytes: u64,
    body_timeout: Duration,
}

/// Upstream server with its HTTP client and the credential for it.
pub(super) struct Upstream {
    client: reqwest::Client,
    base: Url,
    host: String,
    credential: HeaderMap,
    pub(super) needles: Needles,
}

impl Upstream {
    pub(super) fn new(options: &ProxyOptions) -> Result<Self, ProxyError> {
        let (base, host) = base_url::connectable_base(&options.base_url).map_err(ProxyError::Configuration)?;
        if base.query().is_some() || base.fragment().is_some() {
            let text = "the base URL has a query or a fragment; it should look like https://api.example.com";
            return Err(ProxyError::Configuration(HttpError::new(HttpErrorKind::Configuration, text)));
        }
        let limits = HttpOptions {
            connect_timeout: options.connect_timeout,
            idle_timeout: options.idle_timeout,
            ..HttpOptions::default()
        };
        // Automatic decompression is off, so that bytes pass unchanged.
        let client = limits
            .proxy
            .route(&base)
            .and_then(|route| transport::builder(&base, &route, &limits))
            .and_then(|builder| transport::set_up(builder.read_timeout(options.idle_timeout).no_gzip()))
            .map_err(ProxyError::Configuration)?;
        let mut secrets = options.credential.secrets().to_vec();
        secrets.extend(base.password().map(Secret::new));
        let needles = Needles::new(&secrets);
        Ok(Self { client, base, host, credential: options.credential.headers().clone(), needles })
    }

    /// Returns the upstream URL of a request whose path the gate has admitted; `None` if parsing changes it.
    fn url(&self, request: &Parts) -> Option<Url> {
        let base = self.base.as_str().trim_end_matches('/');
        let target = request.uri.path_and_query()?;
        let url = Url::parse(&format!("{base}{target}")).ok()?;
        // Parsing may have normalised the URL, so its origin and path are compared with the admitted ones.
        (url.origin() == self.base.origin() && url.path().ends_with(target.path())).then_some(url)
    }
}

impl Gateway {
    pub(super) fn new(gate: ProxyGate, upstream: Upstream, options: &ProxyOptions) -> Self {
        Self {
            gate,
            notices: ProxyNotices::new(options.notice_sink()),
            upstream,
            max_request_bytes: options.max_request_bytes,
            body_timeout: options.body_timeout,
        }
    }

    pub(super) async fn answer(&self, request: Request<Incoming>) -> Response<AnswerBody> {
        let (head, body) = request.into_parts();
        // Request smuggling: another parser may trust `Content-Length` over the chunks, so no request may follow on
        // this connection.
        let must_close = head.headers.contains_key(header::TRANSFER_ENCODING);
        let mut response = match self.gate.admit(&head) {
            Ok(()) => self.forward(&head, body).await,
            Err(refusal) => self.refuse(refusal),
        };
        if must_close {
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }

    async fn forward(&self, head: &Parts, body: Incoming) -> Response<AnswerBody> {
        let Some(url) = self.upstream.url(head) else { return self.refuse(GateRefusal::Path) };
        if body.size_hint().lower() > self.max_request_bytes {
            return self.too_large();
        }
        let has_body = !body.is_end_stream();
        let (upload, state) = Upload::new(body, self.max_request_bytes, self.body_timeout);
        let mut request = self.upstream.client.request(head.method.clone(), url).headers(self.headers(head));
        if has_body {
            request = request.body(reqwest::Body::wrap(upload));
        } else if head.method != Method::GET && head.method != Method::HEAD {
            request = request.body(Bytes::new());
        }
        match (request.send().await, state.fault()) {
            (Ok(response), _) => self.relay(response),
            (Err(_), Some(UploadFault::TooLarge)) => self.too_large(),
            (Err(_), Some(UploadFault::Silent)) => {
                own_answer(StatusCode::REQUEST_TIMEOUT, "the request came too slowly")
            }
            (Err(_), Some(UploadFault::Broken)) => own_answer(StatusCode::BAD_REQUEST, "the request broke off"),
            (Err(error), None) => self.unreachable(&HttpError::sending(error, &self.upstream.host, None)),
        }
    }

    /// Returns the headers of a request for the upstream.
    fn headers(&self, head: &Parts) -> HeaderMap {
        let mut headers = HeaderMap::with_capacity(head.headers.len() + 4);
        for (name, value) in end_to_end(&head.headers) {
            let passes = may_pass(name, &REPLACED_HEADERS) && may_pass(name, &HOP_BY_HOP);
            if passes && !self.gate.shown_in(value.as_bytes()) {
                headers.append(name, value.clone());
            }
        }
        // The answer must be uncompressed, because it is searched for the credential.
        headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        for (name, value) in &self.upstream.credential {
            headers.insert(name, value.clone());
        }
        headers
    }

    /// Converts the answer of the upstream for the client. A redirect becomes an error, and secrets are filtered out.
    fn relay(&self, response: reqwest::Response) -> Response<AnswerBody> {
        let status = response.status();
        let is_redirect = status.is_redirection() && status != StatusCode::NOT_MODIFIED;
        if is_redirect || status.is_informational() {
            let host = &self.upstream.host;
            let notice = format!("{host} answered {} and not as an API; check the base URL", status.as_u16());
            self.notices.report(ProxyNoticeKind::Upstream, notice);
            return own_answer(StatusCode::BAD_GATEWAY, "the upstream redirects, which is not followed");
        }
        if status == StatusCode::UNAUTHORIZED {
            let notice = format!("{} did not accept the credential of the proxy (401)", self.upstream.host);
            self.notices.report(ProxyNoticeKind::Credential, notice);
        }
        let (head, body) = Response::<reqwest::Body>::from(response).into_parts();
        let mut relayed = Response::new(AnswerBody::relayed(body, self.upstream.needles.filter()));
        *relayed.status_mut() = status;
        for (name, value) in end_to_end(&head.headers) {
            if !WITHHELD_HEADERS.contains(name) && !self.upstream.needles.found_in(value.as_bytes()) {
                relayed.headers_mut().append(name, value.clone());
            }
        }
        relayed
    }

    fn refuse(&self, refusal: GateRefusal) -> Response<AnswerBody> {
        let (status, message, notice) = match refusal {
            GateRefusal::Elsewhere => (StatusCode::FORBIDDEN, "forbidden", "refused a request for another host"),
            GateRefusal::Browser => (StatusCode::FORBIDDEN, "forbidden", "refused a request of a web page"),
            GateRefusal::Nonce => {
                (StatusCode::UNAUTHORIZED, "invalid x-api-key", "refused a request without the nonce")
            }
            GateRefusal::Method => (StatusCode::METHOD_NOT_ALLOWED, "method not allowed", "refused a method"),
            GateRefusal::Path => (StatusCode::NOT_FOUND, "not found", "refused a request outside /v1/"),
        };
        self.notices.report(ProxyNoticeKind::Refused, notice);
        own_answer(status, message)
    }

    fn too_large(&self) -> Response<AnswerBody> {
        self.notices.report(ProxyNoticeKind::Refused, "refused a request that is too large");
        own_answer(StatusCode::PAYLOAD_TOO_LARGE, "the request is too large")
    }

    fn unreachable(&self, error: &HttpError) -> Response<AnswerBody> {
        self.notices.report(ProxyNoticeKind::Upstream, error.to_string());
        match error.kind() {
            HttpErrorKind::Timeout => own_answer(StatusCode::GATEWAY_TIMEOUT, "the upstream did not answer in time"),
            _ => own_answer(StatusCode::BAD_GATEWAY, "the upstream cannot be reached"),
        }
    }
}

/// Returns the end-to-end headers: all but the hop-by-hop ones and those that `Connection` lists.
fn end_to_end(headers: &HeaderMap) -> impl Iterator<Item = (&HeaderName, &HeaderValue)> {
    let connection_values = headers.get_all(header::CONNECTION);
    let is_listed_by_connection = move |name: &HeaderName| {
        connection_values.iter().any(|list| {
            list.as_bytes()
                .split(|byte| *byte == b',')
                .any(|listed| listed.trim_ascii().eq_ignore_ascii_case(name.as_str().as_bytes()))
        })
    };
    headers.iter().filter(move |(name, _)| !HOP_BY_HOP.contains(name) && !is_listed_by_connection(name))
}

/// Creates an error answer of the proxy itself, in the form of the API's errors.
fn own_answer(status: StatusCode, message: &str) -> Response<AnswerBody> {
    let kind = match status {
        StatusCode::UNAUTHORIZED => "authentication_error",
        StatusCode::FORBIDDEN => "permission_error",
        StatusCode::NOT_FOUND => "not_found_error",
        StatusCode::PAYLOAD_TOO_LARGE => "request_too_large",
        StatusCode::GATEWAY_TIMEOUT => "timeout_error",
        _ if status.is_server_error() => "api_error",
        _ => "invalid_request_error",
    };
    let body = format!(r#"{{"type":"error","error":{{"type":"{kind}","message":"{message}"}}}}"#);
    let mut response = Response::new(AnswerBody::Own(Some(body.into())));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
