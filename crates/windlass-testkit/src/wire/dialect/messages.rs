//! The Messages API. Source: the types of the Python package `anthropic`, and the pages of the API.

mod vertex;

use std::sync::LazyLock;

use bytes::Bytes;
use serde_json::{Value, json};

use super::{
    super::{
        Answer, Asked, Event, Failure, FailureKind, Message, RecordedRequest, Said,
        answer::{Finish, Part},
        rules::{BrokenRules, CallPairs, is_plain, items, text, tool_names, words},
        schema::{self, LazySchema},
    },
    framing::ErrorAnswer,
};
pub(super) use vertex::from_vertex;

pub(super) static SHAPE: LazySchema =
    LazyLock::new(|| schema::compile(include_str!("../schema/anthropic-messages.json")));

pub(super) fn pieces(answer: &Answer, number: usize) -> Vec<Bytes> {
    let tokens = answer.tokens;
    let mut message = Message::new()
        .model(&answer.model)
        .usage(tokens.input.saturating_sub(tokens.cached), tokens.output)
        .cache_usage(tokens.cached, 0);
    for part in &answer.parts {
        message = match part {
            Part::Text(deltas) => message.text_deltas(deltas.iter().map(String::as_str)),
            Part::Reasoning { text, token } => message.thinking(&text.concat(), token),
            Part::Call { id, name, input } => message.tool_use_text(id, name, &input.concat()),
        };
    }
    let message = match answer.finish {
        Finish::Done => message,
        Finish::MaxTokens => message.stop_reason("max_tokens"),
        Finish::Refusal | Finish::Filtered | Finish::MalformedCall => message.stop_reason("refusal"),
    };
    message.events(&format!("msg_wire_{number:06}")).iter().map(|event| event.frame().into()).collect()
}

fn kind(failure: &Failure) -> (u16, &'static str, &'static str) {
    match failure.kind {
        FailureKind::Invalid => (400, "invalid_request_error", "The request is not valid."),
        FailureKind::Authentication => (401, "authentication_error", "invalid x-api-key"),
        FailureKind::Overflow => (400, "invalid_request_error", "prompt is too long: 205007 tokens > 200000 maximum"),
        FailureKind::RateLimited => (
            429,
            "rate_limit_error",
            "This request would exceed your organization's rate limit of 50 requests per minute.",
        ),
        FailureKind::Quota => (
            400,
            "invalid_request_error",
            "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.",
        ),
        FailureKind::Overloaded => (529, "overloaded_error", "Overloaded"),
        FailureKind::Server => (500, "api_error", "Internal server error"),
    }
}

fn body(failure: &Failure) -> Value {
    let (_, kind, words) = kind(failure);
    json!({"type": "error", "error": {"type": kind, "message": failure.words(words)}, "request_id": "req_wire"})
}

pub(super) fn failure(failure: &Failure) -> Bytes {
    Event::new(&body(failure)).frame().into()
}

pub(super) fn error(failure: &Failure) -> ErrorAnswer {
    let wait = failure.wait.map(|wait| ("retry-after", wait.as_secs().to_string()));
    let headers = wait.into_iter().chain([("request-id", "req_wire".to_owned())]).collect();
    ErrorAnswer { status: kind(failure).0, headers, body: body(failure) }
}

pub(super) fn read(request: &RecordedRequest, body: &Value, faults: &mut BrokenRules) -> Asked {
    faults.unless(request.header("anthropic-version").is_some(), || "anthropic-version: header is required".to_owned());
    let tools: Vec<String> = items(body, "tools").iter().map(|tool| text(tool, "name").to_owned()).collect();
    tool_names(&tools, |name| is_plain(name, 128), faults);
    limits(body, faults);
    let mut asked = Asked { model: text(body, "model").to_owned(), tools, ..Asked::default() };
    for section in items(body, "system") {
        asked.said.push(Said::System(words(section)));
    }
    let messages = items(body, "messages");
    faults.unless(messages.first().is_some_and(|first| text(first, "role") == "user"), || {
        "messages: first message must use the \"user\" role".to_owned()
    });
    let mut pairs = CallPairs::default();
    for message in messages {
        read_message(message, &mut asked, &mut pairs, faults);
    }
    pairs.settled(faults);
    asked
}

/// Checks rules on figures that the shape cannot express.
fn limits(body: &Value, faults: &mut BrokenRules) {
    let most = body.get("max_tokens").and_then(Value::as_u64).unwrap_or_default();
    faults.unless(most >= 1, || "max_tokens: must be at least 1".to_owned());
    if let Some(budget) = body.pointer("/thinking/budget_tokens").and_then(Value::as_u64) {
        faults.unless(budget >= 1024, || "thinking.budget_tokens: must be at least 1024".to_owned());
        faults.unless(budget < most, || "`max_tokens` must be greater than `thinking.budget_tokens`".to_owned());
    }
    let kind = body.pointer("/thinking/type").and_then(Value::as_str).unwrap_or_default();
    let is_forced = matches!(body.pointer("/tool_choice/type").and_then(Value::as_str), Some("any" | "tool"));
    faults.unless(!is_forced || !matches!(kind, "enabled" | "adaptive"), || {
        "Thinking may not be enabled when tool_choice forces tool use.".to_owned()
    });
    faults.unless(kind != "enabled" || !is_after_budgets(text(body, "model")), || {
        "thinking.type.enabled is not supported for this model. Use thinking.type.adaptive.".to_owned()
    });
    faults.unless(kind != "adaptive" || !is_before_adaptive(text(body, "model")), || {
        "adaptive thinking is not supported on this model".to_owned()
    });
    let marks = body.to_string().matches("\"cache_control\":{").count();
    faults.unless(marks <= 4, || format!("A maximum of 4 blocks with cache_control may be provided. Found {marks}."));
}

/// `true` for models that reason only within a budget. Source: the page of the API on adaptive thinking.
fn is_before_adaptive(model: &str) -> bool {
    let names = ["claude-3", "claude-opus-4-0", "claude-opus-4-1", "claude-opus-4-2", "claude-opus-4-5"];
    let others = ["claude-sonnet-4-0", "claude-sonnet-4-2", "claude-sonnet-4-5", "claude-haiku-4-5"];
    names.iter().chain(&others).any(|name| model.starts_with(name))
}

/// `true` for models that only have adaptive reasoning. Source: the same page.
fn is_after_budgets(model: &str) -> bool {
    let names = ["claude-opus-4-7", "claude-opus-4-8", "claude-opus-5", "claude-sonnet-5", "claude-fable-5"];
    names.iter().any(|name| model.starts_with(name))
}

fn read_message(message: &Value, asked: &mut Asked, pairs: &mut CallPairs, faults: &mut BrokenRules) {
    let role = text(message, "role");
    if role == "assistant" {
        pairs.settled(faults);
    }
    let content = message.get("content").unwrap_or(&Value::Null);
    if let Value::String(words) = content {
        asked.said.push(by(role, words.clone()));
    }
    let mut after_results = false;
    for block in content.as_array().into_iter().flatten() {
        let kind = text(block, "type");
        after_results |= kind != "tool_result";
        match kind {
            "text" => {
                let words = text(block, "text");
                faults.unless(!words.trim().is_empty(), || {
                    "text content blocks must contain non-whitespace text".to_owned()
                });
                asked.said.push(by(role, words.to_owned()));
            }
            "thinking" => asked.said.push(Said::Reasoning(text(block, "signature").to_owned())),
            "redacted_thinking" => asked.said.push(Said::Reasoning(text(block, "data").to_owned())),
            "tool_use" => {
                let id = text(block, "id");
                faults.unless(is_plain(id, 64), || format!("tool_use.id: {id:?} does not match ^[a-zA-Z0-9_-]+$"));
                pairs.call(id, faults);
                let input = block.get("input").cloned().unwrap_or_default();
                asked.said.push(Said::Call { id: id.to_owned(), name: text(block, "name").to_owned(), input });
            }
            "tool_result" => {
                faults.unless(!after_results, || "`tool_result` blocks must come first in their message".to_owned());
                let id = text(block, "tool_use_id");
                pairs.result(id, faults);
                let text = block.get("content").map(words).unwrap_or_default();
                asked.said.push(Said::Result { id: id.to_owned(), text });
            }
            _ => {}
        }
    }
    if role == "user" {
        pairs.settled(faults);
    }
}

fn by(role: &str, words: String) -> Said {
    match role {
        "assistant" => Said::Assistant(words),
        "system" => Said::System(words),
        _ => Said::User(words),
    }
}
