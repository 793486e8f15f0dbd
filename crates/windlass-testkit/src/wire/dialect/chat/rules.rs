//! Requests that Chat Completions accepts.

use serde_json::Value;

use super::super::super::{
    Asked, RecordedRequest, Said,
    rules::{BrokenRules, CallPairs, is_plain, items, strict_schema, text, tool_names, words},
};
use super::ChatForm;

/// Members of the body that vendors add.
const ADDED: &[&str] = &[
    "cache_control",
    "chat_template_kwargs",
    "clear_thinking",
    "enable_thinking",
    "include_reasoning",
    "preserve_thinking",
    "prompt_mode",
    "provider",
    "reasoning",
    "reasoning_format",
    "session_id",
    "thinking",
    "thinking_budget",
    "tool_stream",
    "usage",
    "user_id",
];

/// Members of messages that vendors add.
const ADDED_TO_MESSAGES: &[&str] = &["reasoning", "reasoning_content", "reasoning_details"];

impl ChatForm {
    /// Returns the body without the additions of its vendor: the rest must have OpenAI's shape.
    pub(in super::super) fn without_additions(self, mut body: Value) -> Value {
        if self == Self::Plain {
            return body;
        }
        let Some(members) = body.as_object_mut() else { return body };
        ADDED.iter().for_each(|name| drop(members.remove(*name)));
        // Vendors have their own values for these.
        let effort = members.get("reasoning_effort").is_some_and(Value::is_string);
        if effort {
            members.remove("reasoning_effort");
        }
        for message in members.get_mut("messages").and_then(Value::as_array_mut).into_iter().flatten() {
            let Some(message) = message.as_object_mut() else { continue };
            ADDED_TO_MESSAGES.iter().for_each(|name| drop(message.remove(*name)));
            for part in message.get_mut("content").and_then(Value::as_array_mut).into_iter().flatten() {
                part.as_object_mut().and_then(|part| part.remove("cache_control"));
            }
            if let (Self::ThinkingParts, Some(Value::Array(parts))) = (self, message.get_mut("content")) {
                parts.retain(|part| text(part, "type") != "thinking");
                if parts.is_empty() {
                    message.remove("content");
                }
            }
            if message.get("role").is_some_and(|role| role == "tool") {
                message.remove("name");
            }
        }
        body
    }

    pub(in super::super) fn read(self, request: &RecordedRequest, body: &Value, faults: &mut BrokenRules) -> Asked {
        faults.unless(request.method == "POST", || "Not allowed to GET.".to_owned());
        let mut asked = Asked { model: text(body, "model").to_owned(), ..Asked::default() };
        top_level(body, faults);
        asked.tools = items(body, "tools").iter().map(|tool| tool_name(tool).to_owned()).collect();
        tool_names(&asked.tools, |name| is_plain(name, 64), faults);
        let mut pairs = CallPairs::default();
        for message in items(body, "messages") {
            if text(message, "role") != "tool" {
                pairs.settled(faults);
            }
            self.read_message(message, &mut asked, &mut pairs, faults);
        }
        pairs.settled(faults);
        asked
    }

    fn read_message(self, message: &Value, asked: &mut Asked, pairs: &mut CallPairs, faults: &mut BrokenRules) {
        let words = message.get("content").map(words).unwrap_or_default();
        match text(message, "role") {
            "system" | "developer" => asked.said.push(Said::System(words)),
            "user" => asked.said.push(Said::User(words)),
            "tool" => {
                let id = text(message, "tool_call_id");
                pairs.result(id, faults);
                asked.said.push(Said::Result { id: id.to_owned(), text: words });
            }
            _ => {
                self.read_reasoning(message, asked);
                if !words.is_empty() {
                    asked.said.push(Said::Assistant(words));
                }
                let calls = items(message, "tool_calls");
                let is_listed = message.get("tool_calls").is_some();
                faults.unless(!is_listed || !calls.is_empty(), || "'tool_calls' is an empty array".to_owned());
                let is_blank = message.get("content").is_none_or(Value::is_null);
                faults.unless(!is_blank || is_listed, || "expected a string for 'content', got null".to_owned());
                calls.iter().for_each(|call| self.read_call(call, asked, pairs, faults));
            }
        }
    }

    fn read_reasoning(self, message: &Value, asked: &mut Asked) {
        let mut say = |text: &str| {
            if !text.is_empty() {
                asked.said.push(Said::Reasoning(text.to_owned()));
            }
        };
        match self {
            Self::Plain => {}
            Self::ReasoningContent => say(text(message, "reasoning_content")),
            Self::Reasoning => say(text(message, "reasoning")),
            Self::ReasoningDetails => {
                items(message, "reasoning_details").iter().for_each(|detail| say(text(detail, "signature")));
            }
            Self::ThinkingParts => {
                for part in items(message, "content").iter().filter(|part| text(part, "type") == "thinking") {
                    say(&part.get("thinking").map(words).unwrap_or_default());
                }
            }
        }
    }

    fn read_call(self, call: &Value, asked: &mut Asked, pairs: &mut CallPairs, faults: &mut BrokenRules) {
        let id = text(call, "id");
        faults.unless(!id.is_empty() && id.len() <= 40, || format!("Invalid 'tool_calls.id': {id:?}: 1 to 40 long."));
        // Mistral gives and accepts only ids of one form.
        let fits = self != Self::ThinkingParts || (id.len() == 9 && id.bytes().all(|b| b.is_ascii_alphanumeric()));
        faults.unless(fits, || format!("Tool call id was {id} but must be a-z, A-Z, 0-9, with a length of 9."));
        pairs.call(id, faults);
        let function = call.get("function").unwrap_or(&Value::Null);
        let name = text(function, "name");
        faults.unless(is_plain(name, 64), || format!("Invalid 'function.name': {name:?}"));
        let input = serde_json::from_str(text(function, "arguments")).unwrap_or_else(|error| {
            faults.add(format!("Invalid 'arguments' of {id}: {error}"));
            Value::Null
        });
        asked.said.push(Said::Call { id: id.to_owned(), name: name.to_owned(), input });
    }
}

fn tool_name(tool: &Value) -> &str {
    text(tool.get("function").unwrap_or(&Value::Null), "name")
}

fn top_level(body: &Value, faults: &mut BrokenRules) {
    faults.unless(!items(body, "messages").is_empty(), || "'messages' is an empty array".to_owned());
    let limits = ["max_tokens", "max_completion_tokens"].iter().filter(|name| body.get(**name).is_some()).count();
    faults.unless(limits <= 1, || "Setting 'max_tokens' and 'max_completion_tokens' at the same time".to_owned());
    let is_forced = body.get("tool_choice").is_some_and(|choice| choice != "none");
    faults
        .unless(!is_forced || body.get("tools").is_some(), || "'tool_choice' is only allowed with 'tools'".to_owned());
    for tool in items(body, "tools") {
        if tool.pointer("/function/strict") == Some(&Value::Bool(true)) {
            let schema = tool.pointer("/function/parameters").unwrap_or(&Value::Null);
            strict_schema(schema, tool_name(tool), faults);
        }
    }
    if body.pointer("/response_format/json_schema/strict") == Some(&Value::Bool(true)) {
        let schema = body.pointer("/response_format/json_schema/schema").unwrap_or(&Value::Null);
        strict_schema(schema, "response_format", faults);
    }
}
