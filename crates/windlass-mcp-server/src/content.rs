//! Conversion of tools, their results, resources and prompts to MCP types.

use crate::{ServedContents, ServedData, ServedHints, ServedMessage, ServedPrompt, ServedResource, ServedTool};
use rmcp::model::{
    CallToolResult, ContentBlock as WireBlock, JsonObject, Prompt, PromptArgument, PromptMessage, Resource,
    ResourceContents, ResourceTemplate, ResultType, Role, Tool, ToolAnnotations,
};
use serde_json::json;
use std::sync::Arc;
use windlass::event::ToolResultContent;
use windlass::tool::call_result;
use windlass::{ContentBlock, JsonText, ToolOutput};

/// Returns an audio block for the result of a tool or a message: `base64` is its data in standard base64. Models may
/// not support it.
#[must_use]
pub fn audio_block(media_type: &str, base64: &str) -> ContentBlock {
    foreign(&json!({"type": "audio", "mimeType": media_type, "data": base64}))
}

/// Returns a block that holds a resource, for the result of a tool or a message.
#[must_use]
pub fn resource_block(contents: ServedContents) -> ContentBlock {
    foreign(&json!({"type": "resource", "resource": contents_of(contents)}))
}

fn foreign(block: &serde_json::Value) -> ContentBlock {
    ContentBlock::Unknown(JsonText::of(block).unwrap_or_else(|_| JsonText::empty_object()))
}

/// Converts a tool for the list; `None` if its schema is no object.
pub(crate) fn listed(tool: ServedTool) -> Option<Tool> {
    let mut schema: JsonObject = tool.input_schema.to().ok()?;
    schema.entry("type").or_insert_with(|| "object".into());
    let mut listed = Tool::new(tool.name, tool.description, Arc::new(schema));
    listed.title = tool.title;
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

/// Converts the output of a call.
pub(crate) fn result(output: ToolOutput) -> Result<CallToolResult, String> {
    let known: Vec<Option<WireBlock>> = match &output.content {
        ToolResultContent::Blocks(blocks) => blocks.iter().map(wire_block).collect(),
        ToolResultContent::Text(_) => Vec::new(),
    };
    let mut result: CallToolResult =
        call_result(output).and_then(|result| result.to()).map_err(|error| error.to_string())?;
    result.result_type = Some(ResultType::COMPLETE);
    for (block, known) in result.content.iter_mut().zip(known) {
        if let Some(known) = known {
            *block = known;
        }
    }
    Ok(result)
}

/// Returns a block that is in MCP form already.
fn wire_block(block: &ContentBlock) -> Option<WireBlock> {
    let ContentBlock::Unknown(text) = block else { return None };
    text.to().ok()
}

pub(crate) fn resource(resource: ServedResource) -> Resource {
    let mut listed = Resource::new(resource.uri, resource.name);
    (listed.description, listed.mime_type) = (resource.description, resource.media_type);
    listed
}

pub(crate) fn template(resource: ServedResource) -> ResourceTemplate {
    let mut listed = ResourceTemplate::new(resource.uri, resource.name);
    (listed.description, listed.mime_type) = (resource.description, resource.media_type);
    listed
}

pub(crate) fn contents_of(contents: ServedContents) -> ResourceContents {
    let made = match contents.data {
        ServedData::Text(text) => ResourceContents::text(text, contents.uri),
        ServedData::Base64(data) => ResourceContents::blob(data, contents.uri),
    };
    made.with_mime_type(contents.media_type)
}

pub(crate) fn prompt(prompt: ServedPrompt) -> Prompt {
    let argument = |argument: crate::ServedArgument| {
        PromptArgument::new(argument.name).with_description(argument.description).with_required(argument.required)
    };
    let arguments: Vec<_> = prompt.arguments.into_iter().map(argument).collect();
    Prompt::new(prompt.name, Some(prompt.description), Some(arguments).filter(|arguments| !arguments.is_empty()))
}

pub(crate) fn message(message: ServedMessage) -> Result<PromptMessage, String> {
    let role = if message.is_of_user { Role::User } else { Role::Assistant };
    let block = result(ToolOutput::blocks(vec![message.content]))?.content.pop();
    block.map(|block| PromptMessage::new(role, block)).ok_or_else(|| "a message of the prompt is empty".to_owned())
}
