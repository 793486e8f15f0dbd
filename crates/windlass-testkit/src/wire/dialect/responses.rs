//! The Responses API. Source: the types of the Python package `openai`, and the pages of the API.

mod rules;

use std::sync::LazyLock;

use bytes::Bytes;
use serde_json::{Value, json};

use super::super::{
    Answer, Failure, FailureKind,
    answer::{Finish, Part, Tokens},
    schema::{self, LazySchema},
};
pub(super) use rules::read;

pub(super) static SHAPE: LazySchema =
    LazyLock::new(|| schema::compile(include_str!("../schema/openai-responses.json")));

pub(super) fn pieces(answer: &Answer, number: usize) -> Vec<Bytes> {
    let mut stream = ResponsesWriter { pieces: Vec::new(), output: Vec::new(), id: format!("resp_wire{number:06}") };
    let begun = stream.response(answer, "in_progress");
    stream.send("response.created", json!({"response": begun}));
    stream.send("response.in_progress", json!({"response": begun}));
    for part in &answer.parts {
        match part {
            Part::Reasoning { text, token } => stream.reasoning(text, token),
            Part::Text(deltas) => stream.message(deltas, answer.finish == Finish::Refusal),
            Part::Call { id, name, input } => stream.call(id, name, input),
        }
    }
    let (event, status) = match answer.finish {
        Finish::Done | Finish::Refusal => ("response.completed", "completed"),
        Finish::MaxTokens | Finish::Filtered | Finish::MalformedCall => ("response.incomplete", "incomplete"),
    };
    let done = stream.response(answer, status);
    stream.send(event, json!({"response": done}));
    stream.pieces
}

pub(super) fn failure(failure: &Failure, answer: &Answer) -> Bytes {
    let mut stream = ResponsesWriter { pieces: Vec::new(), output: Vec::new(), id: "resp_wire000000".to_owned() };
    let mut response = stream.response(answer, "failed");
    let (code, words) = match failure.kind {
        FailureKind::Invalid => ("invalid_prompt", "Invalid prompt."),
        FailureKind::Overflow => (
            "context_length_exceeded",
            "Your input exceeds the context window of this model. Please adjust your input and try again.",
        ),
        FailureKind::RateLimited => (
            "rate_limit_exceeded",
            "Rate limit reached for gpt-wire in organization org-wire on tokens per min (TPM): Limit 30000, Used 29000, Requested 5000. Please try again in 8s.",
        ),
        FailureKind::Quota => {
            ("insufficient_quota", "You exceeded your current quota, please check your plan and billing details.")
        }
        FailureKind::Overloaded => {
            ("server_is_overloaded", "Our servers are currently overloaded. Please try again later.")
        }
        FailureKind::Authentication | FailureKind::Server => {
            ("server_error", "An error occurred while processing your request. You can retry your request.")
        }
    };
    if let Some(members) = response.as_object_mut() {
        members.insert("error".to_owned(), json!({"code": code, "message": failure.words(words)}));
    }
    stream.send("response.failed", json!({"response": response}));
    stream.pieces.pop().unwrap_or_default()
}

struct ResponsesWriter {
    pieces: Vec<Bytes>,
    output: Vec<Value>,
    id: String,
}

impl ResponsesWriter {
    #[expect(clippy::needless_pass_by_value, reason = "callers pass json!({..}) literals")]
    fn send(&mut self, kind: &str, members: Value) {
        let mut ordered = vec![("type", Value::from(kind)), ("sequence_number", Value::from(self.pieces.len()))];
        if let Value::Object(members) = &members {
            ordered.extend(members.iter().map(|(name, value)| (name.as_str(), value.clone())));
        }
        self.pieces.push(format!("event: {kind}\ndata: {}\n\n", super::framing::ordered(&ordered)).into());
    }

    fn response(&self, answer: &Answer, status: &str) -> Value {
        let reason = match answer.finish {
            Finish::MaxTokens => json!({"reason": "max_output_tokens"}),
            Finish::Filtered | Finish::MalformedCall => json!({"reason": "content_filter"}),
            Finish::Done | Finish::Refusal => Value::Null,
        };
        let is_over = status == "completed" || status == "incomplete";
        json!({
            "id": self.id, "object": "response", "created_at": 1_795_000_000, "status": status, "background": false,
            "error": null, "incomplete_details": if is_over { reason } else { Value::Null }, "instructions": null,
            "max_output_tokens": null, "max_tool_calls": null, "model": answer.model, "output": self.output,
            "parallel_tool_calls": true, "previous_response_id": null, "prompt_cache_key": null,
            "reasoning": {"effort": "medium", "summary": "detailed"}, "safety_identifier": null,
            "service_tier": if is_over { "default" } else { "auto" }, "store": false, "temperature": 1.0,
            "text": {"format": {"type": "text"}, "verbosity": "medium"}, "tool_choice": "auto", "tools": [],
            "top_logprobs": 0, "top_p": 1.0, "truncation": "disabled", "user": null, "metadata": {},
            "usage": if is_over { usage(answer.tokens) } else { Value::Null },
        })
    }

    /// Sends an item from its beginning to its end, with the events that `between` sends.
    fn item(&mut self, begun: &Value, done: &Value, between: impl FnOnce(&mut Self, usize)) {
        let index = self.output.len();
        self.send("response.output_item.added", json!({"output_index": index, "item": begun}));
        between(self, index);
        self.send("response.output_item.done", json!({"output_index": index, "item": done}));
        self.output.push(done.clone());
    }

    fn item_id(&self, prefix: &str) -> String {
        let number = self.id.trim_start_matches("resp_wire");
        format!("{prefix}_0wire{number}{:04}", self.output.len())
    }

    fn reasoning(&mut self, deltas: &[String], token: &str) {
        let id = self.item_id("rs");
        let text = deltas.concat();
        let summary = if text.is_empty() { json!([]) } else { json!([{"type": "summary_text", "text": text}]) };
        // The token at the beginning differs from that at the end.
        let begun = json!({"id": id, "type": "reasoning", "encrypted_content": "gAAAAAunfinished", "summary": []});
        let done = json!({"id": id, "type": "reasoning", "encrypted_content": token, "summary": summary});
        self.item(&begun, &done, |stream, index| {
            if text.is_empty() {
                return;
            }
            let at = |more: Value| with(json!({"item_id": id, "output_index": index, "summary_index": 0}), more);
            let part = |text: &str| json!({"part": {"type": "summary_text", "text": text}});
            stream.send("response.reasoning_summary_part.added", at(part("")));
            for delta in deltas {
                let delta = json!({"delta": delta, "obfuscation": "x3Jd"});
                stream.send("response.reasoning_summary_text.delta", at(delta));
            }
            stream.send("response.reasoning_summary_text.done", at(json!({"text": text})));
            stream.send("response.reasoning_summary_part.done", at(part(&text)));
        });
    }

    fn message(&mut self, deltas: &[String], is_refusal: bool) {
        let id = self.item_id("msg");
        let part = |text: &str| match is_refusal {
            true => json!({"type": "refusal", "refusal": text}),
            false => json!({"type": "output_text", "annotations": [], "logprobs": [], "text": text}),
        };
        let item = |status: &str, content: Value| {
            json!({"id": id, "type": "message", "status": status, "content": content, "phase": "final_answer",
                "role": "assistant"})
        };
        let text = deltas.concat();
        let done = item("completed", json!([part(&text)]));
        self.item(&item("in_progress", json!([])), &done, |stream, index| {
            let at = |more: Value| with(json!({"item_id": id, "output_index": index, "content_index": 0}), more);
            stream.send("response.content_part.added", at(json!({"part": part("")})));
            for delta in deltas {
                match is_refusal {
                    true => stream.send("response.refusal.delta", at(json!({"delta": delta}))),
                    false => {
                        let delta = json!({"delta": delta, "logprobs": [], "obfuscation": "Q1"});
                        stream.send("response.output_text.delta", at(delta));
                    }
                }
            }
            match is_refusal {
                true => stream.send("response.refusal.done", at(json!({"refusal": text}))),
                false => stream.send("response.output_text.done", at(json!({"text": text, "logprobs": []}))),
            }
            stream.send("response.content_part.done", at(json!({"part": part(&text)})));
        });
    }

    fn call(&mut self, call_id: &str, name: &str, input: &[String]) {
        let id = self.item_id("fc");
        let arguments = input.concat();
        let item = |status: &str, arguments: &str| {
            json!({"id": id, "type": "function_call", "status": status, "arguments": arguments, "call_id": call_id,
                "name": name})
        };
        self.item(&item("in_progress", ""), &item("completed", &arguments), |stream, index| {
            let at = |more: Value| with(json!({"item_id": id, "output_index": index}), more);
            for delta in input {
                let delta = json!({"delta": delta, "obfuscation": "kS9"});
                stream.send("response.function_call_arguments.delta", at(delta));
            }
            let done = json!({"arguments": arguments, "name": name});
            stream.send("response.function_call_arguments.done", at(done));
        });
    }
}

fn with(mut members: Value, more: Value) -> Value {
    if let (Value::Object(members), Value::Object(more)) = (&mut members, more) {
        members.extend(more);
    }
    members
}

fn usage(tokens: Tokens) -> Value {
    json!({
        "input_tokens": tokens.input,
        "input_tokens_details": {"cached_tokens": tokens.cached, "cache_write_tokens": 0},
        "output_tokens": tokens.output,
        "output_tokens_details": {"reasoning_tokens": tokens.reasoning},
        "total_tokens": tokens.input + tokens.output,
    })
}
