//! Errors of endpoints as [`ModelError`]s.

use crate::error::{OpenAiErrorDetail, request_id};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::time::SystemTime;
use windlass_http::HeaderMap;
use windlass_http::provider::{Failure, Secrets, Vendor, retry_after, should_retry, with_window};
use windlass_model::ModelError;
use windlass_types::ModelErrorKind;

/// Reads the error of an answer with a status other than 200.
#[expect(clippy::disallowed_methods, reason = "a server may name the time of a repeat as a date")]
pub(super) fn from_answer(
    vendor: &Vendor,
    status: u16,
    headers: &HeaderMap,
    body: &str,
    secrets: &Secrets,
) -> ModelError {
    let error = with_window(read(vendor, Some(status), body, secrets), body);
    let wait = retry_after(headers, SystemTime::now()).or(error.retry_after);
    error.with_retry_after(wait).with_should_retry(should_retry(headers)).with_request_id(request_id(headers))
}

/// Reads the error of a body or a chunk that came with status 200. A code that is an HTTP status is used as the status.
pub(super) fn from_chunk(vendor: &Vendor, data: &str, secrets: &Secrets) -> ModelError {
    read(vendor, None, data, secrets)
}

fn read(vendor: &Vendor, status: Option<u16>, body: &str, secrets: &Secrets) -> ModelError {
    let Some(detail) = OpenAiErrorDetail::read(body) else {
        return vendor.error(&Failure { status, code: "", text: body }, secrets);
    };
    let code = detail.code();
    let number = code.parse::<u16>().ok().filter(|code| (400..600).contains(code));
    // A router's own message says only that its provider failed; the provider's text is beside it.
    let text = match behind(body) {
        Some(behind) => format!("{}: {behind}", detail.message()),
        None if detail.message().is_empty() => body.to_owned(),
        None => detail.message().into_owned(),
    };
    let failure = Failure { status: status.or(number), code: &code, text: &text };
    if is_lost_prompt(&text) {
        return vendor.error_of(ModelErrorKind::PromptTooLong, &failure, secrets);
    }
    let mut error = vendor.error(&failure, secrets);
    // The status of the answer itself was 200.
    error.status = error.status.filter(|_| status.is_some());
    error
}

/// `true` for Ollama's error about a prompt that it has cut until no user message was left (ollama/ollama#18107).
fn is_lost_prompt(text: &str) -> bool {
    text.contains("no user query found in messages")
}

/// Returns the error text of a router's provider (OpenRouter, "Errors": `metadata.raw`).
fn behind(body: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct ChatErrorBody<'a> {
        #[serde(borrow)]
        error: Error<'a>,
    }
    #[derive(Deserialize)]
    struct Error<'a> {
        #[serde(borrow)]
        metadata: RouterMetadata<'a>,
    }
    #[derive(Deserialize)]
    struct RouterMetadata<'a> {
        #[serde(borrow)]
        raw: &'a RawValue,
    }
    let body: ChatErrorBody<'_> = serde_json::from_str(body).ok()?;
    let raw = body.error.metadata.raw.get();
    Some(serde_json::from_str(raw).unwrap_or_else(|_| raw.to_owned())).filter(|raw| !raw.is_empty() && raw != "null")
}
