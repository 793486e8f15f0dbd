//! Failures of the API as [`ModelError`]s.

use std::{borrow::Cow, time::SystemTime};

use serde::Deserialize;
use windlass_http::{HeaderMap, HttpError, HttpErrorKind, Secret};
use windlass_model::ModelError;
use windlass_types::ModelErrorKind;

use crate::{
    rate_limit::rate_limit,
    retry_after::{retry_after, should_retry},
};

/// The longest part of a server's text that an error repeats, in characters.
const MAX_TEXT: usize = 600;

/// The credentials in use, to keep them out of texts that a server returns.
#[derive(Clone, Debug, Default)]
pub(crate) struct Secrets(Vec<Secret>);

impl Secrets {
    pub(crate) fn push(&mut self, secret: Secret) {
        self.0.push(secret);
    }

    fn redact(&self, text: String) -> String {
        self.0.iter().fold(text, |text, secret| match secret.redact(&text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(redacted) => redacted,
        })
    }
}

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
    error(Some(status), detail, secrets)
        .with_status(status)
        .with_retry_after(retry_after(headers, SystemTime::now()))
        .with_should_retry(should_retry(headers))
        .with_request_id(header_id.or(body_id))
        .with_rate_limit(rate_limit(status, headers))
}

/// The error of an `error` event inside a stream.
pub(crate) fn from_event(data: &str, secrets: &Secrets) -> ModelError {
    match serde_json::from_str::<ErrorBody>(data) {
        Ok(body) => error(None, body.error, secrets).with_request_id(body.request_id),
        Err(_) => error(None, ErrorDetail { kind: None, message: Some(data.to_owned()) }, secrets),
    }
}

/// A failure below the API.
pub(crate) fn from_http(error: HttpError) -> ModelError {
    let kind = match error.kind() {
        HttpErrorKind::Configuration | HttpErrorKind::Tls => ModelErrorKind::Configuration,
        HttpErrorKind::Connection => ModelErrorKind::Connection,
        HttpErrorKind::Timeout => ModelErrorKind::Timeout,
        HttpErrorKind::Cut => ModelErrorKind::Cut,
        _ => ModelErrorKind::Protocol,
    };
    let unsent = error.is_unsent();
    let error = ModelError::new(kind, error.to_string()).with_source(error);
    if unsent { error.unbilled() } else { error }
}

/// An answer that breaks the rules of the API's stream.
pub(crate) fn protocol(what: impl std::fmt::Display) -> ModelError {
    ModelError::new(ModelErrorKind::Protocol, format!("the API broke its protocol: {what}"))
}

fn error(status: Option<u16>, detail: ErrorDetail, secrets: &Secrets) -> ModelError {
    let text = detail.message.unwrap_or_default();
    let kind = classify(status, detail.kind.as_deref().unwrap_or_default(), &text);
    let what = match kind {
        ModelErrorKind::Authentication => "the API did not accept the key; check ANTHROPIC_API_KEY",
        ModelErrorKind::PermissionDenied => "the key may not do this",
        ModelErrorKind::Billing => "credit or plan is exhausted; see the billing page of the account",
        ModelErrorKind::NotFound => "no such model or endpoint; check the model name and ANTHROPIC_BASE_URL",
        ModelErrorKind::PromptTooLong => "the prompt does not fit the context window",
        ModelErrorKind::RequestTooLarge => "the request is too large for the API",
        ModelErrorKind::RateLimited => "too many requests or tokens for now",
        ModelErrorKind::Overloaded => "the API is overloaded",
        ModelErrorKind::Timeout => "the API did not answer in time",
        ModelErrorKind::Server => "the API failed",
        ModelErrorKind::Configuration => "the base URL answers with a redirect; set ANTHROPIC_BASE_URL to its target",
        _ => "the API refused the request",
    };
    let status = status.map_or_else(String::new, |status| format!(" ({status})"));
    let text = readable(&text);
    let message = if text.is_empty() { format!("{what}{status}") } else { format!("{what}{status}: {text}") };
    ModelError::new(kind, secrets.redact(message))
}

/// The text on one line, shortened. Bodies of proxies can be whole HTML pages.
fn readable(text: &str) -> String {
    let mut line = String::new();
    for word in text.split(|char: char| char.is_whitespace() || char.is_control()).filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    match line.char_indices().nth(MAX_TEXT) {
        Some((at, _)) => {
            line.truncate(at);
            line.push('…');
            line
        }
        None => line,
    }
}

/// The type of the error is the most precise. The status decides where the type is general
/// or missing. The text only separates what the API puts into one class.
fn classify(status: Option<u16>, kind: &str, text: &str) -> ModelErrorKind {
    let kind = match kind {
        "authentication_error" => ModelErrorKind::Authentication,
        "billing_error" => ModelErrorKind::Billing,
        "permission_error" => ModelErrorKind::PermissionDenied,
        "not_found_error" => ModelErrorKind::NotFound,
        "request_too_large" => ModelErrorKind::RequestTooLarge,
        "rate_limit_error" => ModelErrorKind::RateLimited,
        "timeout_error" => ModelErrorKind::Timeout,
        "overloaded_error" => ModelErrorKind::Overloaded,
        _ => match (status, kind) {
            (Some(status), _) => by_status(status),
            (None, "invalid_request_error") => ModelErrorKind::InvalidRequest,
            (None, _) => ModelErrorKind::Server,
        },
    };
    let text = text.to_lowercase();
    let has_one_of = |parts: &[&str]| parts.iter().any(|part| text.contains(part));
    match kind {
        ModelErrorKind::InvalidRequest | ModelErrorKind::RequestTooLarge if has_one_of(TOO_LONG) => {
            ModelErrorKind::PromptTooLong
        }
        ModelErrorKind::InvalidRequest | ModelErrorKind::RateLimited | ModelErrorKind::PermissionDenied
            if has_one_of(BILLING) =>
        {
            ModelErrorKind::Billing
        }
        kind => kind,
    }
}

const TOO_LONG: &[&str] = &[
    "prompt is too long",
    "input is too long",
    "exceed context limit",
    "exceeds the context",
    "context window",
    "context_length_exceeded",
];

const BILLING: &[&str] = &[
    "credit balance is too low",
    "usage limits",
    "insufficient_quota",
    "exceeded your current quota",
    "extra usage is required",
    "spend limit",
];

fn by_status(status: u16) -> ModelErrorKind {
    match status {
        300..=399 => ModelErrorKind::Configuration,
        401 => ModelErrorKind::Authentication,
        402 => ModelErrorKind::Billing,
        403 => ModelErrorKind::PermissionDenied,
        404 => ModelErrorKind::NotFound,
        // The last is that of a gateway which no longer waited for the answer.
        408 | 504 | 524 => ModelErrorKind::Timeout,
        413 => ModelErrorKind::RequestTooLarge,
        429 => ModelErrorKind::RateLimited,
        503 | 529 => ModelErrorKind::Overloaded,
        400..=499 => ModelErrorKind::InvalidRequest,
        _ => ModelErrorKind::Server,
    }
}
