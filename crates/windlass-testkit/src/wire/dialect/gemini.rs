//! `streamGenerateContent` of the Gemini API. Source: the types of the Python package `google-genai`, and the pages of
//! the API.

mod rules;

use std::sync::LazyLock;

use bytes::Bytes;
use serde_json::{Value, json};

use super::{
    super::{
        Answer, Failure, FailureKind,
        answer::{Finish, Part, Tokens},
        schema::{self, LazySchema},
    },
    framing::{ErrorAnswer, ordered},
};
pub(super) use rules::{name_as_published, read};

pub(super) static SHAPE: LazySchema = LazyLock::new(|| schema::compile(include_str!("../schema/gemini.json")));

pub(super) fn pieces(answer: &Answer, number: usize) -> Vec<Bytes> {
    let mut parts = parts(answer);
    if parts.is_empty() {
        parts.push(json!({"text": ""}));
    }
    let last = parts.len() - 1;
    let chunk = |(at, part): (usize, Value)| {
        let mut candidate = json!({"content": {"parts": [part], "role": "model"}, "index": 0});
        if let (true, Some(members)) = (at == last, candidate.as_object_mut()) {
            members.insert("finishReason".to_owned(), reason(answer.finish).into());
        }
        let chunk = ordered(&[
            ("candidates", json!([candidate])),
            ("usageMetadata", usage(answer.tokens, at == last)),
            ("modelVersion", answer.model.as_str().into()),
            ("responseId", format!("resp-wire-{number:06}").into()),
        ]);
        format!("data: {chunk}\r\n\r\n").into()
    };
    parts.into_iter().enumerate().map(chunk).collect()
}

/// Returns the parts of an answer. A signature is on the part after its reasoning: on the call, or on an empty text.
/// Parallel calls after the first have none.
fn parts(answer: &Answer) -> Vec<Value> {
    let mut parts = Vec::new();
    let mut token: Option<&str> = None;
    for part in &answer.parts {
        match part {
            Part::Reasoning { text, token: own } => {
                flush(&mut parts, token.take());
                parts.extend(text.iter().map(|delta| json!({"text": delta, "thought": true})));
                token = Some(own);
            }
            Part::Text(deltas) => parts.extend(deltas.iter().map(|delta| json!({"text": delta}))),
            Part::Call { name, input, .. } => {
                let args: Value = serde_json::from_str(&input.concat()).unwrap_or_else(|_| json!({}));
                let mut part = json!({"functionCall": {"name": name, "args": args}});
                sign(&mut part, token.take());
                parts.push(part);
            }
        }
    }
    flush(&mut parts, token);
    parts
}

/// Ends reasoning that led to no call with its signature, on an empty text.
fn flush(parts: &mut Vec<Value>, token: Option<&str>) {
    if token.is_some() {
        let mut part = json!({"text": ""});
        sign(&mut part, token);
        parts.push(part);
    }
}

fn sign(part: &mut Value, token: Option<&str>) {
    if let (Some(token), Some(members)) = (token, part.as_object_mut()) {
        members.insert("thoughtSignature".to_owned(), token.into());
    }
}

fn reason(finish: Finish) -> &'static str {
    match finish {
        Finish::Done => "STOP",
        Finish::MaxTokens => "MAX_TOKENS",
        Finish::Refusal => "PROHIBITED_CONTENT",
        Finish::Filtered => "SAFETY",
        Finish::MalformedCall => "MALFORMED_FUNCTION_CALL",
    }
}

/// Returns the counts, which are of the whole answer so far, and are sent with every chunk.
fn usage(tokens: Tokens, is_last: bool) -> Value {
    let mut usage = json!({
        "promptTokenCount": tokens.input,
        "cachedContentTokenCount": tokens.cached,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": tokens.input}],
        "thoughtsTokenCount": tokens.reasoning,
        "totalTokenCount": tokens.input + tokens.reasoning,
    });
    if let (true, Some(members)) = (is_last, usage.as_object_mut()) {
        members.insert("candidatesTokenCount".to_owned(), (tokens.output - tokens.reasoning).into());
        members.insert("totalTokenCount".to_owned(), (tokens.input + tokens.output).into());
    }
    usage
}

pub(super) fn failure(failure: &Failure) -> Bytes {
    format!("data: {}\r\n\r\n", error(failure).body).into()
}

pub(super) fn error(failure: &Failure) -> ErrorAnswer {
    let (code, status, words) = match failure.kind {
        FailureKind::Invalid => (400, "INVALID_ARGUMENT", "Request contains an invalid argument."),
        FailureKind::Authentication => (400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."),
        FailureKind::Overflow => (
            400,
            "INVALID_ARGUMENT",
            "The input token count (1200012) exceeds the maximum number of tokens allowed (1048576).",
        ),
        FailureKind::RateLimited | FailureKind::Quota => (
            429,
            "RESOURCE_EXHAUSTED",
            "You exceeded your current quota, please check your plan and billing details. For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits.",
        ),
        FailureKind::Overloaded => (503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
        FailureKind::Server => (500, "INTERNAL", "An internal error has occurred. Please retry or report."),
    };
    let error = json!({"code": code, "message": failure.words(words), "status": status, "details": details(failure)});
    ErrorAnswer { status: code, headers: Vec::new(), body: json!({"error": error}) }
}

fn details(failure: &Failure) -> Value {
    let kind = |name: &str| format!("type.googleapis.com/google.rpc.{name}");
    let quota = |window: &str| {
        json!({"@type": kind("QuotaFailure"), "violations": [{
            "quotaMetric": "generativelanguage.googleapis.com/generate_content_free_tier_requests",
            "quotaId": format!("GenerateRequests{window}PerProjectPerModel-FreeTier"),
            "quotaDimensions": {"location": "global", "model": "gemini-wire"}, "quotaValue": "20"}]})
    };
    let wait = failure.wait.map(|wait| match failure.kind {
        // `RetryInfo` names the window of a minute, whatever quota is used up.
        FailureKind::Quota => json!({"@type": kind("ErrorInfo"), "reason": "RATE_LIMIT_EXCEEDED",
            "domain": "googleapis.com", "metadata": {"quotaResetDelay": format!("{}s", wait.as_secs())}}),
        _ => json!({"@type": kind("RetryInfo"), "retryDelay": format!("{}s", wait.as_secs())}),
    });
    let first = match failure.kind {
        FailureKind::Authentication => Some(json!({"@type": kind("ErrorInfo"), "reason": "API_KEY_INVALID",
            "domain": "googleapis.com", "metadata": {"service": "generativelanguage.googleapis.com"}})),
        FailureKind::RateLimited => Some(quota("PerMinute")),
        FailureKind::Quota => Some(quota("PerDay")),
        _ => None,
    };
    first.into_iter().chain(wait).collect()
}
