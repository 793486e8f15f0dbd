//! Tools and their results in the words of MCP.

use crate::{ServedHints, ServedTool};
use rmcp::model::{CallToolResult, JsonObject, Tool, ToolAnnotations};
use std::sync::Arc;
use windlass::ToolOutput;
use windlass::crates::schema::call_result;

/// A tool as it is listed; `None` if its schema is no object.
pub(crate) fn listed(tool: ServedTool) -> Option<Tool> {
    let mut schema: JsonObject = tool.input_schema.to().ok()?;
    schema.entry("type").or_insert_with(|| "object".into());
    let mut listed = Tool::new(tool.name, tool.description, Arc::new(schema));
    listed.output_schema = tool.output_schema.and_then(|schema| schema.to::<JsonObject>().ok()).map(Arc::new);
    listed.annotations = annotations(tool.hints);
    Some(listed)
}

fn annotations(hints: ServedHints) -> Option<ToolAnnotations> {
    if hints == ServedHints::default() {
        return None;
    }
    let mut annotations = ToolAnnotations::new();
    annotations.read_only_hint = hints.read_only;
    annotations.destructive_hint = hints.destructive;
    annotations.open_world_hint = hints.open_world;
    Some(annotations)
}

/// What a call returns.
pub(crate) fn result(output: ToolOutput) -> Result<CallToolResult, String> {
    call_result(output).and_then(|result| result.to()).map_err(|error| error.to_string())
}
