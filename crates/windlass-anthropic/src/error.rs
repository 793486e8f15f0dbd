//! Errors of the API as [`ModelError`]s.

use std::time::SystemTime;

use serde::Deserialize;
use windlass_http::HeaderMap;
use windlass_http::provider::{Failure, Secrets, Vendor, retry_after, should_retry, with_window};
use windlass_model::ModelError;
use windlass_types::ModelErrorKind;

use crate::rate_limit::rate_limit;

/// Factory of the errors of one call: names of the settings, and secrets to mask.
#[derive(Debug, Clone)]
pub(crate) struct MessagesErrors {
    pub(crate) vendor: Vendor,
    pub(crate) secrets: Secrets,
}

impl Default for MessagesErrors {
    fn default() -> Self {
        Self { vendor: Vendor::new("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"), secrets: Secrets::default() }
    }
}

/// Error of the API, or of the cloud before it: AWS writes only a message, Google a status.
#[derive(Deserialize)]
struct ErrorBody {
    #[serde(default)]
    error: Option<ErrorDetail>,
    #[serde(default, alias = "Message")]
    message: Option<String>,
    #[serde(default)]
    request_id: Option<String>,
}

#[derive(Default, Deserialize)]
struct ErrorDetail {
    #[serde(default, rename = "type", alias = "status")]
    kind: Option<String>,
    #[serde(default)]
    message: Option<String>,
}

impl MessagesErrors {
    /// Reads the error of an answer with a status other than 200.
    #[expect(clippy::disallowed_methods, reason = "a server may name the time of a repeat as a date")]
    pub(crate) fn answer(&self, status: u16, headers: &HeaderMap, body: &str) -> ModelError {
        let (detail, body_id) = read(body);
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        // `AccessDeniedException:http://…`
        let of_aws = header("x-amzn-errortype").and_then(|text| text.split(':').next());
        let error = with_window(self.error(Some(status), &detail, of_aws), body);
        let wait = retry_after(headers, SystemTime::now()).or(error.retry_after);
        let header_id = header("request-id").or(header("x-amzn-requestid")).map(str::to_owned);
        error
            .with_retry_after(wait)
            .with_should_retry(should_retry(headers))
            .with_request_id(header_id.or(body_id))
            .with_rate_limit(rate_limit(status, headers))
    }

    /// Reads the error of an `error` event inside a stream.
    pub(crate) fn event(&self, data: &str) -> ModelError {
        let (detail, id) = read(data);
        self.error(None, &detail, None).with_request_id(id)
    }

    fn error(&self, status: Option<u16>, detail: &ErrorDetail, code: Option<&str>) -> ModelError {
        let code = detail.kind.as_deref().or(code).unwrap_or_default();
        let text = detail.message.as_deref().unwrap_or_default();
        self.vendor.error(&Failure { status, code, text }, &self.secrets)
    }
}

/// Reads the error in a body, and the id of its request. A proxy or a gateway on the way has its own form of error
/// bodies, which counts as plain text.
fn read(body: &str) -> (ErrorDetail, Option<String>) {
    let all_text = || ErrorDetail { kind: None, message: Some(body.to_owned()) };
    // Google answers to streamed requests with a list of one.
    let one = || serde_json::from_str::<(ErrorBody,)>(body).map(|(body,)| body);
    match serde_json::from_str::<ErrorBody>(body).or_else(|_| one()) {
        Ok(ErrorBody { error: Some(detail), request_id, .. }) => (detail, request_id),
        Ok(ErrorBody { message: Some(message), request_id, .. }) => {
            (ErrorDetail { kind: None, message: Some(message) }, request_id)
        }
        _ => (all_text(), None),
    }
}

/// Creates the error of an answer that breaks the rules of the API's stream.
pub(crate) fn protocol(what: impl std::fmt::Display) -> ModelError {
    ModelError::new(ModelErrorKind::Protocol, format!("the API broke its protocol: {what}"))
}
