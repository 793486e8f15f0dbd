//! Failures of the API as [`ModelError`]s.

use std::time::SystemTime;

use serde::Deserialize;
use windlass_http::HeaderMap;
use windlass_http::provider::{Failure, Secrets, Vendor, retry_after, should_retry};
use windlass_model::ModelError;
use windlass_types::ModelErrorKind;

use crate::rate_limit::rate_limit;

#[derive(Deserialize)]
struct ErrorBody {
    error: ErrorDetail,
    #[serde(default)]
    request_id: Option<String>,
}

#[derive(Deserialize)]
struct ErrorDetail {
    #[serde(default, rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    message: Option<String>,
}

/// The error of an answer with a status other than 200.
#[expect(clippy::disallowed_methods, reason = "a server may name the time of a repeat as a date")]
pub(crate) fn from_answer(status: u16, headers: &HeaderMap, body: &str, secrets: &Secrets) -> ModelError {
    let parsed: Option<ErrorBody> = serde_json::from_str(body).ok();
    let (detail, body_id) = match parsed {
        Some(parsed) => (parsed.error, parsed.request_id),
        // A proxy or a gateway on the way has its own idea of an error body.
        None => (ErrorDetail { kind: None, message: Some(body.to_owned()) }, None),
    };
    let header_id = headers.get("request-id").and_then(|id| id.to_str().ok()).map(str::to_owned);
    let error = error(Some(status), &detail, secrets);
    let wait = retry_after(headers, SystemTime::now()).or(error.retry_after);
    error
        .with_retry_after(wait)
        .with_should_retry(should_retry(headers))
        .with_request_id(header_id.or(body_id))
        .with_rate_limit(rate_limit(status, headers))
}

/// The error of an `error` event inside a stream.
pub(crate) fn from_event(data: &str, secrets: &Secrets) -> ModelError {
    match serde_json::from_str::<ErrorBody>(data) {
        Ok(body) => error(None, &body.error, secrets).with_request_id(body.request_id),
        Err(_) => error(None, &ErrorDetail { kind: None, message: Some(data.to_owned()) }, secrets),
    }
}

/// An answer that breaks the rules of the API's stream.
pub(crate) fn protocol(what: impl std::fmt::Display) -> ModelError {
    ModelError::new(ModelErrorKind::Protocol, format!("the API broke its protocol: {what}"))
}

const VENDOR: Vendor = Vendor::new("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL");

fn error(status: Option<u16>, detail: &ErrorDetail, secrets: &Secrets) -> ModelError {
    let code = detail.kind.as_deref().unwrap_or_default();
    VENDOR.error(&Failure { status, code, text: detail.message.as_deref().unwrap_or_default() }, secrets)
}
