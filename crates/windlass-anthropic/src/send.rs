//! Requests with their credentials.

use std::time::Duration;

use windlass_http::provider::{Credential, from_http, other_credential};
use windlass_http::{Bytes, HeaderMap, Response};
use windlass_model::ModelError;

use crate::error::MessagesErrors;
use crate::platform::PlatformRoute;
use crate::provider::AnthropicState;

/// Maximum number of bytes read of an answer that is not a stream.
pub(crate) const MAX_BODY: usize = 64 * 1024;

/// Maximum total time to wait for the body of an error: its status is known already.
pub(crate) const ERROR_BODY_TIME: Duration = Duration::from_secs(5);

/// Request without its credential.
pub(crate) struct PreparedRequest {
    pub(crate) route: PlatformRoute,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl AnthropicState {
    /// Sends a request, and once more if its credential is refused and the source then has another.
    pub(crate) async fn send(&self, call: &PreparedRequest) -> Result<(Response, MessagesErrors), ModelError> {
        let Some(source) = &self.credentials else { return self.send_with(call, None).await };
        let credential = source.credential().await?;
        match self.send_with(call, Some(&credential)).await {
            Err(error) if matches!(error.status, Some(401 | 403)) => {
                match other_credential(source, &credential).await {
                    Some(other) => self.send_with(call, Some(&other)).await,
                    None => Err(error),
                }
            }
            answer => answer,
        }
    }

    /// Gets a text of at most `limit` bytes.
    pub(crate) async fn get(&self, route: &PlatformRoute, limit: usize) -> Result<String, ModelError> {
        let mut headers = self.headers.clone();
        if let Some(source) = &self.credentials {
            route.authorize(&source.credential().await?, &mut headers, &[], &self.clock)?;
        }
        let response = route.client.get(&route.path, headers).await.map_err(from_http)?;
        if response.status() != 200 {
            return Err(self.faults.answer(response.status(), response.headers(), ""));
        }
        response.text(limit).await.map_err(from_http)
    }

    async fn send_with(
        &self,
        call: &PreparedRequest,
        credential: Option<&Credential>,
    ) -> Result<(Response, MessagesErrors), ModelError> {
        let (mut headers, mut faults) = (call.headers.clone(), self.faults.clone());
        if let Some(credential) = credential {
            call.route.authorize(credential, &mut headers, &call.body, &self.clock)?;
            credential.keep_out(&mut faults.secrets);
        }
        let PlatformRoute { client, path, .. } = &call.route;
        let response = client.post(path, headers, call.body.clone()).await.map_err(from_http)?;
        if response.status() == 200 {
            return Ok((response, faults));
        }
        let (status, headers) = (response.status(), response.headers().clone());
        // An error without its body, or with half of it, still has its status.
        let body = response.excerpt(MAX_BODY, ERROR_BODY_TIME).await;
        Err(faults.answer(status, &headers, &body))
    }
}
