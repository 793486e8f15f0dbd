//! Chat Completions. Source: the types of the Python package `openai`, and for forms of other vendors their pages.

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

pub(super) static SHAPE: LazySchema = LazyLock::new(|| schema::compile(include_str!("../schema/openai-chat.json")));

/// Variants of Chat Completions, by the additions of vendors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChatForm {
    /// The form that OpenAI publishes: no reasoning.
    Plain,
    /// `reasoning_content`, as in DeepSeek, Z.ai, Qwen, Moonshot, xAI and older vLLM.
    ReasoningContent,
    /// `reasoning`, as in Groq, Together and newer vLLM.
    Reasoning,
    /// `reasoning` beside `reasoning_details`, as in OpenRouter.
    ReasoningDetails,
    /// `content` that is a list with parts of the type `thinking`, as in Mistral.
    ThinkingParts,
}

impl ChatForm {
    pub(super) fn replayed(self, text: &str, token: &str) -> String {
        if self == Self::ReasoningDetails { token.to_owned() } else { text.to_owned() }
    }

    pub(super) fn pieces(self, answer: &Answer, number: usize) -> Vec<Bytes> {
        let mut stream = ChatWriter { pieces: Vec::new(), model: answer.model.clone(), number };
        stream.delta(json!({"role": "assistant", "content": "", "refusal": null}));
        let mut calls = 0;
        for part in &answer.parts {
            match part {
                Part::Text(deltas) if answer.finish == Finish::Refusal => {
                    deltas.iter().for_each(|delta| stream.delta(json!({"refusal": delta})));
                }
                Part::Text(deltas) => deltas.iter().for_each(|delta| stream.delta(json!({"content": delta}))),
                Part::Reasoning { text, token } => self.reasoning(text, token, &mut stream),
                Part::Call { id, name, input } => {
                    let function = json!({"name": name, "arguments": ""});
                    let begun = json!({"index": calls, "id": id, "type": "function", "function": function});
                    stream.delta(json!({"tool_calls": [begun]}));
                    for piece in input {
                        let more = json!({"index": calls, "function": {"arguments": piece}});
                        stream.delta(json!({"tool_calls": [more]}));
                    }
                    calls += 1;
                }
            }
        }
        let reason = match answer.finish {
            Finish::Done | Finish::Refusal if answer.has_calls() => "tool_calls",
            Finish::Done | Finish::Refusal => "stop",
            Finish::MaxTokens => "length",
            Finish::Filtered | Finish::MalformedCall => "content_filter",
        };
        stream.chunk(json!([choice(json!({}), Value::from(reason))]), Value::Null);
        stream.chunk(json!([]), usage(answer.tokens));
        stream.pieces.push(Bytes::from_static(b"data: [DONE]\n\n"));
        stream.pieces
    }

    fn reasoning(self, deltas: &[String], token: &str, stream: &mut ChatWriter) {
        for delta in deltas {
            stream.delta(match self {
                Self::Plain => return,
                Self::ReasoningContent => json!({"content": null, "reasoning_content": delta}),
                Self::Reasoning => json!({"reasoning": delta}),
                Self::ReasoningDetails => json!({"content": "", "reasoning": delta, "reasoning_details":
                    [{"type": "reasoning.text", "text": delta, "format": "anthropic-claude-v1", "index": 0}]}),
                Self::ThinkingParts => json!({"content": [{"type": "thinking",
                    "thinking": [{"type": "text", "text": delta}]}]}),
            });
        }
        if self == Self::ReasoningDetails {
            stream.delta(json!({"content": "", "reasoning": null, "reasoning_details": [{"type": "reasoning.text",
                "signature": token, "format": "anthropic-claude-v1", "index": 0}]}));
        }
    }

    pub(super) fn failure(self, failure: &Failure) -> Bytes {
        format!("data: {}\n\n", error(failure, false).body).into()
    }
}

struct ChatWriter {
    pieces: Vec<Bytes>,
    model: String,
    number: usize,
}

impl ChatWriter {
    fn delta(&mut self, delta: Value) {
        self.chunk(json!([choice(delta, Value::Null)]), Value::Null);
    }

    fn chunk(&mut self, choices: Value, usage: Value) {
        let chunk = ordered(&[
            ("id", format!("chatcmpl-wire{:06}", self.number).into()),
            ("object", "chat.completion.chunk".into()),
            ("created", 1_795_000_000.into()),
            ("model", self.model.as_str().into()),
            ("service_tier", "default".into()),
            ("system_fingerprint", "fp_wire".into()),
            ("choices", choices),
            ("usage", usage),
            ("obfuscation", "aB3".into()),
        ]);
        self.pieces.push(format!("data: {chunk}\n\n").into());
    }
}

#[expect(clippy::needless_pass_by_value, reason = "callers pass json!({..}) literals")]
fn choice(delta: Value, reason: Value) -> Value {
    json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": reason})
}

fn usage(tokens: Tokens) -> Value {
    json!({
        "prompt_tokens": tokens.input, "completion_tokens": tokens.output, "total_tokens": tokens.input + tokens.output,
        "prompt_tokens_details": {"cached_tokens": tokens.cached, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": tokens.reasoning, "audio_tokens": 0,
            "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0},
    })
}

/// Returns an error of OpenAI: both of its dialects have the same shape.
pub(super) fn error(failure: &Failure, is_responses: bool) -> ErrorAnswer {
    let invalid = "invalid_request_error";
    let (status, kind, code, words) = match failure.kind {
        FailureKind::Invalid => (400, invalid, Value::Null, "The request is not valid."),
        FailureKind::Authentication => (
            401,
            invalid,
            "invalid_api_key".into(),
            "Incorrect API key provided. You can find your API key in the settings.",
        ),
        FailureKind::Overflow if is_responses => (
            400,
            invalid,
            "context_length_exceeded".into(),
            "Your input exceeds the context window of this model. Please adjust your input and try again.",
        ),
        FailureKind::Overflow => (
            400,
            invalid,
            "context_length_exceeded".into(),
            "This model's maximum context length is 128000 tokens. However, your messages resulted in 140012 tokens. Please reduce the length of the messages.",
        ),
        FailureKind::RateLimited => (
            429,
            "requests",
            "rate_limit_exceeded".into(),
            "Rate limit reached for gpt-wire in organization org-wire on requests per min (RPM): Limit 3, Used 3, Requested 1. Please try again in 20s.",
        ),
        FailureKind::Quota => (
            429,
            "insufficient_quota",
            "insufficient_quota".into(),
            "You exceeded your current quota, please check your plan and billing details. For more information on this error, read the docs.",
        ),
        FailureKind::Overloaded => {
            (503, "server_error", Value::Null, "The engine is currently overloaded, please try again later")
        }
        FailureKind::Server => (
            500,
            "server_error",
            Value::Null,
            "The server had an error while processing your request. Sorry about that!",
        ),
    };
    let wait = failure.wait.map(|wait| ("retry-after", wait.as_secs().to_string()));
    let headers = wait.into_iter().chain([("x-request-id", "req_wire".to_owned())]).collect();
    let body = json!({"error": {"message": failure.words(words), "type": kind, "param": null, "code": code}});
    ErrorAnswer { status, headers, body }
}
