//! Requests to untrusted servers: bounded in size and time, and without redirects.

use crate::AuthError;
use futures_util::StreamExt;
use std::time::Duration;
use tokio::time::timeout;
use url::Url;
use windlass_http::{HttpOptions, HttpRequest, HttpTransport, NetworkTransport};

/// Maximum size of an answer, in bytes. Metadata and tokens are a few thousand bytes.
const LARGEST: usize = 256 * 1024;
/// Maximum total time of a request.
const PATIENCE: Duration = Duration::from_secs(30);

/// Answer that was read to its end.
#[derive(Debug)]
pub(crate) struct AuthAnswer {
    pub(crate) status: u16,
    body: Vec<u8>,
}

impl AuthAnswer {
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    pub(crate) fn json<T: serde::de::DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_slice(&self.body).ok()
    }
}

/// Sends requests. Errors name only the host: addresses may hold codes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fetch {
    options: HttpOptions,
}

impl Fetch {
    pub(crate) fn new(options: HttpOptions) -> Self {
        Self { options }
    }

    pub(crate) async fn get(&self, address: &str) -> Result<AuthAnswer, AuthError> {
        self.send(HttpRequest::get(address)).await
    }

    /// Sends a form.
    pub(crate) async fn form(
        &self,
        address: &str,
        authorization: Option<&str>,
        fields: &[(&str, &str)],
    ) -> Result<AuthAnswer, AuthError> {
        let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let request = HttpRequest::post(address)
            .with_header("content-type", "application/x-www-form-urlencoded")
            .with_body(body.into_bytes());
        self.send(match authorization {
            Some(value) => request.with_header("authorization", value),
            None => request,
        })
        .await
    }

    pub(crate) async fn json(&self, address: &str, body: &serde_json::Value) -> Result<AuthAnswer, AuthError> {
        let request = HttpRequest::post(address).with_header("content-type", "application/json");
        self.send(request.with_body(body.to_string().into_bytes())).await
    }

    async fn send(&self, request: HttpRequest) -> Result<AuthAnswer, AuthError> {
        let host = Url::parse(request.url()).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default();
        let request = request.with_header("accept", "application/json");
        match timeout(PATIENCE, self.exchange(request, &host)).await {
            Ok(answer) => answer,
            Err(_) => Err(AuthError::Http(format!("{host} did not answer within {} s", PATIENCE.as_secs()))),
        }
    }

    async fn exchange(&self, request: HttpRequest, host: &str) -> Result<AuthAnswer, AuthError> {
        let failed =
            |error: windlass_http::HttpError| AuthError::Http(format!("the request to {host} failed: {error}"));
        let answer = match &self.options.transport {
            Some(transport) => transport.send(request).await,
            None => NetworkTransport::new(request.url(), &self.options).map_err(failed)?.send(request).await,
        };
        let answer = answer.map_err(failed)?;
        let status = answer.status();
        let mut chunks = answer.into_body();
        let mut body = Vec::new();
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.map_err(failed)?;
            if body.len().saturating_add(chunk.len()) > LARGEST {
                return Err(AuthError::Http(format!("the answer of {host} is larger than {} KiB", LARGEST / 1024)));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(AuthAnswer { status, body })
    }
}
