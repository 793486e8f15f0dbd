//! Requests that `ConverseStream` accepts.

use serde_json::Value;

use super::super::super::{
    Asked, RecordedRequest, Said,
    rules::{BrokenRules, CallPairs, items, text, tool_names, words},
};

pub(in super::super) fn read(request: &RecordedRequest, body: &Value, faults: &mut BrokenRules) -> Asked {
    let model = request.path.strip_prefix("/model/").and_then(|rest| rest.strip_suffix("/converse-stream"));
    faults.unless(model.is_some_and(|model| !model.contains('/')), || format!("{} is not found", request.path));
    let signed = request
        .header("authorization")
        .is_some_and(|it| it.starts_with("AWS4-HMAC-SHA256 ") || it.starts_with("Bearer "));
    faults.unless(signed, || "Missing Authentication Token".to_owned());
    let mut asked = Asked { model: decoded(model.unwrap_or_default()), ..Asked::default() };
    let tools = body.pointer("/toolConfig/tools").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    asked.tools =
        tools.iter().filter_map(|tool| tool.get("toolSpec")).map(|tool| text(tool, "name").to_owned()).collect();
    tool_names(&asked.tools, |_| true, faults);
    for section in items(body, "system").iter().filter(|section| section.get("text").is_some()) {
        asked.said.push(Said::System(words(section)));
    }
    let points = body.to_string().matches("\"cachePoint\":{").count();
    faults.unless(points <= 4, || format!("{points} cache points, more than 4"));
    let messages = items(body, "messages");
    faults.unless(messages.first().is_some_and(|first| text(first, "role") == "user"), || {
        "A conversation must start with a user message. Try again with a conversation that starts with a user message.".to_owned()
    });
    let mut pairs = CallPairs::default();
    let mut last = "";
    for message in messages {
        let role = text(message, "role");
        faults.unless(role != last, || "A conversation must alternate between user and assistant roles.".to_owned());
        last = role;
        read_message(message, &mut asked, &mut pairs, faults);
    }
    pairs.settled(faults);
    let has_calls = asked.said.iter().any(|said| matches!(said, Said::Call { .. }));
    faults.unless(!has_calls || !tools.is_empty(), || {
        "The toolConfig field must be defined when using toolUse and toolResult content blocks.".to_owned()
    });
    asked
}

/// Returns a model id with its percent-encoding decoded.
fn decoded(path: &str) -> String {
    path.replace("%3A", ":").replace("%3a", ":").replace("%2F", "/").replace("%2f", "/")
}

fn read_message(message: &Value, asked: &mut Asked, pairs: &mut CallPairs, faults: &mut BrokenRules) {
    let is_assistant = text(message, "role") == "assistant";
    if is_assistant {
        pairs.settled(faults);
    }
    let mut before = "";
    for block in items(message, "content") {
        let kind = block.as_object().and_then(|members| members.keys().next()).map_or("", String::as_str);
        faults.unless(!(kind == "cachePoint" && before == "reasoningContent"), || {
            "Cache point cannot be inserted after reasoning block.".to_owned()
        });
        before = kind;
        let inner = block.get(kind).unwrap_or(&Value::Null);
        match kind {
            "text" => {
                let words = inner.as_str().unwrap_or_default().to_owned();
                faults.unless(!words.trim().is_empty(), || {
                    "The text field in the ContentBlock object is blank.".to_owned()
                });
                asked.said.push(if is_assistant { Said::Assistant(words) } else { Said::User(words) });
            }
            "reasoningContent" => {
                let token = inner.pointer("/reasoningText/signature").or_else(|| inner.get("redactedContent"));
                asked.said.push(Said::Reasoning(token.and_then(Value::as_str).unwrap_or_default().to_owned()));
            }
            "toolUse" => {
                let id = text(inner, "toolUseId").to_owned();
                pairs.call(&id, faults);
                let input = inner.get("input").cloned().unwrap_or_default();
                faults.unless(input.is_object(), || "The format of the value at toolUse.input is invalid.".to_owned());
                asked.said.push(Said::Call { id, name: text(inner, "name").to_owned(), input });
            }
            "toolResult" => {
                let id = text(inner, "toolUseId").to_owned();
                pairs.result(&id, faults);
                let text = inner.get("content").map(words).unwrap_or_default();
                asked.said.push(Said::Result { id, text });
            }
            _ => {}
        }
    }
    if !is_assistant {
        pairs.settled(faults);
    }
}
