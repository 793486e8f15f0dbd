//! Execution settings of a tool (`execution`), which the library drops when it reads tools: they are moved into
//! `_meta`, which it keeps.

use serde_json::{Map, Value};

/// Key in a tool's `_meta` for its execution settings.
const EXECUTION_KEY: &str = "windlass/execution";

/// Returns the message with the execution settings of its tools moved to `_meta`, if any tool has them.
pub(crate) fn with_execution(text: &str) -> Option<Value> {
    if !text.contains("\"taskSupport\"") {
        return None;
    }
    let mut message: Value = serde_json::from_str(text).ok()?;
    for tool in message.pointer_mut("/result/tools")?.as_array_mut()? {
        let Some(tool) = tool.as_object_mut() else { continue };
        if let Some(execution) = tool.remove("execution")
            && let Value::Object(meta) = tool.entry("_meta").or_insert_with(|| Value::Object(Map::new()))
        {
            meta.insert(EXECUTION_KEY.to_owned(), execution);
        }
    }
    Some(message)
}

/// `true` if a tool with such `_meta` takes calls as tasks.
pub(crate) fn supports_tasks(meta: &Map<String, Value>) -> bool {
    let support = meta.get(EXECUTION_KEY).and_then(|execution| execution.get("taskSupport")).and_then(Value::as_str);
    matches!(support, Some("required" | "optional"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_tools_say_of_tasks_is_kept() {
        let tool = |support: &str| json!({ "name": "a", "execution": { "taskSupport": support }, "_meta": { "x": 1 } });
        for (support, takes) in [("required", true), ("optional", true), ("forbidden", false), ("odd", false)] {
            let message = json!({ "jsonrpc": "2.0", "id": 1, "result": { "tools": [tool(support), 7] } });
            let kept = with_execution(&message.to_string()).unwrap();
            let meta = kept["result"]["tools"][0]["_meta"].as_object().unwrap();
            assert_eq!((supports_tasks(meta), &meta["x"]), (takes, &json!(1)), "{support}");
        }
        for other in [r#"{"result":{"tools":[]}}"#, r#"{"result":{"content":"\"taskSupport\""}}"#, r#"{"taskSupport" "#]
        {
            assert_eq!(with_execution(other), None, "{other}");
        }
    }
}
