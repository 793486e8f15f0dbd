//! Token estimates, for reservations before a provider has counted.

use windlass_types::{ContentBlock, DocumentSource, ImageSource, Message, ModelRequest, ToolResultContent};

/// Bytes of UTF-8 text in a token, on the low side: code and JSON run at three
/// to four, so this estimates high.
const BYTES_PER_TOKEN: u64 = 3;

/// What an image costs at most on current models: width × height / 750, with a
/// longest side of 1,568 pixels (Anthropic, "Vision").
const IMAGE_TOKENS: u64 = 1_600;

/// Frame around a message or block: role, type, separators.
const FRAME_TOKENS: u64 = 4;

/// Tokens of a text, estimated high.
pub fn estimate_text(text: &str) -> u64 {
    (text.len() as u64).div_ceil(BYTES_PER_TOKEN)
}

/// Tokens of a message, estimated high.
pub fn estimate_message(message: &Message) -> u64 {
    FRAME_TOKENS + estimate_blocks(&message.content)
}

/// Tokens of content, estimated high.
pub fn estimate_blocks(blocks: &[ContentBlock]) -> u64 {
    blocks.iter().map(estimate_block).sum()
}

fn estimate_block(block: &ContentBlock) -> u64 {
    FRAME_TOKENS
        + match block {
            ContentBlock::Text { text } => estimate_text(text),
            ContentBlock::Thinking { thinking, signature } => estimate_text(thinking) + estimate_text(signature),
            ContentBlock::RedactedThinking { data } => estimate_text(data),
            ContentBlock::Image { source: ImageSource::Base64 { .. } } => IMAGE_TOKENS,
            ContentBlock::Image { .. } => IMAGE_TOKENS,
            ContentBlock::Document { source, .. } => match source {
                DocumentSource::Text { data, .. } => estimate_text(data),
                // A page of PDF is text and image; its bytes bound both from above.
                DocumentSource::Base64 { data, .. } => estimate_text(data),
                _ => IMAGE_TOKENS,
            },
            ContentBlock::ToolUse(call) => estimate_text(&call.name) + estimate_text(call.input.as_str()),
            ContentBlock::ToolResult(result) => match &result.content {
                ToolResultContent::Text(text) => estimate_text(text),
                ToolResultContent::Blocks(blocks) => blocks.iter().map(estimate_block).sum(),
            },
            ContentBlock::Unknown(json) => estimate_text(json.as_str()),
            _ => IMAGE_TOKENS,
        }
}

/// Input tokens of a request, estimated high.
pub fn estimate_request(request: &ModelRequest) -> u64 {
    let system: u64 = request.system.iter().map(|section| estimate_text(&section.text)).sum();
    let tools: u64 = request
        .tools
        .iter()
        .map(|tool| {
            FRAME_TOKENS
                + estimate_text(&tool.name)
                + estimate_text(&tool.description)
                + estimate_text(tool.input_schema.as_str())
        })
        .sum();
    let messages: u64 = request.messages.iter().map(|message| estimate_message(message)).sum();
    system + tools + messages
}
