//! The stored history of a session as updates.

use super::presenter::{chunk, plan};
use super::tool_call;
use crate::agent::HistoryEntry;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::Path;
use windlass_types::{ContentBlock, ToolUse, ToolUseId};

/// Translator of a stored history.
#[derive(Debug, Default)]
pub(crate) struct History {
    /// Calls without a result.
    calls: HashMap<ToolUseId, ToolUse>,
}

impl History {
    /// The updates of one entry. `message` is a fresh id for its chunks.
    pub(crate) fn updates(&mut self, entry: &HistoryEntry, message: &str, cwd: &Path) -> Vec<Value> {
        match entry {
            HistoryEntry::Prompt(blocks) => blocks
                .iter()
                .filter_map(tool_call::plain_block)
                .map(|block| chunk("user_message_chunk", block, message))
                .collect(),
            HistoryEntry::Message(blocks) => {
                blocks.iter().filter_map(|block| self.block(block, message, cwd)).collect()
            }
            HistoryEntry::Result(result) => {
                let call = self.calls.remove(&result.tool_use_id);
                vec![Value::Object(tool_call::stored(call.as_ref(), result, cwd))]
            }
            HistoryEntry::Todos(todos) => plan(todos).into_iter().collect(),
            HistoryEntry::Title(title) => vec![json!({ "sessionUpdate": "session_info_update", "title": title })],
        }
    }

    fn block(&mut self, block: &ContentBlock, message: &str, cwd: &Path) -> Option<Value> {
        match block {
            ContentBlock::Thinking { thinking, .. } if !thinking.is_empty() => {
                Some(chunk("agent_thought_chunk", json!({ "type": "text", "text": thinking }), message))
            }
            ContentBlock::ToolUse(call) => {
                self.calls.insert(call.id.clone(), call.clone());
                Some(Value::Object(tool_call::announced(call.id.as_str(), call, cwd)))
            }
            block => tool_call::plain_block(block).map(|block| chunk("agent_message_chunk", block, message)),
        }
    }
}
