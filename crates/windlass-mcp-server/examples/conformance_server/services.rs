//! Tools that return content which models do not read, and that inform their client while they work.

use windlass::{ContentBlock, JsonText, ToolOutput, async_trait};
use windlass_mcp_server::{
    ClientAbility, LogLevel, McpService, ServedCall, ServedChanges, ServedContents, ServedTool, audio_block,
    resource_block,
};

/// A short silence.
const WAV: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA==";
/// Pixel of `plain.rs`.
pub(crate) const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC";

const PLAIN: [(&str, &str); 9] = [
    ("test_audio_content", "Plays a sound."),
    ("test_embedded_resource", "Returns a resource."),
    ("test_multiple_content_types", "Returns text, an image and a resource."),
    ("test_tool_with_logging", "Writes three lines of the log."),
    ("test_logging_tool", "Writes a line of the log."),
    ("test_tool_with_progress", "Reports progress three times."),
    ("test_reconnection", "Takes no time, so that no client has to connect again."),
    ("test_trigger_tool_change", "Reports that tools have changed."),
    ("test_trigger_prompt_change", "Reports that prompts have changed."),
];

/// Schema that uses all of JSON Schema 2020-12.
const RICH: &str = r##"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},"phone":{"type":"string"},"email":{"type":"string"}},"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},"then":{"required":["phone"]},"else":{"required":["email"]},"additionalProperties":false}"##;

/// Schema with a parameter that clients also send as a header.
const HEADER: &str = r#"{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}"#;

pub(crate) struct Talkative {
    pub(crate) changes: ServedChanges,
}

fn schema(text: &str) -> JsonText {
    JsonText::parse(text).unwrap_or_else(|_| JsonText::empty_object())
}

#[async_trait]
impl McpService for Talkative {
    fn tools(&self) -> Vec<ServedTool> {
        let plain = |(name, does)| ServedTool::new(name, does, JsonText::empty_object());
        let mut tools: Vec<_> = PLAIN.into_iter().map(plain).collect();
        tools.push(ServedTool::new("json_schema_2020_12_tool", "Tool with JSON Schema 2020-12 features", schema(RICH)));
        tools.push(ServedTool::new("test_custom_headers", "Returns its input.", schema(HEADER)));
        let needy = ServedTool::new("test_missing_capability", "Needs a model.", JsonText::empty_object());
        tools.push(needy.with_need(ClientAbility::Sampling));
        tools
    }

    async fn call(&self, call: ServedCall) -> ToolOutput {
        let client = &call.client;
        match call.tool.as_str() {
            "test_audio_content" => return ToolOutput::blocks(vec![audio_block("audio/wav", WAV)]),
            "test_embedded_resource" => return ToolOutput::blocks(vec![embedded("test://embedded-resource")]),
            "test_multiple_content_types" => return mixed(),
            "test_tool_with_logging" => {
                for line in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
                    client.log(LogLevel::Info, line).await;
                }
            }
            "test_logging_tool" => client.log(LogLevel::Info, "A line of the log").await,
            "test_tool_with_progress" => {
                for done in [0.0, 50.0, 100.0] {
                    client.progress_of(done, 100.0).await;
                }
            }
            "test_trigger_tool_change" => self.changes.tools(),
            "test_trigger_prompt_change" => self.changes.prompts(),
            _ => return ToolOutput::text(call.input.as_str()),
        }
        ToolOutput::text("Done.")
    }
}

fn embedded(uri: &str) -> ContentBlock {
    resource_block(ServedContents::text(uri, "text/plain", "This is an embedded resource content."))
}

fn mixed() -> ToolOutput {
    let resource = ServedContents::text("test://mixed-content-resource", "application/json", r#"{"test":"data"}"#);
    let image = format!(r#"{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{PNG}"}}}}"#);
    let image = schema(&image).to().unwrap_or_else(|_| ContentBlock::text("no image"));
    ToolOutput::blocks(vec![ContentBlock::text("Multiple content types test:"), image, resource_block(resource)])
}
