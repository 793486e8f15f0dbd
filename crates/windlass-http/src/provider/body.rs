//! JSON bodies of requests.

use bytes::Bytes;
use serde::Serialize;
use windlass_types::{ContentBlock, DocumentSource, ImageSource, Message, ModelRequest, ToolResultContent};

/// JSON that is written straight to bytes. The caller is responsible for valid JSON; nothing is checked.
#[derive(Debug)]
pub struct JsonBody(Vec<u8>);

impl JsonBody {
    /// Creates a body with the estimated capacity for a request.
    #[must_use]
    pub fn for_request(request: &ModelRequest) -> Self {
        let system: usize = request.system.iter().map(|section| section.text.len() + 64).sum();
        let tools: usize =
            request.tools.iter().map(|tool| tool.description.len() + tool.input_schema.as_str().len() + 128).sum();
        let messages: usize = request.messages.iter().map(|message| length(message)).sum();
        // Escapes lengthen the text; an eighth more is enough for prose and code.
        Self(Vec::with_capacity((system + tools + messages) / 8 * 9 + 1024))
    }

    /// Writes a text unchanged.
    pub fn raw(&mut self, text: &str) {
        self.0.extend_from_slice(text.as_bytes());
    }

    /// Writes a value as JSON.
    pub fn json(&mut self, value: &(impl Serialize + ?Sized)) {
        // Strings, numbers and exact JSON, written to memory: this cannot fail.
        let _ = serde_json::to_writer(&mut self.0, value);
    }

    /// Returns the bytes of the body.
    #[must_use]
    pub fn finish(self) -> Bytes {
        self.0.into()
    }
}

/// Estimates the length of a message: its texts and its data.
fn length(message: &Message) -> usize {
    fn of_block(block: &ContentBlock) -> usize {
        match block {
            ContentBlock::Text { text, .. } => text.len(),
            ContentBlock::Thinking { thinking, signature } => thinking.len() + signature.len(),
            ContentBlock::RedactedThinking { data } => data.len(),
            ContentBlock::ToolUse(call) => call.input.as_str().len() + call.name.len(),
            ContentBlock::ToolResult(result) => match &result.content {
                ToolResultContent::Text(text) => text.len(),
                ToolResultContent::Blocks(blocks) => blocks.iter().map(of_block).sum(),
            },
            ContentBlock::Image { source: ImageSource::Base64 { data, .. } }
            | ContentBlock::Document {
                source: DocumentSource::Base64 { data, .. } | DocumentSource::Text { data, .. },
                ..
            } => data.len(),
            ContentBlock::Unknown(json) => json.as_str().len(),
            _ => 256,
        }
    }
    message.content.iter().map(|block| of_block(block) + 96).sum()
}
