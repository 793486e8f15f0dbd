//! JSON of content blocks, without serde for the frequent kinds, and estimates of its length.

use super::{ContentBlock, ToolResult, ToolResultContent};
use crate::{DocumentSource, ImageSource, JsonError, JsonText};

impl ContentBlock {
    /// Approximate length of the block's texts, in bytes.
    pub(crate) fn text_len(&self) -> usize {
        let content_len = match self {
            Self::Text { text, .. } => text.len(),
            Self::Thinking { thinking, signature } => thinking.len() + signature.len(),
            Self::RedactedThinking { data }
            | Self::Image { source: ImageSource::Base64 { data, .. } }
            | Self::Document {
                source: DocumentSource::Base64 { data, .. } | DocumentSource::Text { data, .. }, ..
            } => data.len(),
            Self::Image { .. } | Self::Document { .. } => 0,
            Self::ToolUse(call) => call.input.as_str().len(),
            Self::ToolResult(result) => result.text_len(),
            Self::Unknown(json) => json.as_str().len(),
        };
        content_len + self.replay().map_or(0, |json| json.as_str().len())
    }

    /// Appends the block as serde would serialise it.
    ///
    /// # Errors
    /// A [`JsonText`] inside the block is not valid JSON.
    pub(crate) fn push_json(&self, out: &mut String) -> Result<(), JsonError> {
        match self {
            Self::Text { text, .. } => {
                out.push_str(r#"{"type":"text","text":"#);
                JsonText::push_string(text, out);
                out.push('}');
            }
            Self::ToolResult(result) => result.push_block(out)?,
            other => out.push_str(&serde_json::to_string(other)?),
        }
        Ok(())
    }
}

impl ToolResult {
    pub(crate) fn text_len(&self) -> usize {
        match &self.content {
            ToolResultContent::Text(text) => text.len(),
            ToolResultContent::Blocks(blocks) => blocks.iter().map(ContentBlock::text_len).sum(),
        }
    }

    /// Appends the result as a content block, in the JSON of the Messages API.
    ///
    /// # Errors
    /// A [`JsonText`] inside the result is not valid JSON: [`JsonText::from_parsed`] was given other text.
    pub fn push_block(&self, out: &mut String) -> Result<(), JsonError> {
        out.push_str(r#"{"type":"tool_result","tool_use_id":"#);
        JsonText::push_string(self.tool_use_id.as_str(), out);
        out.push_str(r#","content":"#);
        match &self.content {
            ToolResultContent::Text(text) => JsonText::push_string(text, out),
            ToolResultContent::Blocks(blocks) => push_blocks(blocks, out)?,
        }
        out.push_str(if self.is_error { r#","is_error":true}"# } else { "}" });
        Ok(())
    }
}

/// Estimated number of bytes of JSON syntax around one block.
const BLOCK_SYNTAX_BYTES: usize = 96;

/// Appends the blocks as a JSON array.
pub(crate) fn push_blocks(blocks: &[ContentBlock], out: &mut String) -> Result<(), JsonError> {
    let texts: usize = blocks.iter().map(ContentBlock::text_len).sum();
    // Escapes lengthen source code by less than a sixteenth.
    out.reserve(texts + texts / 16 + blocks.len() * BLOCK_SYNTAX_BYTES + 2);
    out.push('[');
    for (index, block) in blocks.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        block.push_json(out)?;
    }
    out.push(']');
    Ok(())
}
