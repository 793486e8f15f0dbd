//! Replacement of earlier results by notes.

use super::Transcript;
use std::collections::HashMap;
use windlass_types::{ContentBlock, Message, Role, SharedMessage, ToolResultContent, ToolUseId, TrimmedResult};

impl Transcript {
    /// Replaces the results of these calls by notes, by the ids of the calls in the conversation. A call without a
    /// result here is skipped. Messages before the first of the results stay unchanged.
    pub fn trim(&mut self, results: &[TrimmedResult]) {
        let notes: HashMap<&ToolUseId, &str> =
            results.iter().map(|result| (&result.tool_use_id, result.note.as_str())).collect();
        for message in self.sealed.iter_mut().chain(&mut self.tail).filter(|message| message.role == Role::User) {
            if let Some(content) = trimmed(&message.content, &notes) {
                *message = SharedMessage::from(Message::user(content));
            }
        }
    }
}

/// Returns the blocks with the notes, if one of them is for a block.
fn trimmed(blocks: &[ContentBlock], notes: &HashMap<&ToolUseId, &str>) -> Option<Vec<ContentBlock>> {
    let note_for = |block: &ContentBlock| match block {
        ContentBlock::ToolResult(result) => notes.get(&result.tool_use_id).copied(),
        _ => None,
    };
    if !blocks.iter().any(|block| note_for(block).is_some()) {
        return None;
    }
    let replaced = blocks.iter().map(|block| match (block, note_for(block)) {
        (ContentBlock::ToolResult(result), Some(note)) => {
            let mut result = result.clone();
            result.content = ToolResultContent::Text(note.to_owned());
            ContentBlock::ToolResult(result)
        }
        _ => block.clone(),
    });
    Some(replaced.collect())
}
