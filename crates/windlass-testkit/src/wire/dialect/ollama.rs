//! The chat of Ollama's own API. Source: the types of the Python package `ollama`, and the pages of the API.

use std::sync::LazyLock;

use bytes::Bytes;
use serde_json::{Value, json};

use super::{
    super::{
        Answer, Asked, Failure, FailureKind, RecordedRequest, Said,
        answer::{Finish, Part},
        rules::{BrokenRules, items, text, tool_names},
        schema::{self, LazySchema},
    },
    framing::{ErrorAnswer, ordered},
};

pub(super) static SHAPE: LazySchema = LazyLock::new(|| schema::compile(include_str!("../schema/ollama-chat.json")));

/// Members of the body that the server accepts and that the Python package does not have (`api/types.go` of the
/// server).
const ADDED: &[&str] = &["shift", "truncate"];

pub(super) fn pieces(answer: &Answer) -> Vec<Bytes> {
    let mut pieces: Vec<Bytes> = Vec::new();
    let mut send = |message: Value, end: &[(&str, Value)]| {
        let mut members = vec![
            ("model", Value::from(answer.model.as_str())),
            ("created_at", "2026-11-22T10:00:00.123456789Z".into()),
            ("message", message),
            ("done", (!end.is_empty()).into()),
        ];
        members.extend(end.iter().cloned());
        pieces.push(format!("{}\n", ordered(&members)).into());
    };
    let mut calls = 0;
    for part in &answer.parts {
        match part {
            Part::Text(deltas) => {
                deltas.iter().for_each(|text| send(json!({"role": "assistant", "content": text}), &[]));
            }
            Part::Reasoning { text, .. } => {
                let message = |text: &String| json!({"role": "assistant", "content": "", "thinking": text});
                text.iter().for_each(|text| send(message(text), &[]));
            }
            Part::Call { id, name, input } => {
                let arguments: Value = serde_json::from_str(&input.concat()).unwrap_or_else(|_| json!({}));
                let function = json!({"index": calls, "name": name, "arguments": arguments});
                let call = json!({"id": id, "function": function});
                send(json!({"role": "assistant", "content": "", "tool_calls": [call]}), &[]);
                calls += 1;
            }
        }
    }
    let reason = if answer.finish == Finish::MaxTokens { "length" } else { "stop" };
    let end = [
        ("done_reason", reason.into()),
        ("total_duration", 4_883_583_458_u64.into()),
        ("load_duration", 1_334_875.into()),
        ("prompt_eval_count", answer.tokens.input.into()),
        ("prompt_eval_duration", 342_546_000.into()),
        ("eval_count", answer.tokens.output.into()),
        ("eval_duration", 4_535_599_000_u64.into()),
    ];
    send(json!({"role": "assistant", "content": ""}), &end);
    pieces
}

pub(super) fn failure(failure: &Failure) -> Bytes {
    format!("{}\n", error(failure).body).into()
}

pub(super) fn error(failure: &Failure) -> ErrorAnswer {
    let (status, words) = match failure.kind {
        FailureKind::Invalid => (400, "the request is not valid"),
        FailureKind::Authentication => (401, "unauthorized"),
        FailureKind::Overflow => (400, "the input length exceeds the context length"),
        FailureKind::RateLimited => (429, "too many requests"),
        FailureKind::Quota => (
            429,
            "you (wire) have reached your weekly usage limit, upgrade for higher limits: https://ollama.com/upgrade",
        ),
        FailureKind::Overloaded => (503, "server busy, please try again.  maximum pending requests exceeded"),
        FailureKind::Server => (500, "model runner has unexpectedly stopped"),
    };
    let wait = failure.wait.map(|wait| ("retry-after", wait.as_secs().to_string()));
    ErrorAnswer { status, headers: wait.into_iter().collect(), body: json!({"error": failure.words(words)}) }
}

pub(super) fn without_additions(mut body: Value) -> Value {
    if let Some(members) = body.as_object_mut() {
        ADDED.iter().for_each(|name| drop(members.remove(*name)));
    }
    // Ids of calls are given and accepted since 0.12; the Python package does not have them.
    for message in body.get_mut("messages").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(message) = message.as_object_mut() {
            message.remove("tool_call_id");
        }
        for call in message.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten() {
            call.as_object_mut().and_then(|call| call.remove("id"));
            call.get_mut("function").and_then(Value::as_object_mut).and_then(|function| function.remove("index"));
        }
    }
    body
}

pub(super) fn read(_: &RecordedRequest, body: &Value, faults: &mut BrokenRules) -> Asked {
    let mut asked = Asked { model: text(body, "model").to_owned(), ..Asked::default() };
    let name = |tool: &Value| text(tool.get("function").unwrap_or(&Value::Null), "name").to_owned();
    asked.tools = items(body, "tools").iter().map(name).collect();
    tool_names(&asked.tools, |name| !name.is_empty(), faults);
    let mut open: Vec<(String, String)> = Vec::new();
    for (at, message) in items(body, "messages").iter().enumerate() {
        let words = text(message, "content").to_owned();
        if text(message, "role") == "tool" {
            // Results are matched by id or name, and else by their order.
            let id = text(message, "tool_call_id");
            let named = text(message, "tool_name");
            let found = open
                .iter()
                .position(|(open, name)| if id.is_empty() { named.is_empty() || name == named } else { open == id });
            match found {
                Some(found) => {
                    let (id, _) = open.remove(found);
                    asked.said.push(Said::Result { id, text: words });
                }
                None => faults.add(format!("messages[{at}]: a result of no call")),
            }
            continue;
        }
        faults.unless(open.is_empty(), || format!("messages[{at}]: calls without results: {open:?}"));
        match text(message, "role") {
            "system" => asked.said.push(Said::System(words)),
            "user" => asked.said.push(Said::User(words)),
            _ => open = assistant(message, at, words, &mut asked, faults),
        }
    }
    faults.unless(open.is_empty(), || format!("calls without results: {open:?}"));
    asked
}

/// Returns the id and name of each call.
fn assistant(
    message: &Value,
    at: usize,
    words: String,
    asked: &mut Asked,
    faults: &mut BrokenRules,
) -> Vec<(String, String)> {
    let thinking = text(message, "thinking");
    if !thinking.is_empty() {
        asked.said.push(Said::Reasoning(thinking.to_owned()));
    }
    if !words.is_empty() {
        asked.said.push(Said::Assistant(words));
    }
    let mut calls = Vec::new();
    for (position, call) in items(message, "tool_calls").iter().enumerate() {
        let function = call.get("function").unwrap_or(&Value::Null);
        let id = match text(call, "id") {
            "" => format!("message {at}, call {position}"),
            id => id.to_owned(),
        };
        let name = text(function, "name").to_owned();
        let input = function.get("arguments").cloned().unwrap_or_default();
        faults.unless(input.is_object(), || format!("messages[{at}]: arguments are an object, not {input}"));
        asked.said.push(Said::Call { id: id.clone(), name: name.clone(), input });
        calls.push((id, name));
    }
    calls
}
