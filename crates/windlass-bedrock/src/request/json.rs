//! JSON that is being written.

use serde::Serialize;
use windlass_http::Bytes;
use windlass_types::{ContentBlock, DocumentSource, ImageSource, Message, ModelRequest, ToolResultContent};

/// The bytes so far.
pub(super) struct Json(Vec<u8>);

impl Json {
    pub(super) fn for_request(request: &ModelRequest) -> Self {
        let system: usize = request.system.iter().map(|section| section.text.len() + 64).sum();
        let tools: usize =
            request.tools.iter().map(|tool| tool.description.len() + tool.input_schema.as_str().len() + 128).sum();
        let messages: usize = request.messages.iter().map(|message| length(message)).sum();
        // Escapes make it longer; an eighth more is enough for prose and code.
        Self(Vec::with_capacity((system + tools + messages) / 8 * 9 + 1024))
    }

    pub(super) fn raw(&mut self, text: &str) {
        self.0.extend_from_slice(text.as_bytes());
    }

    pub(super) fn json(&mut self, value: &(impl Serialize + ?Sized)) {
        // Strings, numbers and exact JSON, written to memory: this cannot fail.
        let _ = serde_json::to_writer(&mut self.0, value);
    }

    pub(super) fn finish(self) -> Bytes {
        self.0.into()
    }
}

/// About how long a message is, where that matters: its texts and its data.
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
            _ => 128,
        }
    }
    message.content.iter().map(|block| of_block(block) + 96).sum()
}
