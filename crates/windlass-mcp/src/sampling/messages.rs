//! Messages of a sampling request: parsing of their content, and the check that each tool call has its result.

use super::SamplingMessage;
use super::tools::OwnNames;
use crate::content::lenient_output;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use windlass_types::{ContentBlock, JsonText, ToolResult, ToolResultContent, ToolUse};

/// Maximum number of parts of one message.
const MAX_PARTS: usize = 1000;
/// Maximum length of a call id, in bytes.
const MAX_ID_BYTES: usize = 256;

#[derive(Deserialize)]
#[serde(expecting = "an object")]
pub(super) struct MessageParams {
    role: String,
    content: Value,
}

#[derive(Deserialize)]
struct SampledCall {
    id: String,
    name: String,
    #[serde(default)]
    input: Map<String, Value>,
}

impl MessageParams {
    pub(super) fn read(self, names: &mut OwnNames) -> Result<SamplingMessage, String> {
        let parts = match self.content {
            Value::Array(parts) => parts,
            part => vec![part],
        };
        if parts.len() > MAX_PARTS {
            return Err(format!("a message has more than {MAX_PARTS} parts"));
        }
        let mut content = Vec::new();
        for part in parts {
            match part.get("type").and_then(Value::as_str) {
                Some("tool_use") => content.push(parse_call(part, names)?),
                Some("tool_result") => content.push(parse_result(part)?),
                _ => content.extend(blocks(json!({ "content": [part] }))),
            }
        }
        Ok(SamplingMessage { is_assistant: self.role == "assistant", content })
    }
}

fn parse_call(part: Value, names: &mut OwnNames) -> Result<ContentBlock, String> {
    let SampledCall { id, name, input } =
        serde_json::from_value(part).map_err(|error| format!("a call cannot be read: {error}"))?;
    check_id(&id)?;
    let input =
        JsonText::of(&input).map_err(|error| format!("the input of the call {id:?} cannot be read: {error}"))?;
    input.check_strict().map_err(|error| format!("the input of the call {id:?} cannot be read: {error}"))?;
    let name = names.known(&name).map_err(|problem| format!("the call {id:?} has a tool of which {problem}"))?;
    Ok(ContentBlock::ToolUse(ToolUse::new(id, name, input)))
}

fn parse_result(part: Value) -> Result<ContentBlock, String> {
    let id = part.get("toolUseId").and_then(Value::as_str).map(str::to_owned);
    let id = id.ok_or_else(|| "a result does not say of which call it is".to_owned())?;
    check_id(&id)?;
    let output = lenient_output(part).ok_or_else(|| format!("the result of the call {id:?} cannot be read"))?;
    let mut result = ToolResult::ok(id, output.content);
    result.is_error = output.is_error;
    Ok(ContentBlock::ToolResult(result))
}

fn check_id(id: &str) -> Result<(), String> {
    if id.is_empty() || id.len() > MAX_ID_BYTES {
        return Err(format!("the id of a call is empty or has more than {MAX_ID_BYTES} bytes"));
    }
    Ok(())
}

fn blocks(content: Value) -> Vec<ContentBlock> {
    match lenient_output(content).map(|output| output.content) {
        Some(ToolResultContent::Blocks(blocks)) => blocks,
        Some(ToolResultContent::Text(text)) => vec![ContentBlock::text(text)],
        None => Vec::new(),
    }
}

/// Checks that only messages of the model have calls, and that the next message of the user has exactly their results.
///
/// # Errors
/// Returns a description of the first mismatch, which the MCP server reads.
pub(super) fn check_balance(messages: &[SamplingMessage]) -> Result<(), String> {
    let mut unanswered = BTreeSet::new();
    for message in messages {
        let (calls, results) = ids(message);
        match (message.is_assistant, calls.is_empty(), results.is_empty()) {
            (false, false, _) => return Err("a message of the user has calls of tools".to_owned()),
            (true, _, false) => return Err("a message of the model has results of tools".to_owned()),
            _ => {}
        }
        if !results.is_empty() && results.len() != message.content.len() {
            return Err("a message has results of tools and something else".to_owned());
        }
        check_answers(&unanswered, &results)?;
        unanswered = calls.iter().copied().collect();
        if unanswered.len() != calls.len() {
            return Err("two calls of a message have the same id".to_owned());
        }
    }
    check_answers(&unanswered, &[])
}

/// Returns the ids of the calls and of the results in a message.
fn ids(message: &SamplingMessage) -> (Vec<&str>, Vec<&str>) {
    let (mut calls, mut results) = (Vec::new(), Vec::new());
    for block in &message.content {
        match block {
            ContentBlock::ToolUse(call) => calls.push(call.id.as_str()),
            ContentBlock::ToolResult(result) => results.push(result.tool_use_id.as_str()),
            _ => {}
        }
    }
    (calls, results)
}

fn check_answers(unanswered: &BTreeSet<&str>, results: &[&str]) -> Result<(), String> {
    let answered: BTreeSet<&str> = results.iter().copied().collect();
    if let Some(id) = unanswered.difference(&answered).next() {
        return Err(format!("the call {id:?} has no result in the message that follows it"));
    }
    if let Some(id) = answered.difference(unanswered).next() {
        return Err(format!("the result for {id:?} answers no call of the message before it"));
    }
    if answered.len() != results.len() {
        return Err("a call has two results".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Value {
        json!({ "type": "text", "text": text })
    }

    fn call(id: &str) -> Value {
        json!({ "type": "tool_use", "id": id, "name": "look up", "input": { "q": 1 } })
    }

    fn result(id: &str) -> Value {
        json!({ "type": "tool_result", "toolUseId": id, "content": [said("found")] })
    }

    fn read(messages: &[(&str, Value)]) -> Result<Vec<SamplingMessage>, String> {
        let mut names = OwnNames::default();
        let messages = messages.iter().map(|(role, content)| {
            MessageParams { role: (*role).to_owned(), content: content.clone() }.read(&mut names)
        });
        let messages = messages.collect::<Result<Vec<_>, _>>()?;
        check_balance(&messages).map(|()| messages)
    }

    #[test]
    fn calls_and_their_results_are_read() {
        let failed = json!({ "type": "tool_result", "toolUseId": "b", "isError": true, "content": [], "structuredContent": { "a": 1 } });
        let read = read(&[
            ("user", said("Look.")),
            ("assistant", json!([said("I look."), call("a"), call("b")])),
            ("user", json!([failed, result("a")])),
            ("assistant", call("a")),
            ("user", result("a")),
            ("user", said("Go on.")),
        ]);
        let read = read.unwrap();
        let [ContentBlock::Text { .. }, ContentBlock::ToolUse(first), ContentBlock::ToolUse(_)] = &read[1].content[..]
        else {
            panic!("{read:?}")
        };
        assert_eq!((first.name.as_str(), first.input.as_str()), ("look_up", r#"{"q":1}"#));
        let [ContentBlock::ToolResult(failed), ContentBlock::ToolResult(found)] = &read[2].content[..] else {
            panic!("{read:?}")
        };
        assert_eq!((failed.is_error, &failed.content), (true, &ToolResultContent::Text(r#"{"a":1}"#.to_owned())));
        assert_eq!((found.is_error, &found.content), (false, &ToolResultContent::Text("found".to_owned())));
    }

    #[test]
    fn calls_and_results_that_do_not_belong_together_are_refused() {
        let calls = |ids: &[&str]| ("assistant", json!(ids.iter().map(|id| call(id)).collect::<Vec<_>>()));
        let results = |ids: &[&str]| ("user", json!(ids.iter().map(|id| result(id)).collect::<Vec<_>>()));
        let text = |role| (role, said("x"));
        let with = |mut part: Value, name: &str, value: Value| {
            part[name] = value;
            part
        };
        for (messages, problem) in [
            (vec![("user", call("a"))], "the user has calls"),
            (vec![("assistant", result("a"))], "the model has results"),
            (vec![calls(&["a"]), ("user", json!([result("a"), said("x")]))], "something else"),
            (vec![calls(&["a"])], "\"a\" has no result"),
            (vec![calls(&["a"]), text("user")], "\"a\" has no result"),
            (vec![calls(&["a"]), ("user", json!([]))], "\"a\" has no result"),
            (vec![calls(&["a"]), text("user"), results(&["a"])], "\"a\" has no result"),
            (vec![calls(&["a", "b"]), results(&["a"]), results(&["b"])], "\"b\" has no result"),
            (vec![calls(&["a"]), calls(&["b"]), results(&["a", "b"])], "\"a\" has no result"),
            (vec![results(&["a"])], "answers no call"),
            (vec![calls(&["a"]), results(&["a"]), results(&["a"])], "answers no call"),
            (vec![calls(&["a"]), results(&["a", "a"])], "two results"),
            (vec![calls(&["a", "a"]), results(&["a"])], "same id"),
            (vec![calls(&[""])], "empty"),
            (vec![calls(&[&"i".repeat(257)])], "more than 256"),
            (vec![("assistant", with(call("a"), "input", json!([1])))], "cannot be read"),
            (vec![("assistant", with(call("a"), "name", json!("")))], "its name is empty"),
            (vec![("user", with(result("a"), "toolUseId", json!(7)))], "of which call"),
            (vec![("user", with(result("a"), "content", json!(7)))], "cannot be read"),
            (vec![("user", json!(vec![said("x"); 1001]))], "more than 1000 parts"),
        ] {
            let refused = read(&messages).unwrap_err();
            assert!(refused.contains(problem), "{problem}: {refused}");
        }
    }
}
