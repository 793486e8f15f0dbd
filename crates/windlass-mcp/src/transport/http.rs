//! Streamable HTTP transport.

use super::answer_stream::{answers, messages};
use super::authorized::Authorized;
use super::correlate::{answer_to, is_stray_error};
use super::salvage::{UNANSWERED, UNREADABLE, failed};
use super::{SendError, Sent};
use futures_util::StreamExt;
use futures_util::stream::{BoxStream, once};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpClientTransportConfig, StreamableHttpError,
    StreamableHttpPostResponse,
};
use sse_stream::Sse;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::timeout;
use windlass_http::tls::{self, Trust};
use windlass_mcp_auth::Authorizer;

/// Maximum size of an event of a server, in bytes.
pub(super) const LARGEST_EVENT: usize = 16 * 1024 * 1024;

/// Maximum wait for the answer to a request that was only accepted, over the stream of the session.
const ACCEPTED: Duration = Duration::from_secs(60);

/// Transport to an endpoint.
pub(crate) type HttpTransport = StreamableHttpClientTransport<EndpointClient>;

type EndpointFailure = StreamableHttpError<reqwest::Error>;
type EndpointHeaders = HashMap<HeaderName, HeaderValue>;

/// `true` if a request that failed with this error was certainly not sent.
pub(crate) fn was_not_sent(error: &(dyn std::error::Error + 'static)) -> bool {
    match (error.downcast_ref::<EndpointFailure>(), error.downcast_ref::<SendError>()) {
        (Some(StreamableHttpError::Client(error)), _) | (_, Some(SendError::Http(error))) => error.is_connect(),
        _ => false,
    }
}

/// `true` if a broken stream will not be continued, however often the endpoint is asked.
fn is_final(error: &EndpointFailure) -> bool {
    match error {
        StreamableHttpError::Client(error) => error
            .status()
            .is_some_and(|status| status.is_client_error() && status != reqwest::StatusCode::REQUEST_TIMEOUT),
        StreamableHttpError::UnexpectedContentType(_) => true,
        _ => false,
    }
}

/// Client for one endpoint. An error in answer to a request always belongs to that request: the library drops errors
/// without an id, and their calls would wait for an answer that has already come.
#[derive(Debug, Clone)]
pub(crate) struct EndpointClient {
    client: Authorized,
    sent: Sent,
    /// `true` if the server rejected a request of the session as unknown: the session may be gone.
    lost_session: Arc<AtomicBool>,
    /// `true` once the server has refused the stream of the session.
    has_no_stream: Arc<watch::Sender<bool>>,
}

impl EndpointClient {
    fn correlated(
        &self,
        id: &RequestId,
        has_session: bool,
        answered: StreamableHttpPostResponse,
    ) -> StreamableHttpPostResponse {
        match answered {
            StreamableHttpPostResponse::Json(message, session) => {
                if has_session && is_stray_error(&message, id) {
                    self.lost_session.store(true, Ordering::SeqCst);
                }
                let message = answer_to(id, message);
                let message = message.unwrap_or_else(|problem| failed(Some(id.clone()), UNREADABLE, problem));
                StreamableHttpPostResponse::Json(message, session)
            }
            StreamableHttpPostResponse::Sse(events, session) => {
                StreamableHttpPostResponse::Sse(answers(id, events), session)
            }
            // The answer may come over the stream of the session, against the protocol.
            StreamableHttpPostResponse::Accepted if has_session => {
                StreamableHttpPostResponse::Sse(self.unanswered_later(id.clone()), None)
            }
            StreamableHttpPostResponse::Accepted => StreamableHttpPostResponse::Json(unanswered(id), None),
            other => other,
        }
    }

    /// Returns an event that fails a request once its answer is no longer expected.
    fn unanswered_later(&self, id: RequestId) -> BoxStream<'static, Result<Sse, SseError>> {
        let mut refused = self.has_no_stream.subscribe();
        let event = async move {
            // Ends after that time, or when the server has no such stream.
            let _ = timeout(ACCEPTED, refused.wait_for(|refused| *refused)).await;
            Ok(Sse { data: serde_json::to_string(&unanswered(&id)).ok(), ..Sse::default() })
        };
        once(event).boxed()
    }
}

/// Returns the error of a request that was accepted and got no answer.
fn unanswered(id: &RequestId) -> ServerJsonRpcMessage {
    failed(Some(id.clone()), UNANSWERED, "took it without an answer".to_owned())
}

impl StreamableHttpClient for EndpointClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: EndpointHeaders,
    ) -> Result<StreamableHttpPostResponse, EndpointFailure> {
        let limit = LARGEST_EVENT;
        self.post_message_with_max_sse_event_size(uri, message, session_id, auth_header, custom_headers, limit).await
    }

    async fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: EndpointHeaders,
        limit: usize,
    ) -> Result<StreamableHttpPostResponse, EndpointFailure> {
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
        Ok(match id {
            Some(id) => self.correlated(&id, has_session, answered),
            None => answered,
        })
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: EndpointHeaders,
    ) -> Result<(), EndpointFailure> {
        self.client.delete_session(uri, session_id, auth_header, custom_headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: EndpointHeaders,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, EndpointFailure> {
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
        custom_headers: EndpointHeaders,
        limit: usize,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, EndpointFailure> {
        let continues = last_event_id.is_some();
        let stream = self.client.get_stream_with_max_sse_event_size(
            uri,
            session_id,
            last_event_id,
            auth_header,
            custom_headers,
            limit,
        );
        match stream.await {
            Ok(stream) => Ok(messages(stream)),
            // Otherwise the library would request the stream again and again.
            Err(error) if continues && is_final(&error) => Err(StreamableHttpError::ServerDoesNotSupportSse),
            Err(error) => {
                let _ = self.has_no_stream.send_replace(!continues);
                Err(error)
            }
        }
    }
}

/// Configured address, and the client for it.
#[derive(Debug, Clone)]
pub(crate) struct Address {
    pub(crate) url: reqwest::Url,
    pub(crate) client: reqwest::Client,
    /// Headers of every request.
    pub(crate) headers: HeaderMap,
    /// Source of access tokens, unless a header holds one.
    pub(crate) authorizer: Option<Arc<Authorizer>>,
}

impl Address {
    /// Reads an address, or returns the fault in its configuration.
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

/// Creates a transport to an endpoint.
pub(crate) fn http_transport(address: Address, sent: Sent, lost_session: Arc<AtomicBool>) -> HttpTransport {
    let custom = address.headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    let config = StreamableHttpClientTransportConfig::with_uri(address.url.as_str())
        .custom_headers(custom)
        .max_sse_event_size(LARGEST_EVENT);
    let client = Authorized { client: address.client, authorizer: address.authorizer };
    let has_no_stream = Arc::new(watch::Sender::new(false));
    StreamableHttpClientTransport::with_client(EndpointClient { client, sent, lost_session, has_no_stream }, config)
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
