//! Assignment of a unique id to every call of a log.

use crate::CallIds;
use std::collections::{HashMap, HashSet};
use windlass_types::{AssistantEntry, ContentBlock, Entry, EntryId, EntryKind, TaskRecord, ToolUseId};

/// A call without an id, or with the id of an earlier one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RenamedCall {
    /// Entry of the call's message.
    pub message: EntryId,
    /// Id in the log.
    pub given: ToolUseId,
    /// Assigned id.
    pub id: ToolUseId,
}

/// Message whose results are processed.
#[derive(Default)]
struct Current {
    lines: HashSet<EntryId>,
    assigned: HashMap<ToolUseId, ToolUseId>,
}

/// Renames calls, with their results and records about them. The results must come after their messages.
pub(super) fn name_calls(entries: &mut [Entry]) -> Vec<RenamedCall> {
    let mut ids = CallIds::default();
    let mut renamed = Vec::new();
    let mut current = Current::default();
    for entry in entries {
        match &mut entry.kind {
            EntryKind::Assistant(message) => {
                current = Current::default();
                current.lines.extend(message.block_ids.iter().chain([&entry.id]).cloned());
                current.name(message, &mut ids);
                let changed = current.assigned.iter().filter(|(given, assigned)| given != assigned);
                let before = renamed.len();
                renamed.extend(changed.map(|(given, id)| RenamedCall {
                    message: entry.id.clone(),
                    given: given.clone(),
                    id: id.clone(),
                }));
                if let Some(of_message) = renamed.get_mut(before..) {
                    of_message.sort_by(|one, two| one.id.cmp(&two.id));
                }
            }
            EntryKind::ToolResult(result) => current.rename(&mut result.result.tool_use_id),
            EntryKind::Intent { tool_use_id, assistant, .. } if current.lines.contains(assistant) => {
                current.rename(tool_use_id);
            }
            EntryKind::Question(question) if current.lines.contains(&question.assistant) => {
                current.rename(&mut question.tool_use_id);
            }
            EntryKind::AgentWaits(call) if current.lines.contains(&call.assistant) => {
                current.rename(&mut call.tool_use_id);
            }
            EntryKind::Decision(decision) => current.rename(&mut decision.tool_use_id),
            EntryKind::Task(TaskRecord::Started(info)) => current.rename(&mut info.tool_use_id),
            _ => {}
        }
    }
    renamed
}

impl Current {
    fn name(&mut self, message: &mut AssistantEntry, ids: &mut CallIds) {
        for block in &mut message.content {
            let ContentBlock::ToolUse(call) = block else { continue };
            // A second use of an id within a message is dropped when requests are built.
            let assigned = self.assigned.entry(call.id.clone()).or_insert_with(|| ids.name(&call.id));
            if *assigned != call.id {
                call.id = assigned.clone();
            }
        }
    }

    fn rename(&self, id: &mut ToolUseId) {
        if let Some(assigned) = self.assigned.get(id)
            && assigned != id
        {
            *id = assigned.clone();
        }
    }
}
