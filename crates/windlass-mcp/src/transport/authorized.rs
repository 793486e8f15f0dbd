//! Requests with the access token of a login.

use super::SendError;
use super::http::LARGEST_EVENT;
use futures_util::stream::BoxStream;
use reqwest::header::{HeaderName, HeaderValue, WWW_AUTHENTICATE};
use reqwest::{RequestBuilder, Response, StatusCode};
use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::Sse;
use std::collections::HashMap;
use std::sync::Arc;
use windlass_mcp_auth::{Authorizer, Challenge, SecretText};

type AuthorizedFailure = StreamableHttpError<reqwest::Error>;
type AuthorizedHeaders = HashMap<HeaderName, HeaderValue>;

/// Maximum number of retries of a request: once with a new token, and once with more scopes.
const MAX_RETRIES: usize = 2;

/// Client that sends each request with the token of the server's login, if there is one. A refusal for lack of rights
/// that no better token solves is [`StreamableHttpError::AuthRequired`], regardless of the server's text.
#[derive(Debug, Clone)]
pub(crate) struct Authorized {
    pub(crate) client: reqwest::Client,
    pub(crate) authorizer: Option<Arc<Authorizer>>,
}

impl Authorized {
    async fn token(&self) -> Option<SecretText> {
        match &self.authorizer {
            Some(authorizer) => authorizer.token().await,
            None => None,
        }
    }

    /// Sends a request until it is not refused for lack of rights, or no other token is available.
    async fn send<T, F: Future<Output = Result<T, AuthorizedFailure>>>(
        &self,
        request: impl Fn(Option<String>) -> F,
    ) -> Result<T, AuthorizedFailure> {
        let mut token = self.token().await;
        let mut tries = 0;
        loop {
            let sent = request(token.as_ref().map(|token| token.expose().to_owned())).await;
            let Some(challenge) = sent.as_ref().err().and_then(challenge) else { return sent };
            let refused = Err(StreamableHttpError::AuthRequired(AuthRequiredError::new(String::new())));
            let Some(authorizer) = &self.authorizer else { return refused };
            let better = authorizer.challenged(&challenge, token.as_ref()).await;
            match better {
                Ok(better) if tries < MAX_RETRIES => token = Some(better),
                Ok(_) => return refused,
                Err(error) => {
                    tracing::debug!(?authorizer, %error, "an MCP server refuses a request for want of rights");
                    return refused;
                }
            }
            tries += 1;
        }
    }
}

/// Sends a request with the token of the server's login, and again while another token may help. Returns the last
/// answer, whatever its status.
pub(super) async fn respond(
    authorizer: Option<&Arc<Authorizer>>,
    request: impl Fn() -> RequestBuilder,
) -> Result<Response, reqwest::Error> {
    let Some(authorizer) = authorizer else { return request().send().await };
    let mut token = authorizer.token().await;
    let mut tries = 0;
    loop {
        let response = match &token {
            Some(token) => request().bearer_auth(token.expose()).send().await?,
            None => request().send().await?,
        };
        if !is_refusal(response.status()) || tries == MAX_RETRIES {
            return Ok(response);
        }
        let header = response.headers().get(WWW_AUTHENTICATE).and_then(|value| value.to_str().ok());
        let challenge = Challenge::read(response.status().as_u16(), header);
        match authorizer.challenged(&challenge, token.as_ref()).await {
            Ok(better) => token = Some(better),
            Err(_) => return Ok(response),
        }
        tries += 1;
    }
}

/// Returns the challenge of a request refused for lack of rights.
fn challenge(error: &AuthorizedFailure) -> Option<Challenge> {
    match error {
        StreamableHttpError::AuthRequired(error) => Some(Challenge::read(401, Some(&error.www_authenticate_header))),
        StreamableHttpError::InsufficientScope(error) => {
            Some(Challenge::read(403, Some(&error.www_authenticate_header)))
        }
        StreamableHttpError::Client(error) => {
            let status = error.status().filter(|status| is_refusal(*status))?;
            Some(Challenge::read(status.as_u16(), None))
        }
        // The library has put the status into the text.
        StreamableHttpError::UnexpectedServerResponse(text) => {
            let refused = [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN];
            let status = refused.into_iter().find(|status| text.starts_with(&format!("HTTP {status}:")))?;
            Some(Challenge::read(status.as_u16(), None))
        }
        _ => None,
    }
}

pub(super) fn is_refusal(status: StatusCode) -> bool {
    matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)
}

/// `true` if a request failed for lack of rights.
pub(crate) fn lacks_rights(error: &(dyn std::error::Error + 'static)) -> bool {
    matches!(error.downcast_ref::<AuthorizedFailure>(), Some(StreamableHttpError::AuthRequired(_)))
        || matches!(error.downcast_ref::<SendError>(), Some(SendError::LacksRights))
}

impl StreamableHttpClient for Authorized {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: AuthorizedHeaders,
    ) -> Result<StreamableHttpPostResponse, AuthorizedFailure> {
        let limit = LARGEST_EVENT;
        self.post_message_with_max_sse_event_size(uri, message, session_id, auth_header, custom_headers, limit).await
    }

    async fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        _: Option<String>,
        custom_headers: AuthorizedHeaders,
        limit: usize,
    ) -> Result<StreamableHttpPostResponse, AuthorizedFailure> {
        let post = |token| {
            let (client, uri, message) = (self.client.clone(), Arc::clone(&uri), message.clone());
            let (session, headers) = (session_id.clone(), custom_headers.clone());
            async move { client.post_message_with_max_sse_event_size(uri, message, session, token, headers, limit).await }
        };
        self.send(post).await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        _: Option<String>,
        custom_headers: AuthorizedHeaders,
    ) -> Result<(), AuthorizedFailure> {
        let token = self.token().await.map(|token| token.expose().to_owned());
        self.client.delete_session(uri, session_id, token, custom_headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: AuthorizedHeaders,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, AuthorizedFailure> {
        let limit = LARGEST_EVENT;
        self.get_stream_with_max_sse_event_size(uri, session_id, last_event_id, auth_header, custom_headers, limit)
            .await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        _: Option<String>,
        custom_headers: AuthorizedHeaders,
        limit: usize,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, AuthorizedFailure> {
        let get = |token| {
            let (client, uri, session) = (self.client.clone(), Arc::clone(&uri), session_id.clone());
            let (last, headers) = (last_event_id.clone(), custom_headers.clone());
            async move { client.get_stream_with_max_sse_event_size(uri, session, last, token, headers, limit).await }
        };
        self.send(get).await
    }
}
