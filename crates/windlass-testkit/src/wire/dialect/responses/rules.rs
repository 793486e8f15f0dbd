//! Requests that the Responses API accepts.

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::super::{
    Asked, RecordedRequest, Said,
    rules::{BrokenRules, CallPairs, is_plain, items, strict_schema, text, tool_names, words},
};

pub(in super::super) fn read(request: &RecordedRequest, body: &Value, faults: &mut BrokenRules) -> Asked {
    let is_bearer = request.header("authorization").is_some_and(|value| value.starts_with("Bearer "));
    faults.unless(is_bearer || request.header("api-key").is_some(), || "You didn't provide an API key.".to_owned());
    let mut asked = Asked { model: text(body, "model").to_owned(), ..Asked::default() };
    top_level(body, faults);
    let mut tools: Vec<&Value> = items(body, "tools").iter().collect();
    let instructions = text(body, "instructions");
    if !instructions.is_empty() {
        asked.said.push(Said::System(instructions.to_owned()));
    }
    let input = match body.get("input") {
        Some(Value::String(text)) => {
            asked.said.push(Said::User(text.clone()));
            &[][..]
        }
        _ => items(body, "input"),
    };
    let mut pairs = CallPairs::default();
    let mut ids = BTreeSet::new();
    for (at, item) in input.iter().enumerate() {
        let id = text(item, "id");
        faults.unless(id.is_empty() || ids.insert(id), || format!("Duplicate item found with id {id}."));
        if text(item, "type") == "additional_tools" {
            tools.extend(items(item, "tools"));
        }
        // Reasoning is bound to the item that it led to.
        let next = input.get(at + 1).map(|next| (text(next, "type"), text(next, "role")));
        let is_followed =
            matches!(next, Some(("reasoning" | "function_call" | "custom_tool_call", _) | (_, "assistant")));
        faults.unless(text(item, "type") != "reasoning" || is_followed, || {
            format!("Item '{id}' of type 'reasoning' was provided without its required following item.")
        });
        read_item(item, &mut asked, &mut pairs, faults);
    }
    pairs.settled(faults);
    for tool in &tools {
        if tool.get("strict") == Some(&Value::Bool(true)) {
            strict_schema(tool.get("parameters").unwrap_or(&Value::Null), text(tool, "name"), faults);
        }
    }
    asked.tools = tools.iter().map(|tool| text(tool, "name").to_owned()).collect();
    tool_names(&asked.tools, |name| is_plain(name, 64), faults);
    asked
}

fn top_level(body: &Value, faults: &mut BrokenRules) {
    faults.unless(body.get("stream") == Some(&Value::Bool(true)), || "this server only streams".to_owned());
    let most = body.get("max_output_tokens").and_then(Value::as_u64);
    faults.unless(most.is_none_or(|most| most >= 16), || "max_output_tokens: expected a value >= 16".to_owned());
    for name in ["prompt_cache_key", "safety_identifier"] {
        let length = text(body, name).chars().count();
        faults.unless(length <= 64, || format!("Invalid '{name}': string too long. Maximum length 64, got {length}."));
    }
    let keeps = body.get("store") != Some(&Value::Bool(false));
    let reads = items(body, "input").iter().any(|item| text(item, "type") == "reasoning");
    let asks = items(body, "include").iter().any(|name| name == "reasoning.encrypted_content");
    faults
        .unless(keeps || !reads || asks, || "reasoning without `store` needs `reasoning.encrypted_content`".to_owned());
    reasoning(body, asks, faults);
    let format = body.pointer("/text/format").unwrap_or(&Value::Null);
    if text(format, "type") == "json_schema" {
        faults.unless(is_plain(text(format, "name"), 64), || "text.format.name is not valid".to_owned());
        if format.get("strict") == Some(&Value::Bool(true)) {
            strict_schema(format.get("schema").unwrap_or(&Value::Null), "text.format.schema", faults);
        }
    }
}

/// Checks parameters that only models with reasoning accept. Source: the page of the API on reasoning.
fn reasoning(body: &Value, asks: bool, faults: &mut BrokenRules) {
    let model = text(body, "model");
    let given = |name: &str| body.get(name).is_some_and(|value| !value.is_null());
    if model.starts_with("gpt-4") {
        faults.unless(!asks, || "Encrypted content is not supported with this model.".to_owned());
        faults.unless(!given("reasoning"), || {
            "Unsupported parameter: 'reasoning.effort' is not supported with this model.".to_owned()
        });
    } else if model.starts_with("gpt-5") || model.starts_with('o') {
        let is_off = body.pointer("/reasoning/effort").is_some_and(|effort| effort == "none");
        for name in ["temperature", "top_p"] {
            faults.unless(is_off || !given(name), || {
                format!("Unsupported parameter: '{name}' is not supported with this model.")
            });
        }
    }
}

fn item_id(item: &Value, prefix: &str, faults: &mut BrokenRules) {
    let id = text(item, "id");
    let fits = id.is_empty() || (id.starts_with(prefix) && id.len() <= 64);
    faults
        .unless(fits, || format!("Invalid 'id': {id:?}. Expected an ID that begins with '{prefix}', at most 64 long."));
}

fn read_item(item: &Value, asked: &mut Asked, pairs: &mut CallPairs, faults: &mut BrokenRules) {
    match text(item, "type") {
        "reasoning" => {
            item_id(item, "rs_", faults);
            let token = text(item, "encrypted_content");
            faults
                .unless(!token.is_empty(), || "reasoning was not persisted: `encrypted_content` is needed".to_owned());
            asked.said.push(Said::Reasoning(token.to_owned()));
        }
        "function_call" => {
            item_id(item, "fc_", faults);
            let (id, name) = (text(item, "call_id"), text(item, "name"));
            faults.unless(!id.is_empty() && id.len() <= 64, || format!("Invalid 'call_id': {id:?}: 1 to 64 long."));
            faults.unless(is_plain(name, 64), || format!("Invalid 'name': {name:?}"));
            pairs.call(id, faults);
            let input = serde_json::from_str(text(item, "arguments")).unwrap_or_else(|error| {
                faults.add(format!("Invalid 'arguments' of {id}: {error}"));
                Value::Null
            });
            asked.said.push(Said::Call { id: id.to_owned(), name: name.to_owned(), input });
        }
        "function_call_output" => {
            let id = text(item, "call_id");
            pairs.result(id, faults);
            let text = item.get("output").map(words).unwrap_or_default();
            asked.said.push(Said::Result { id: id.to_owned(), text });
        }
        "" | "message" => read_message(item, asked, faults),
        _ => {}
    }
}

fn read_message(item: &Value, asked: &mut Asked, faults: &mut BrokenRules) {
    let words = item.get("content").map(words).unwrap_or_default();
    let parts = items(item, "content");
    match text(item, "role") {
        "assistant" => {
            item_id(item, "msg_", faults);
            let is_output = parts.iter().all(|part| matches!(text(part, "type"), "output_text" | "refusal"));
            faults.unless(is_output, || "a message of the assistant holds 'output_text' and 'refusal' only".to_owned());
            let refusal = parts.iter().map(|part| text(part, "refusal")).collect::<String>();
            asked.said.push(Said::Assistant(words + &refusal));
        }
        "user" => {
            let is_input = parts.iter().all(|part| text(part, "type").starts_with("input_"));
            faults.unless(is_input, || "a message of the user holds 'input_text' and the like only".to_owned());
            asked.said.push(Said::User(words));
        }
        _ => asked.said.push(Said::System(words)),
    }
}
