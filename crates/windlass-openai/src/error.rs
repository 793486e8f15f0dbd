//! Errors of the API as [`ModelError`]s.

use std::borrow::Cow;
use std::time::SystemTime;

use serde::Deserialize;
use serde_json::value::RawValue;
use windlass_http::HeaderMap;
use windlass_http::provider::{Failure, Secrets, Vendor, retry_after, should_retry, with_window};
use windlass_model::ModelError;
use windlass_types::ModelErrorKind;

/// Settings of OpenAI, for the texts of errors.
pub(crate) const OPENAI: Vendor = Vendor::new("OPENAI_API_KEY", "OPENAI_BASE_URL");

/// Fields of an error, wherever it is placed. Relatives of the API write numbers in place of words.
#[derive(Default, Deserialize)]
pub(crate) struct OpenAiErrorDetail<'a> {
    #[serde(borrow, default)]
    code: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "type")]
    kind: Option<&'a RawValue>,
    #[serde(borrow, default)]
    param: Option<&'a RawValue>,
    #[serde(borrow, default)]
    message: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct OpenAiErrorBody<'a> {
    #[serde(borrow)]
    error: &'a RawValue,
}

impl<'a> OpenAiErrorDetail<'a> {
    /// Reads the error of a body: an object under `error`, a plain text there, or the object itself.
    pub(crate) fn read(json: &'a str) -> Option<Self> {
        let detail: Self = match serde_json::from_str::<OpenAiErrorBody<'_>>(json) {
            Ok(body) if body.error.get().starts_with('{') => serde_json::from_str(body.error.get()).ok()?,
            Ok(body) if body.error.get().starts_with('"') => Self { message: Some(body.error), ..Self::default() },
            _ => serde_json::from_str(json).ok()?,
        };
        (detail.code.is_some() || detail.kind.is_some() || detail.message.is_some()).then_some(detail)
    }

    /// Returns the code if there is one, else the type of the error.
    pub(crate) fn code(&self) -> Cow<'a, str> {
        let word = |json: Option<&'a RawValue>| json.map(plain).filter(|word| !word.is_empty());
        word(self.code).or_else(|| word(self.kind)).unwrap_or_default()
    }

    /// Returns the member of the request that the error is about, or an empty text.
    pub(crate) fn param(&self) -> Cow<'a, str> {
        self.param.map(plain).unwrap_or_default()
    }

    pub(crate) fn message(&self) -> Cow<'a, str> {
        self.message.map(plain).unwrap_or_default()
    }
}

/// Returns a string without its quotes, anything else as its text, `null` as an empty text.
fn plain(json: &RawValue) -> Cow<'_, str> {
    match json.get() {
        "null" => Cow::Borrowed(""),
        text if text.starts_with('"') => serde_json::from_str(text).map_or(Cow::Borrowed(text), Cow::Owned),
        text => Cow::Borrowed(text),
    }
}

/// Reads the error of an answer with a status other than 200.
#[expect(clippy::disallowed_methods, reason = "a server may name the time of a repeat as a date")]
pub(crate) fn from_answer(
    vendor: &Vendor,
    status: u16,
    headers: &HeaderMap,
    body: &str,
    secrets: &Secrets,
) -> ModelError {
    let error = match OpenAiErrorDetail::read(body) {
        Some(detail) => from_detail(vendor, Some(status), &detail, secrets),
        // A proxy or a gateway on the way has its own form of error bodies.
        None => vendor.error(&Failure { status: Some(status), code: "", text: body }, secrets),
    };
    let wait = retry_after(headers, SystemTime::now()).or(error.retry_after);
    with_window(error, body)
        .with_retry_after(wait)
        .with_should_retry(should_retry(headers))
        .with_request_id(request_id(headers))
}

/// Reads the error of an event inside a stream.
pub(crate) fn from_event(vendor: &Vendor, data: &str, secrets: &Secrets) -> ModelError {
    match OpenAiErrorDetail::read(data) {
        Some(detail) => from_detail(vendor, None, &detail, secrets),
        None => vendor.error(&Failure { status: None, code: "", text: data }, secrets),
    }
}

fn from_detail(vendor: &Vendor, status: Option<u16>, detail: &OpenAiErrorDetail<'_>, secrets: &Secrets) -> ModelError {
    let (code, text) = (detail.code(), detail.message());
    let failure = Failure { status, code: &code, text: &text };
    // A stream has no status that tells the kind of the error. A repeat of such a request fails again.
    let is_about_request = |code: &str| ["image", "policy", "residency"].iter().any(|word| code.contains(word));
    if status.is_none() && is_about_request(&code) {
        return vendor.error_of(ModelErrorKind::InvalidRequest, &failure, secrets);
    }
    vendor.error(&failure, secrets)
}

/// Reads the error of a failed response.
pub(crate) fn from_response(vendor: &Vendor, response: &str, secrets: &Secrets) -> ModelError {
    match OpenAiErrorDetail::read(response) {
        Some(detail) => from_detail(vendor, None, &detail, secrets),
        // The response repeats the request, which is no text of an error.
        None => vendor.error(&Failure { status: None, code: "", text: "it gave no reason" }, secrets),
    }
}

/// Returns the id of a request, for the vendor's support. Azure has its own name for the header.
pub(crate) fn request_id(headers: &HeaderMap) -> Option<String> {
    let text = |name: &str| headers.get(name)?.to_str().ok().filter(|id| !id.is_empty()).map(str::to_owned);
    text("x-request-id").or_else(|| text("apim-request-id"))
}

/// Creates the error of an answer that breaks the rules of the API's stream.
pub(crate) fn protocol(what: impl std::fmt::Display) -> ModelError {
    ModelError::new(ModelErrorKind::Protocol, format!("the API broke its protocol: {what}"))
}

/// Creates the error of a part of an answer whose shape is unknown.
pub(crate) fn unreadable(what: &str, error: impl std::fmt::Display) -> ModelError {
    protocol(format_args!("{what} cannot be read")).with_source(PlainError(error.to_string()))
}

/// Message of a JSON parser. The parser's own error would keep no more than this text.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct PlainError(String);

#[cfg(test)]
mod tests;
