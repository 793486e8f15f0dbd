//! `ConverseStream` of Amazon Bedrock. Source: the service model of `bedrock-runtime` in the Python package `botocore`,
//! and the pages of AWS on event streams.

mod frame;
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
    framing::ErrorAnswer,
};
pub(super) use rules::read;

pub(super) static SHAPE: LazySchema =
    LazyLock::new(|| schema::compile(include_str!("../schema/bedrock-converse.json")));

pub(super) fn pieces(answer: &Answer) -> Vec<Bytes> {
    let mut pieces = vec![event("messageStart", json!({"role": "assistant"}))];
    for (index, part) in answer.parts.iter().enumerate() {
        let mut delta = |delta: Value| {
            pieces.push(event("contentBlockDelta", json!({"contentBlockIndex": index, "delta": delta})));
        };
        match part {
            // Text and reasoning have no event for their beginning.
            Part::Text(deltas) => deltas.iter().for_each(|text| delta(json!({"text": text}))),
            Part::Reasoning { text, token } => {
                text.iter().for_each(|text| delta(json!({"reasoningContent": {"text": text}})));
                delta(json!({"reasoningContent": {"signature": token}}));
            }
            Part::Call { id, name, input } => {
                let start = json!({"toolUse": {"toolUseId": id, "name": name}});
                pieces.push(event("contentBlockStart", json!({"contentBlockIndex": index, "start": start})));
                for text in input {
                    let delta = json!({"toolUse": {"input": text}});
                    pieces.push(event("contentBlockDelta", json!({"contentBlockIndex": index, "delta": delta})));
                }
            }
        }
        pieces.push(event("contentBlockStop", json!({"contentBlockIndex": index})));
    }
    pieces.push(event("messageStop", json!({"stopReason": reason(answer)})));
    // Usage is sent after the end of the message.
    pieces.push(event("metadata", json!({"usage": usage(answer.tokens), "metrics": {"latencyMs": 451}})));
    pieces
}

fn event(name: &str, mut payload: Value) -> Bytes {
    // The service pads its payloads.
    if let Some(members) = payload.as_object_mut() {
        members.insert("p".to_owned(), "abcdefghijk".into());
    }
    frame::message(
        &[(":event-type", name), (":content-type", "application/json"), (":message-type", "event")],
        &payload,
    )
}

pub(super) fn unknown_event() -> Bytes {
    event("futureEvent", json!({"future": {"a": [1]}}))
}

fn reason(answer: &Answer) -> &'static str {
    match answer.finish {
        Finish::Done if answer.has_calls() => "tool_use",
        Finish::Done => "end_turn",
        Finish::MaxTokens => "max_tokens",
        Finish::Refusal => "guardrail_intervened",
        Finish::Filtered => "content_filtered",
        Finish::MalformedCall => "malformed_tool_use",
    }
}

fn usage(tokens: Tokens) -> Value {
    json!({
        "inputTokens": tokens.input - tokens.cached, "outputTokens": tokens.output,
        "totalTokens": tokens.input + tokens.output, "cacheReadInputTokens": tokens.cached, "cacheWriteInputTokens": 0,
    })
}

fn kind(failure: &Failure) -> (u16, &'static str, &'static str, &'static str) {
    match failure.kind {
        FailureKind::Invalid => (400, "ValidationException", "validationException", "The request is not valid."),
        FailureKind::Authentication => (
            403,
            "UnrecognizedClientException",
            "validationException",
            "The security token included in the request is invalid.",
        ),
        FailureKind::Overflow => {
            (400, "ValidationException", "validationException", "Input is too long for requested model.")
        }
        FailureKind::RateLimited => {
            (429, "ThrottlingException", "throttlingException", "Too many tokens, please wait before trying again.")
        }
        FailureKind::Quota => (
            429,
            "ThrottlingException",
            "throttlingException",
            "Too many tokens per day, please wait before trying again.",
        ),
        FailureKind::Overloaded => (
            503,
            "ServiceUnavailableException",
            "serviceUnavailableException",
            "Bedrock is unable to process your request.",
        ),
        FailureKind::Server => (
            500,
            "InternalServerException",
            "internalServerException",
            "The system encountered an unexpected error during processing. Try your request again.",
        ),
    }
}

pub(super) fn failure(failure: &Failure) -> Bytes {
    let (_, _, name, words) = kind(failure);
    let payload = json!({"message": failure.words(words)});
    let headers = [(":exception-type", name), (":content-type", "application/json"), (":message-type", "exception")];
    frame::message(&headers, &payload)
}

pub(super) fn error(failure: &Failure) -> ErrorAnswer {
    let (status, name, _, words) = kind(failure);
    let headers = vec![("x-amzn-errortype", name.to_owned()), ("x-amzn-requestid", "req-wire".to_owned())];
    ErrorAnswer { status, headers, body: json!({"message": failure.words(words)}) }
}
