//! What a server says of its tools.

use crate::{McpToolHints, McpToolInfo};
use rmcp::model::{ServerResult, Tool};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use windlass_types::JsonText;

/// Most tools of a server.
pub(crate) const MOST_TOOLS: usize = 1000;
/// Longest description, in characters.
const LONGEST_DESCRIPTION: usize = 2048;
/// Longest schema of one tool, and of all tools of a server together, in bytes.
const LONGEST_SCHEMA: usize = 64 * 1024;
const LONGEST_SCHEMAS: usize = 4 * 1024 * 1024;
/// Longest name of a tool.
const LONGEST_NAME: usize = 256;

/// A tool of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RemoteTool {
    pub(crate) info: McpToolInfo,
    pub(crate) schema: JsonText,
}

/// Collects tools from page to page. What cannot be used is left out, with a warning.
#[derive(Debug, Default)]
pub(crate) struct Collector {
    tools: Vec<RemoteTool>,
    names: BTreeSet<String>,
    bytes: usize,
}

impl Collector {
    /// Takes a page, and gives the cursor of the next one, if there is one.
    /// Nothing if it is no page.
    pub(crate) fn take(&mut self, server: &str, page: ServerResult) -> Option<Option<String>> {
        match page {
            ServerResult::ListToolsResult(page) => {
                for tool in page.tools {
                    self.add(server, tool);
                }
                Some(page.next_cursor)
            }
            // One tool of the page is not as it should be: the others still count.
            ServerResult::CustomResult(page) => {
                let Value::Object(mut page) = page.0 else { return None };
                let Some(Value::Array(tools)) = page.remove("tools") else { return None };
                for tool in tools {
                    match serde_json::from_value(tool) {
                        Ok(tool) => self.add(server, tool),
                        Err(error) => tracing::warn!(server, %error, "an MCP tool cannot be read"),
                    }
                }
                Some(page.get("nextCursor").and_then(Value::as_str).map(str::to_owned))
            }
            _ => None,
        }
    }

    /// Whether no more tools are taken.
    pub(crate) fn is_full(&self) -> bool {
        self.tools.len() >= MOST_TOOLS
    }

    fn add(&mut self, server: &str, tool: Tool) {
        let name = tool.name.clone().into_owned();
        match self.usable(tool) {
            Ok(tool) => self.tools.push(tool),
            Err(problem) => {
                let name: String = name.chars().take(80).collect();
                tracing::warn!(server, name, problem, "an MCP tool is left out");
            }
        }
    }

    fn usable(&mut self, tool: Tool) -> Result<RemoteTool, &'static str> {
        if self.is_full() {
            return Err("the server has too many");
        }
        let name = tool.name.into_owned();
        if name.is_empty() || name.len() > LONGEST_NAME {
            return Err("its name is empty or too long");
        }
        if self.names.contains(&name) {
            return Err("its name occurs twice");
        }
        let schema = schema(&tool.input_schema)?;
        if schema.as_str().len() > LONGEST_SCHEMA || self.bytes + schema.as_str().len() > LONGEST_SCHEMAS {
            return Err("its schema is too long");
        }
        self.bytes += schema.as_str().len();
        self.names.insert(name.clone());
        let hints = tool.annotations.unwrap_or_default();
        let annotations = McpToolHints {
            read_only: hints.read_only_hint.unwrap_or_default(),
            destructive: hints.destructive_hint.unwrap_or_default(),
            open_world: hints.open_world_hint.unwrap_or_default(),
        };
        let description = description(tool.description.as_deref().unwrap_or_default());
        Ok(RemoteTool { info: McpToolInfo { name, description, annotations }, schema })
    }

    /// What was collected, sorted by name.
    pub(crate) fn finish(mut self) -> Vec<RemoteTool> {
        self.tools.sort_by(|a, b| a.info.name.cmp(&b.info.name));
        self.tools
    }
}

/// A schema that models accept: of an object, and strict JSON.
fn schema(given: &Map<String, Value>) -> Result<JsonText, &'static str> {
    let mut schema = given.clone();
    match schema.get("type") {
        None => {
            schema.insert("type".to_owned(), Value::from("object"));
        }
        Some(kind) if kind == "object" => {}
        Some(_) => return Err("its schema is not one of an object"),
    }
    let schema = JsonText::of(&schema).map_err(|_| "its schema cannot be written")?;
    schema.check_strict().map_err(|_| "its schema is not acceptable JSON")?;
    Ok(schema)
}

fn description(text: &str) -> String {
    let mut kept: String = text.chars().filter(|c| *c != '\0').take(LONGEST_DESCRIPTION + 1).collect();
    if let Some((end, _)) = kept.char_indices().nth(LONGEST_DESCRIPTION) {
        kept.truncate(end);
        kept.push('…');
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn collect(tools: &Value) -> Vec<RemoteTool> {
        let page = serde_json::from_value(json!({ "tools": tools })).unwrap();
        let mut collector = Collector::default();
        assert_eq!(collector.take("s", page), Some(None));
        collector.finish()
    }

    fn tool(name: &str, schema: &Value) -> Value {
        json!({ "name": name, "inputSchema": schema })
    }

    #[test]
    fn tools_that_cannot_be_used_leave_the_others() {
        let tools = collect(&json!([
            tool("b", &json!({})),
            tool("", &json!({})),
            tool("a", &json!({ "type": "object", "properties": {} })),
            tool("a", &json!({ "type": "object" })),
            tool("array", &json!({ "type": "array" })),
            { "name": "no schema" },
            tool("big", &json!({ "description": "x".repeat(LONGEST_SCHEMA) })),
            7,
        ]));
        let names: Vec<&str> = tools.iter().map(|tool| tool.info.name.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(tools[1].schema.as_str(), r#"{"type":"object"}"#);
        assert_eq!(tools[0].schema.as_str(), r#"{"properties":{},"type":"object"}"#);
    }

    #[test]
    fn what_a_server_says_is_bounded() {
        let many: Vec<Value> = (0..MOST_TOOLS + 5).map(|n| tool(&format!("t{n}"), &json!({}))).collect();
        assert_eq!(collect(&json!(many)).len(), MOST_TOOLS);
        let large: Vec<Value> =
            (0..100).map(|n| tool(&format!("t{n}"), &json!({ "description": "x".repeat(60 * 1024) }))).collect();
        assert_eq!(collect(&json!(large)).len(), LONGEST_SCHEMAS / (60 * 1024 + 35));
        for (text, kept) in [("é".repeat(2048), 2048), ("é".repeat(2049), 2049), ("é".repeat(9000), 2049)] {
            let tool = json!({ "name": "a", "description": text, "inputSchema": {} });
            assert_eq!(collect(&json!([tool]))[0].info.description.chars().count(), kept);
        }
    }

    #[test]
    fn hints_are_shown() {
        let tool = json!({ "name": "a", "inputSchema": {}, "annotations": { "readOnlyHint": true } });
        let tools = collect(&json!([tool]));
        assert!(tools[0].info.annotations.read_only && !tools[0].info.annotations.destructive);
    }
}
