//! Streamable HTTP.

use super::authorized::Authorized;
use super::correlate::{answer_to, is_stray_error};
use super::execution::with_execution;
use super::intake::{MOST_DEPTH, MOST_VALUES, is_too_much};
use super::{SendError, Sent};
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpClientTransportConfig, StreamableHttpError,
    StreamableHttpPostResponse,
};
use serde_json::json;
use sse_stream::Sse;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use windlass_http::tls::{self, Trust};
use windlass_mcp_auth::Authorizer;

/// Largest event of a server.
pub(super) const LARGEST_EVENT: usize = 16 * 1024 * 1024;

/// A transport to an endpoint.
pub(crate) type HttpTransport = StreamableHttpClientTransport<Endpoint>;

type Failure = StreamableHttpError<reqwest::Error>;
type Headers = HashMap<HeaderName, HeaderValue>;

/// Whether a request that failed like this was certainly not sent.
pub(crate) fn was_not_sent(error: &(dyn std::error::Error + 'static)) -> bool {
    match (error.downcast_ref::<Failure>(), error.downcast_ref::<SendError>()) {
        (Some(StreamableHttpError::Client(error)), _) | (_, Some(SendError::Http(error))) => error.is_connect(),
        _ => false,
    }
}

/// A client for one endpoint. An error in answer to a request is always an error of that request: the library loses
/// those without its id, and their calls would wait for an answer that has come.
#[derive(Debug, Clone)]
pub(crate) struct Endpoint {
    client: Authorized,
    sent: Sent,
    /// Whether the server did not know what to do with a request of the session: it may be gone.
    lost_session: Arc<AtomicBool>,
}

impl Endpoint {
    fn correlated(
        &self,
        id: &RequestId,
        has_session: bool,
        answered: StreamableHttpPostResponse,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let unexpected = |problem: String| StreamableHttpError::UnexpectedServerResponse(problem.into());
        match answered {
            StreamableHttpPostResponse::Json(message, session) => {
                if has_session && is_stray_error(&message, id) {
                    self.lost_session.store(true, Ordering::SeqCst);
                }
                let message = answer_to(id, message).map_err(unexpected)?;
                Ok(StreamableHttpPostResponse::Json(message, session))
            }
            StreamableHttpPostResponse::Sse(events, session) => {
                let id = id.clone();
                let events = events.map(move |event| event.map(|event| of_request(&id, event)));
                Ok(StreamableHttpPostResponse::Sse(events.boxed(), session))
            }
            // Without a session there is no other stream on which an answer could come.
            StreamableHttpPostResponse::Accepted if !has_session => {
                Err(unexpected("the server took the request and will not answer it".to_owned()))
            }
            other => Ok(other),
        }
    }
}

/// An event of the stream that answers a request. One that would take up too much memory is an error of the request.
fn of_request(id: &RequestId, mut event: Sse) -> Sse {
    if event.data.as_deref().is_some_and(|text| is_too_much(text.as_bytes())) {
        let message =
            format!("a message holds more than {MOST_VALUES} values, or is nested more than {MOST_DEPTH} deep");
        let error = json!({ "code": -32603, "message": message });
        event.data = Some(json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string());
        return event;
    }
    let text = event.data.as_deref().filter(|text| text.contains("\"error\""));
    if let Some(Ok(message)) = text.map(serde_json::from_str::<ServerJsonRpcMessage>)
        && is_stray_error(&message, id)
        && let Ok(error) = answer_to(id, message)
        && let Ok(text) = serde_json::to_string(&error)
    {
        event.data = Some(text);
    }
    if let Some(message) = event.data.as_deref().and_then(with_execution) {
        event.data = Some(message.to_string());
    }
    event
}

/// An event of the stream that no request waits for. One that would take up too much memory is left out.
fn bounded(mut event: Sse) -> Sse {
    if event.data.as_deref().is_some_and(|text| is_too_much(text.as_bytes())) {
        tracing::warn!("a message of an MCP server was dropped: it holds too many values, or is nested too deep");
        event.data = None;
    }
    event
}

impl StreamableHttpClient for Endpoint {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let limit = LARGEST_EVENT;
        self.post_message_with_max_sse_event_size(uri, message, session_id, auth_header, custom_headers, limit).await
    }

    async fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: Headers,
        limit: usize,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let id = match &message {
            JsonRpcMessage::Request(request) => Some(request.id.clone()),
            _ => None,
        };
        if let Some(id) = &id {
            self.sent.begin(id);
        }
        let has_session = session_id.is_some();
        let posted = self.client.post_message_with_max_sse_event_size(
            uri,
            message,
            session_id,
            auth_header,
            custom_headers,
            limit,
        );
        let answered = posted.await?;
        match id {
            Some(id) => self.correlated(&id, has_session, answered),
            None => Ok(answered),
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<(), Failure> {
        self.client.delete_session(uri, session_id, auth_header, custom_headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failure> {
        let limit = LARGEST_EVENT;
        self.get_stream_with_max_sse_event_size(uri, session_id, last_event_id, auth_header, custom_headers, limit)
            .await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: Headers,
        limit: usize,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failure> {
        let stream = self.client.get_stream_with_max_sse_event_size(
            uri,
            session_id,
            last_event_id,
            auth_header,
            custom_headers,
            limit,
        );
        Ok(stream.await?.map(|event| event.map(bounded)).boxed())
    }
}

/// An address as it is configured, and the client for it.
#[derive(Debug, Clone)]
pub(crate) struct Address {
    pub(crate) url: reqwest::Url,
    pub(crate) client: reqwest::Client,
    /// Those of every request.
    pub(crate) headers: HeaderMap,
    /// Has the tokens, unless a header brings one.
    pub(crate) authorizer: Option<Arc<Authorizer>>,
}

impl Address {
    /// An address, or what is wrong with its configuration.
    pub(crate) fn new(
        url: &str,
        headers: &BTreeMap<String, String>,
        agent: &str,
        authorizer: Option<Arc<Authorizer>>,
    ) -> Result<Self, String> {
        let url = reqwest::Url::parse(url).map_err(|error| format!("its url is not valid: {error}"))?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err("its url is neither http nor https".to_owned());
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("its url holds credentials; use `headers`".to_owned());
        }
        let mut custom = HeaderMap::new();
        for (name, value) in headers {
            let header =
                HeaderName::try_from(name.as_str()).map_err(|_| format!("the header name {name:?} is not valid"))?;
            let mut value = HeaderValue::try_from(value.as_str())
                .map_err(|_| format!("the value of the header {name:?} is not valid"))?;
            value.set_sensitive(true);
            custom.insert(header, value);
        }
        tls::check(&url).map_err(|error| error.to_string())?;
        let client = tls::client_builder(Trust::System)
            .map_err(|error| error.to_string())?
            .user_agent(agent)
            // A redirect would carry headers to an address that is not configured.
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(Duration::from_secs(15))
            .build()
            .map_err(|error| error.to_string())?;
        let authorizer = authorizer.filter(|_| !custom.contains_key(AUTHORIZATION));
        Ok(Self { url, client, headers: custom, authorizer })
    }
}

/// A transport to an endpoint.
pub(crate) fn http_transport(address: Address, sent: Sent, lost_session: Arc<AtomicBool>) -> HttpTransport {
    let custom = address.headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    let config = StreamableHttpClientTransportConfig::with_uri(address.url.as_str())
        .custom_headers(custom)
        .max_sse_event_size(LARGEST_EVENT);
    let client = Authorized { client: address.client, authorizer: address.authorizer };
    StreamableHttpClientTransport::with_client(Endpoint { client, sent, lost_session }, config)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configurations_are_checked_before_anything_is_sent() {
        for (url, header, problem) in [
            ("x", "a", "not valid"),
            ("ftp://a.b/", "a", "neither http"),
            ("file:///etc/passwd", "a", "neither http"),
            ("https://user:word@a.b/", "a", "credentials"),
            ("https://a.b/", "a b", "header name"),
        ] {
            let headers = BTreeMap::from([(header.to_owned(), "v".to_owned())]);
            let error = Address::new(url, &headers, "t", None).err();
            assert!(error.as_ref().is_some_and(|error| error.contains(problem)), "{url}: {error:?}");
        }
        let headers = BTreeMap::from([("a".to_owned(), "line\nbreak".to_owned())]);
        assert!(Address::new("https://a.b/", &headers, "t", None).is_err_and(|error| error.contains("value")));
    }
}
