//! Token estimates: size of a conversation, and usage that a provider may bill before it has counted.

mod billed;

pub use billed::{StreamedTokens, estimate_request};

use windlass_types::{ContentBlock, DocumentSource, ImageSource, Message, ToolResult, ToolResultContent};

/// Bytes of UTF-8 text in a token, a low value: code and JSON have three to four, so this estimates high.
const BYTES_PER_TOKEN: u64 = 3;

/// Maximum tokens of an image on current models: width × height / 750, with a longest side of 1,568 pixels (Anthropic,
/// "Vision").
const IMAGE_TOKENS: u64 = 1_600;

/// Tokens of the frame around a message or block: role, type, separators.
const FRAME_TOKENS: u64 = 4;

/// Returns the tokens of a text, estimated high.
pub fn estimate_text(text: &str) -> u64 {
    (text.len() as u64).div_ceil(BYTES_PER_TOKEN)
}

/// Returns the tokens of a message, estimated high.
pub fn estimate_message(message: &Message) -> u64 {
    FRAME_TOKENS + estimate_blocks(&message.content)
}

/// Returns the tokens of content, estimated high.
pub fn estimate_blocks(blocks: &[ContentBlock]) -> u64 {
    blocks.iter().map(|block| measure_block(block, estimate_text)).sum()
}

/// Returns the tokens of a tool result, estimated high.
pub fn estimate_result(result: &ToolResult) -> u64 {
    FRAME_TOKENS + measure_result(result, estimate_text)
}

fn measure_result(result: &ToolResult, estimate: fn(&str) -> u64) -> u64 {
    match &result.content {
        ToolResultContent::Text(text) => estimate(text),
        ToolResultContent::Blocks(blocks) => blocks.iter().map(|block| measure_block(block, estimate)).sum(),
    }
}

/// Returns the tokens of a block, by a measure of its written text. Encoded data is measured by its bytes.
fn measure_block(block: &ContentBlock, estimate: fn(&str) -> u64) -> u64 {
    FRAME_TOKENS
        + match block {
            ContentBlock::Text { text, .. } => estimate(text),
            ContentBlock::Thinking { thinking, signature } => estimate(thinking) + estimate_text(signature),
            ContentBlock::RedactedThinking { data } => estimate_text(data),
            ContentBlock::Image { source: ImageSource::Base64 { .. } } => IMAGE_TOKENS,
            ContentBlock::Image { .. } => IMAGE_TOKENS,
            ContentBlock::Document { source, .. } => match source {
                DocumentSource::Text { data, .. } => estimate(data),
                // A page of PDF is text and image; its bytes are an upper bound of both.
                DocumentSource::Base64 { data, .. } => estimate_text(data),
                _ => IMAGE_TOKENS,
            },
            ContentBlock::ToolUse(call) => estimate(&call.name) + estimate(call.input.as_str()),
            ContentBlock::ToolResult(result) => measure_result(result, estimate),
            ContentBlock::Unknown(json) => estimate(json.as_str()),
            _ => IMAGE_TOKENS,
        }
}
