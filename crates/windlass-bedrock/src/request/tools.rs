//! Tools of a request.

use super::cache::CachePoints;
use crate::models::{Choices, ConverseFamily};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use windlass_http::provider::{COMPOSITIONS, JsonBody as Json, without_compositions};
use windlass_types::{ContentBlock, JsonText, ModelRequest, ToolChoice, ToolSpec};

/// Maximum length of a tool name.
const MAX_NAME: usize = 64;

/// Writes the member `toolConfig` and a comma, if there are tools.
pub(super) fn write(out: &mut Json, request: &ModelRequest, family: ConverseFamily, cache: &CachePoints) {
    let added = request.added_tools.iter().flat_map(|added| &added.tools);
    let tools: Vec<&ToolSpec> = request.tools.iter().chain(added).map(|tool| &**tool).collect();
    // The API refuses calls in a history without tools.
    let called = if tools.is_empty() { called(request) } else { BTreeSet::new() };
    if tools.is_empty() && called.is_empty() {
        return;
    }
    out.raw("\"toolConfig\":{\"tools\":[");
    for (at, tool) in tools.iter().enumerate() {
        out.raw(if at == 0 { "" } else { "," });
        spec(out, tool, family);
    }
    for (at, name) in called.iter().enumerate() {
        out.raw(if at == 0 { "{\"toolSpec\":{\"name\":" } else { ",{\"toolSpec\":{\"name\":" });
        out.json(name);
        out.raw(",\"inputSchema\":{\"json\":{\"type\":\"object\"}}}}");
    }
    if cache.ends_tools() {
        out.raw(",");
        out.raw(cache.point());
    }
    out.raw("]");
    if !tools.is_empty() {
        choice(out, &request.tool_choice, family.choices);
    }
    out.raw("},");
}

/// Returns the names of the tools that were called.
fn called(request: &ModelRequest) -> BTreeSet<Cow<'_, str>> {
    let blocks = request.messages.iter().flat_map(|message| &message.content);
    blocks.filter_map(ContentBlock::as_tool_use).map(|call| name(&call.name)).collect()
}

fn spec(out: &mut Json, tool: &ToolSpec, family: ConverseFamily) {
    // Models behind the API do not support compositions at the top level, or ignore them.
    let tool = &*without_compositions(tool, &COMPOSITIONS);
    out.raw("{\"toolSpec\":{\"name\":");
    out.json(&tool.name);
    if !tool.description.trim().is_empty() {
        out.raw(",\"description\":");
        out.json(&tool.description);
    }
    out.raw(",\"inputSchema\":{\"json\":");
    out.raw(&schema(&tool.input_schema, family));
    out.raw("}");
    if tool.strict && family.has_strict_tools {
        out.raw(",\"strict\":true");
    }
    out.raw("}}");
}

/// Returns the schema in the form that the model takes. Nova supports three members at the top level; definitions stay
/// if they are referred to, because a refusal is better than a tool with another meaning. Source:
/// <https://docs.aws.amazon.com/nova/latest/userguide/tool-use-definition.html>.
fn schema(schema: &JsonText, family: ConverseFamily) -> Cow<'_, str> {
    if !family.has_plain_schemas {
        return Cow::Borrowed(schema.as_str());
    }
    let Ok(mut members) = serde_json::from_str::<BTreeMap<&str, &RawValue>>(schema.as_str()) else {
        return Cow::Borrowed(schema.as_str());
    };
    let has_references = schema.as_str().contains("\"$ref\"");
    members.retain(|name, _| match *name {
        "type" | "properties" | "required" => true,
        "$defs" | "definitions" => has_references,
        _ => false,
    });
    serde_json::to_string(&members).map_or(Cow::Borrowed(schema.as_str()), Cow::Owned)
}

/// Writes the tool choice. Models that cannot be made to call a tool are left to choose; tool calls cannot be forbidden
/// at all.
fn choice(out: &mut Json, choice: &ToolChoice, choices: Choices) {
    match choice {
        ToolChoice::Tool(name) if choices == Choices::One => {
            out.raw(",\"toolChoice\":{\"tool\":{\"name\":");
            out.json(name);
            out.raw("}}");
        }
        ToolChoice::Any | ToolChoice::Tool(_) if choices != Choices::Auto => out.raw(",\"toolChoice\":{\"any\":{}}"),
        _ => {}
    }
}

/// Returns the name of a call in the form that the API takes. Models of other vendors have invented names that it
/// refuses.
pub(super) fn name(name: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.len() <= MAX_NAME && name.chars().all(is_plain) {
        return Cow::Borrowed(name);
    }
    let mut fitting: String = name.chars().map(|c| if is_plain(c) { c } else { '_' }).take(MAX_NAME).collect();
    if fitting.is_empty() {
        fitting.push_str("unknown");
    }
    Cow::Owned(fitting)
}
