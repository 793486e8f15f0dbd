//! List of a server's tools.

use crate::icon::icons_of;
use crate::schema::{self, Renamed, Usable};
use crate::text::clipped;
use crate::transport::supports_tasks;
use crate::{McpToolHints, McpToolInfo, McpToolLeftOut};
use rmcp::model::{ServerResult, Tool};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use windlass_context::foreign_text;
use windlass_schema::InputSchema;
use windlass_types::JsonText;

/// Maximum number of tools of a server.
pub(crate) const MOST_TOOLS: usize = 1000;
/// Maximum length of a description, in characters.
const MAX_DESCRIPTION_CHARS: usize = 2048;
/// Maximum length of a title, in characters.
const MAX_TITLE_CHARS: usize = 200;
/// Maximum total length of the schemas of a server's tools, in bytes.
const MAX_SCHEMAS_BYTES: usize = 4 * 1024 * 1024;
/// Maximum length of a tool name, in bytes.
pub(crate) const LONGEST_NAME: usize = 256;

/// Tool of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RemoteTool {
    pub(crate) info: McpToolInfo,
    pub(crate) schema: JsonText,
    /// Renamed properties.
    pub(crate) renamed: Renamed,
    /// Schema of structured results, if the server gives one.
    pub(crate) output: Option<JsonText>,
    /// `true` if calls of the tool may be tasks, as servers of 2025-11-25 declare.
    #[serde(default)]
    pub(crate) as_task: bool,
}

impl RemoteTool {
    /// `true` if both tools are the same for model and server. Icons are not compared: their addresses may change each
    /// time.
    pub(crate) fn is_as(&self, other: &Self) -> bool {
        let plain = |tool: &Self| McpToolInfo { icons: Vec::new(), ..tool.info.clone() };
        (&self.schema, &self.renamed, &self.output) == (&other.schema, &other.renamed, &other.output)
            && plain(self) == plain(other)
    }
}

/// Maximum number of unusable tools whose reasons are kept.
const MAX_LEFT_OUT: usize = 50;

/// Tools that a server offers, as far as they are usable.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Offered {
    /// Usable tools, sorted by name.
    pub(crate) tools: Vec<RemoteTool>,
    pub(crate) left_out: Vec<McpToolLeftOut>,
}

/// Collects tools page by page. Unusable tools are left out, with a reason.
#[derive(Debug, Default)]
pub(crate) struct Collector {
    tools: Vec<RemoteTool>,
    left_out: Vec<McpToolLeftOut>,
    names: BTreeSet<String>,
    bytes: usize,
}

impl Collector {
    /// Takes a page, and returns the cursor of the next one, if there is one. `None` if the result is no page.
    pub(crate) fn take(&mut self, server: &str, page: ServerResult) -> Option<Option<String>> {
        match page {
            ServerResult::ListToolsResult(page) => {
                for tool in page.tools {
                    self.add(server, tool);
                }
                Some(page.next_cursor)
            }
            // One tool of the page is malformed; the others are still used.
            ServerResult::CustomResult(page) => {
                let Value::Object(mut page) = page.0 else { return None };
                let Some(Value::Array(tools)) = page.remove("tools") else { return None };
                for tool in tools {
                    let name = tool.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
                    match serde_json::from_value(tool) {
                        Ok(tool) => self.add(server, tool),
                        Err(error) => self.leave_out(server, &name, &format!("it cannot be read: {error}")),
                    }
                }
                Some(page.get("nextCursor").and_then(Value::as_str).map(str::to_owned))
            }
            _ => None,
        }
    }

    /// `true` if no more tools are taken.
    pub(crate) fn is_full(&self) -> bool {
        self.tools.len() >= MOST_TOOLS
    }

    fn add(&mut self, server: &str, tool: Tool) {
        let name = tool.name.clone().into_owned();
        match self.usable(tool) {
            Ok(tool) => self.tools.push(tool),
            Err(problem) => self.leave_out(server, &name, &problem),
        }
    }

    fn leave_out(&mut self, server: &str, name: &str, problem: &str) {
        let plain = |text: &str, most: usize| text.chars().filter(|c| !c.is_control()).take(most).collect::<String>();
        let (name, reason) = (plain(name, 80), plain(problem, 300));
        tracing::warn!(server, name, reason, "an MCP tool is left out");
        if self.left_out.len() < MAX_LEFT_OUT {
            self.left_out.push(McpToolLeftOut { name, reason });
        }
    }

    fn usable(&mut self, tool: Tool) -> Result<RemoteTool, String> {
        if self.is_full() {
            return Err(format!("the server has more than {MOST_TOOLS}"));
        }
        let name = tool.name.into_owned();
        if name.is_empty() || name.len() > LONGEST_NAME {
            return Err(format!("its name is empty or has more than {LONGEST_NAME} bytes"));
        }
        if self.names.contains(&name) {
            return Err("its name occurs twice".to_owned());
        }
        let Usable { schema, renamed, note } = schema::usable(&tool.input_schema)?;
        if self.bytes + schema.as_str().len() > MAX_SCHEMAS_BYTES {
            return Err(format!("the schemas of the server have more than {MAX_SCHEMAS_BYTES} bytes together"));
        }
        self.bytes += schema.as_str().len();
        self.names.insert(name.clone());
        let hints = tool.annotations.unwrap_or_default();
        let annotations = McpToolHints {
            read_only: hints.read_only_hint.unwrap_or_default(),
            destructive: hints.destructive_hint.unwrap_or_default(),
            open_world: hints.open_world_hint.unwrap_or_default(),
        };
        let mut description = description(tool.description.as_deref().unwrap_or_default());
        if let Some(note) = note {
            description.push_str("\n\n");
            description.push_str(&foreign_text(&note));
        }
        let title =
            tool.title.or(hints.title).filter(|title| !title.is_empty()).map(|title| clipped(&title, MAX_TITLE_CHARS));
        let icons = icons_of(&tool.icons);
        let as_task = tool.meta.as_ref().is_some_and(|meta| supports_tasks(&meta.0));
        let output = tool.output_schema.as_deref().and_then(usable_output);
        let info = McpToolInfo { name, title, description, annotations, icons };
        Ok(RemoteTool { info, schema, renamed, output, as_task })
    }

    /// Returns the collected tools.
    pub(crate) fn finish(mut self) -> Offered {
        self.tools.sort_by(|a, b| a.info.name.cmp(&b.info.name));
        Offered { tools: self.tools, left_out: self.left_out }
    }
}

/// Returns a schema of results, if it is valid and small.
fn usable_output(schema: &Map<String, Value>) -> Option<JsonText> {
    let schema = JsonText::of(schema).ok().filter(|schema| schema.as_str().len() <= schema::LONGEST_SCHEMA)?;
    schema.check_strict().ok()?;
    // A schema that cannot be checked here, such as one with external references, would refuse every result.
    InputSchema::new(schema.clone()).check_schema().ok().map(|()| schema)
}

/// Returns a description as models read it: bounded and marked.
pub(crate) fn description(text: &str) -> String {
    let mut shortened: String = text.chars().filter(|c| *c != '\0').take(MAX_DESCRIPTION_CHARS + 1).collect();
    if let Some((end, _)) = shortened.char_indices().nth(MAX_DESCRIPTION_CHARS) {
        shortened.truncate(end);
        shortened.push('…');
    }
    foreign_text(&shortened)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn collect(tools: &Value) -> Vec<RemoteTool> {
        offered(tools).tools
    }

    fn offered(tools: &Value) -> Offered {
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
        let Offered { tools, left_out } = offered(&json!([
            tool("b", &json!({})),
            tool("", &json!({})),
            tool("a", &json!({ "type": "object", "properties": {} })),
            tool("a", &json!({ "type": "object" })),
            tool("array", &json!({ "type": "array" })),
            { "name": "no schema" },
            tool("big", &json!({ "description": "x".repeat(schema::LONGEST_SCHEMA) })),
            tool("union", &json!({ "anyOf": [{ "type": "string" }] })),
            tool("brackets", &json!({ "properties": { "[]": {} } })),
            7,
        ]));
        let names: Vec<&str> = tools.iter().map(|tool| tool.info.name.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        let left_out: Vec<&str> = left_out.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(left_out, ["", "a", "array", "no schema", "big", "union", "brackets", ""]);
        assert_eq!(tools[1].schema.as_str(), r#"{"type":"object"}"#);
        assert_eq!(tools[0].schema.as_str(), r#"{"properties":{},"type":"object"}"#);
    }

    #[test]
    fn what_a_server_says_is_bounded() {
        let many: Vec<Value> = (0..MOST_TOOLS + 5).map(|n| tool(&format!("t{n}"), &json!({}))).collect();
        assert_eq!(collect(&json!(many)).len(), MOST_TOOLS);
        let large: Vec<Value> =
            (0..100).map(|n| tool(&format!("t{n}"), &json!({ "description": "x".repeat(60 * 1024) }))).collect();
        assert_eq!(collect(&json!(large)).len(), MAX_SCHEMAS_BYTES / (60 * 1024 + 35));
        for (text, kept) in [("é".repeat(2048), 2048), ("é".repeat(2049), 2049), ("é".repeat(9000), 2049)] {
            let tool = json!({ "name": "a", "description": text, "inputSchema": {} });
            assert_eq!(collect(&json!([tool]))[0].info.description.chars().count(), kept);
        }
    }

    #[test]
    fn another_icon_makes_no_other_tool() {
        let tool = |icon: &str, more: &str| {
            let icons = json!([{ "src": icon }]);
            collect(&json!([{ "name": "a", "description": more, "inputSchema": {}, "icons": icons }])).remove(0)
        };
        let first = tool("https://a.example/1", "x");
        assert_eq!(first.info.icons[0].src, "https://a.example/1");
        assert!(first.is_as(&tool("https://a.example/2", "x")) && !first.is_as(&tool("https://a.example/1", "y")));
    }

    #[test]
    fn hints_are_shown() {
        let tool = json!({ "name": "a", "inputSchema": {}, "annotations": { "readOnlyHint": true } });
        let tools = collect(&json!([tool]));
        assert!(tools[0].info.annotations.read_only && !tools[0].info.annotations.destructive);
    }
}
