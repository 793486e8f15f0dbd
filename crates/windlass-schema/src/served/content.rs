//! Tools and their results in the form of MCP.

use serde::Serialize;
use std::sync::Arc;
use windlass_tool::{ToolOutput, ToolSet};
use windlass_types::{ContentBlock, DocumentSource, ImageSource, JsonError, JsonText, ToolResultContent, ToolSpec};

/// Answer to `tools/list`.
#[derive(Serialize)]
pub(super) struct ToolsAnswer {
    tools: Vec<ServedTool>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ServedTool {
    name: String,
    description: String,
    input_schema: JsonText,
    #[serde(skip_serializing_if = "Option::is_none")]
    annotations: Option<Hints>,
}

/// Hints on the effects of a tool.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Hints {
    read_only_hint: bool,
}

impl ToolsAnswer {
    pub(super) fn new(tools: &ToolSet) -> Self {
        let tool = |spec: &Arc<ToolSpec>| {
            let only_reads = tools.get(&spec.name).is_some_and(|tool| tool.annotations().hinted_read_only);
            ServedTool {
                name: spec.name.clone(),
                description: spec.description.clone(),
                input_schema: spec.input_schema.clone(),
                annotations: only_reads.then_some(Hints { read_only_hint: true }),
            }
        };
        Self { tools: tools.specs().iter().map(tool).collect() }
    }
}

/// Answer to `tools/call`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CallResult {
    content: Vec<ServedBlock>,
    is_error: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_content: Option<JsonText>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
enum ServedBlock {
    Text { text: String },
    Image { data: String, mime_type: String },
    ResourceLink { uri: String, name: String },
    Resource { resource: EmbeddedResource },
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EmbeddedResource {
    uri: String,
    mime_type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blob: Option<String>,
}

impl CallResult {
    pub(super) fn new(output: ToolOutput) -> Self {
        let content = match output.content {
            ToolResultContent::Text(text) => vec![ServedBlock::Text { text }],
            ToolResultContent::Blocks(blocks) => blocks.into_iter().map(block).collect(),
        };
        // MCP allows only an object as structured content.
        let structured_content = output.structured.filter(JsonText::is_object);
        Self { content, is_error: output.is_error, structured_content }
    }
}

/// Returns the output of a tool as the result of `tools/call` in MCP.
///
/// # Errors
/// The output cannot be written as JSON.
pub fn call_result(output: ToolOutput) -> Result<JsonText, JsonError> {
    JsonText::of(&CallResult::new(output))
}

fn block(block: ContentBlock) -> ServedBlock {
    match block {
        ContentBlock::Text { text, .. } => ServedBlock::Text { text },
        ContentBlock::Image { source: ImageSource::Base64 { media_type, data } } => {
            ServedBlock::Image { data, mime_type: media_type }
        }
        ContentBlock::Image { source: ImageSource::Url { url } } => {
            ServedBlock::ResourceLink { uri: url, name: "image".to_owned() }
        }
        ContentBlock::Document { source, title } => document(source, title.unwrap_or_else(|| "document".to_owned())),
        // A block without an equivalent in MCP is sent as its JSON.
        other => ServedBlock::Text { text: serde_json::to_string(&other).unwrap_or_default() },
    }
}

fn document(source: DocumentSource, name: String) -> ServedBlock {
    let uri = format!("tool:{name}");
    match source {
        DocumentSource::Base64 { media_type, data } => ServedBlock::Resource {
            resource: EmbeddedResource { uri, mime_type: media_type, text: None, blob: Some(data) },
        },
        DocumentSource::Text { media_type, data } => ServedBlock::Resource {
            resource: EmbeddedResource { uri, mime_type: media_type, text: Some(data), blob: None },
        },
        DocumentSource::Url { url } => ServedBlock::ResourceLink { uri: url, name },
        _ => ServedBlock::Text { text: name },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_those_of_mcp() {
        let image = r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}}"#;
        let linked = r#"{"type":"image","source":{"type":"url","url":"https://x/y.png"}}"#;
        let document =
            r#"{"type":"document","title":"t","source":{"type":"text","media_type":"text/plain","data":"d"}}"#;
        let pdf = r#"{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"AA=="}}"#;
        for (block, expected) in [
            (r#"{"type":"text","text":"x"}"#, r#"{"type":"text","text":"x"}"#),
            (image, r#"{"type":"image","data":"AA==","mimeType":"image/png"}"#),
            (linked, r#"{"type":"resource_link","uri":"https://x/y.png","name":"image"}"#),
            (document, r#"{"type":"resource","resource":{"uri":"tool:t","mimeType":"text/plain","text":"d"}}"#),
            (
                pdf,
                r#"{"type":"resource","resource":{"uri":"tool:document","mimeType":"application/pdf","blob":"AA=="}}"#,
            ),
            (r#"{"type":"hologram"}"#, r#"{"type":"text","text":"{\"type\":\"hologram\"}"}"#),
        ] {
            let output = ToolOutput::blocks(vec![serde_json::from_str(block).unwrap()]);
            let written = serde_json::to_string(&CallResult::new(output)).unwrap();
            assert_eq!(written, format!(r#"{{"content":[{expected}],"isError":false}}"#));
        }
        let output = ToolOutput::text("x").with_structured(&[1]).unwrap();
        let written = serde_json::to_string(&CallResult::new(output)).unwrap();
        assert_eq!(written, r#"{"content":[{"type":"text","text":"x"}],"isError":false}"#);
    }
}
