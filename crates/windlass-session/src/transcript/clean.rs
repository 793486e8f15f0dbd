//! Filters for content that can be sent.

use std::borrow::Cow;
use std::collections::HashSet;
use windlass_types::text::lone_surrogates_replaced;
use windlass_types::{ContentBlock, JsonText, ToolResult, ToolResultContent, ToolUseId};

/// `true` if a user message has content that can be sent.
pub(crate) fn has_user_content(content: &[ContentBlock]) -> bool {
    content.iter().any(is_of_user)
}

/// `true` if an assistant message has content that can be sent.
pub(crate) fn has_assistant_content(content: &[ContentBlock]) -> bool {
    content.iter().any(|block| is_of_assistant(block) && !block.is_thinking())
}

fn is_of_user(block: &ContentBlock) -> bool {
    match block {
        ContentBlock::Text { text, .. } => !text.trim().is_empty(),
        ContentBlock::Thinking { .. }
        | ContentBlock::RedactedThinking { .. }
        | ContentBlock::ToolUse(_)
        | ContentBlock::ToolResult(_) => false,
        _ => true,
    }
}

fn is_of_assistant(block: &ContentBlock) -> bool {
    match block {
        ContentBlock::Text { text, .. } => !text.trim().is_empty(),
        ContentBlock::ToolResult(_) | ContentBlock::Image { .. } | ContentBlock::Document { .. } => false,
        _ => true,
    }
}

/// Returns the content of a user message: no blank text, no blocks of the model's side, no results (they are pushed
/// separately).
pub(crate) fn user_content(mut content: Vec<ContentBlock>) -> Vec<ContentBlock> {
    content.retain(is_of_user);
    content
}

/// Returns the content of an assistant message.
pub(crate) fn assistant_content(mut content: Vec<ContentBlock>) -> Vec<ContentBlock> {
    content.retain(is_of_assistant);
    drop_repeated_calls(&mut content);
    // The Messages API refuses a message that ends in reasoning, even if a call after it was removed.
    while content.last().is_some_and(ContentBlock::is_thinking) {
        content.pop();
    }
    for block in &mut content {
        if let ContentBlock::ToolUse(call) = block {
            if let Some(name) = usable_name(&call.name) {
                call.name = name;
            }
            if !call.input.is_object() {
                call.input = JsonText::empty_object();
            } else if let Cow::Owned(text) = lone_surrogates_replaced(call.input.as_str()) {
                call.input = JsonText::parse(text).unwrap_or_else(|_| JsonText::empty_object());
            }
        }
    }
    content
}

/// Returns the name for sending a call whose tool name no provider accepts: models write whole commands there. `None`
/// for a name of letters, digits, `_` and `-`, as all tools have them. It depends on the name alone, so that requests
/// repeat it.
fn usable_name(name: &str) -> Option<String> {
    /// Maximum length of a name, in characters.
    const LONGEST: usize = 64;
    let is_plain = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-');
    if (1..=LONGEST).contains(&name.len()) && name.chars().all(is_plain) {
        return None;
    }
    let words: Vec<&str> = name.split(|char| !is_plain(char)).filter(|word| !word.is_empty()).collect();
    let mut usable: String = words.join("_").chars().take(LONGEST).collect();
    // Some providers require a letter or `_` first.
    if !usable.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') {
        usable = format!("_{usable}").chars().take(LONGEST).collect();
    }
    Some(usable)
}

fn drop_repeated_calls(content: &mut Vec<ContentBlock>) {
    let mut seen = HashSet::new();
    content.retain(|block| block.as_tool_use().is_none_or(|call| seen.insert(call.id.clone())));
}

/// Returns the result as an answer to the call of this id.
pub(super) fn result(mut result: ToolResult, id: Option<&ToolUseId>) -> ToolResult {
    if let Some(id) = id {
        result.tool_use_id = id.clone();
    }
    if let ToolResultContent::Blocks(blocks) = &mut result.content {
        *blocks = user_content(std::mem::take(blocks));
        if blocks.is_empty() {
            result.content = ToolResultContent::default();
        }
    }
    result
}
