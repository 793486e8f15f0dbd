//! Hooks that call a tool of an MCP server.

use crate::definition::McpToolHandler;
use crate::exit::{Ended, Said, read_exit};
use crate::ports::HookHost;
use serde_json::{Map, Value};
use windlass_hook::HookError;
use windlass_types::{HookOutcome, JsonText};

/// Calls the tool, and reads its text like the output of a program.
pub(crate) async fn answer(
    handler: &McpToolHandler,
    host: &dyn HookHost,
    said: &Said<'_>,
    event: &JsonText,
) -> Result<HookOutcome, HookError> {
    let event: Value = event.to()?;
    let input: Map<String, Value> =
        handler.input.iter().map(|(name, value)| (name.clone(), filled(value, &event))).collect();
    let text = host.call_tool(&handler.server, &handler.tool, JsonText::of(&input)?).await?;
    read_exit(said, &Ended { stdout: text, is_whole: true, ..Ended::default() }).map_err(Into::into)
}

/// Returns a value with fields of the event in the place of `${path.to.field}`. A text that is one placeholder becomes
/// the field itself, of whatever type; a field that is not there is an empty text.
fn filled(value: &Value, event: &Value) -> Value {
    match value {
        Value::String(text) => filled_text(text, event),
        Value::Array(items) => items.iter().map(|item| filled(item, event)).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| (name.clone(), filled(value, event))).collect::<Map<_, _>>().into()
        }
        other => other.clone(),
    }
}

fn filled_text(text: &str, event: &Value) -> Value {
    let whole = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')).filter(|path| !path.contains('}'));
    if let Some(path) = whole {
        return field(event, path).cloned().unwrap_or_else(|| Value::String(String::new()));
    }
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("${") {
        out.push_str(before);
        let Some((path, after)) = behind.split_once('}') else {
            out.push_str("${");
            rest = behind;
            continue;
        };
        match field(event, path) {
            Some(Value::String(text)) => out.push_str(text),
            Some(other) => out.push_str(&other.to_string()),
            None => {}
        }
        rest = after;
    }
    out.push_str(rest);
    Value::String(out)
}

fn field<'a>(event: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(event, |value, name| match value {
        Value::Array(items) => items.get(name.parse::<usize>().ok()?),
        other => other.get(name),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_of_the_event_are_filled_in() {
        let event = json!({ "tool_input": { "file_path": "/w/a", "edits": [{ "n": 1 }] }, "cwd": "/w" });
        for (value, expected) in [
            (json!("${cwd}"), json!("/w")),
            (json!("at ${cwd}: ${tool_input.file_path}"), json!("at /w: /w/a")),
            (json!("${tool_input.edits}"), json!([{ "n": 1 }])),
            (json!("n=${tool_input.edits.0.n}"), json!("n=1")),
            (json!("${missing}"), json!("")),
            (json!("a ${missing} b ${"), json!("a  b ${")),
            (json!({ "deep": ["${cwd}", 7] }), json!({ "deep": ["/w", 7] })),
        ] {
            assert_eq!(filled(&value, &event), expected, "{value}");
        }
    }
}
