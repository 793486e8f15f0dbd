//! Truncation of a conversation to an earlier point.

#[cfg(test)]
mod tests;

use crate::foreign::{Kind, kind_of};
use std::collections::HashSet;
use windlass_types::{ContentBlock, Entry, EntryId, EntryKind, JsonText, PermissionMode, Timestamp, ToolUseId};

/// A conversation that ends earlier than its log.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Truncated {
    /// Entries that are kept, with every call answered.
    pub entries: Vec<Entry>,
    /// Entries that the conversation drops.
    pub dropped: Vec<Entry>,
}

/// Error: the conversation has no such entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("No message found with message.uuid of: {id}")]
#[non_exhaustive]
pub struct UnknownEntry {
    /// Id that was asked for.
    pub id: EntryId,
}

/// Error: the dropped entries belong to more than the named turn.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Resume rejected by --resume-drops-turn: {reason}")]
#[non_exhaustive]
pub struct DropsMore {
    /// Description of the other dropped entry.
    pub reason: String,
}

/// Ends a conversation with the entry of this id. Any entry of the conversation is valid: a prompt, a block of a
/// message, a result, an attachment.
///
/// A message of the model is kept as a whole with the answers to its calls, even if the point is inside it: they
/// happened, and a later reading of the log shows them together. A message of the user between two of the answers is
/// kept with them.
///
/// The entries must be repaired ([`crate::repair`]), so that every call has an answer.
///
/// # Errors
/// No such entry exists: it never did, or another branch or a compaction hides it.
pub fn truncate(mut entries: Vec<Entry>, at: &EntryId) -> Result<Truncated, UnknownEntry> {
    let is_point = |entry: &Entry| match &entry.kind {
        EntryKind::Assistant(message) => entry.id == *at || message.block_ids.contains(at),
        EntryKind::Foreign(json) => entry.id == *at && kind_of(json).is_chained(),
        _ => entry.id == *at && entry.is_conversation(),
    };
    let point = entries.iter().position(is_point).ok_or_else(|| UnknownEntry { id: at.clone() })?;
    let mut open: HashSet<ToolUseId> = HashSet::new();
    let mut end = entries.len();
    for (position, entry) in entries.iter().enumerate() {
        match &entry.kind {
            EntryKind::Assistant(message) => {
                open =
                    message.content.iter().filter_map(ContentBlock::as_tool_use).map(|call| call.id.clone()).collect();
            }
            EntryKind::ToolResult(result) => {
                open.remove(&result.result.tool_use_id);
            }
            _ => {}
        }
        if position >= point && open.is_empty() {
            end = position + 1;
            break;
        }
    }
    let dropped = entries.split_off(end);
    Ok(Truncated { entries, dropped })
}

impl Truncated {
    /// Checks that all dropped entries belong to the turn of one prompt: no entry of the turn before it, and no message
    /// that the user sent meanwhile.
    ///
    /// # Errors
    /// The first entry that belongs to another turn.
    pub fn check_drops_only(&self, prompt: &EntryId) -> Result<(), DropsMore> {
        let mut seen = false;
        for entry in &self.dropped {
            if entry.id == *prompt && matches!(entry.kind, EntryKind::User(_)) {
                seen = true;
                continue;
            }
            let what = match &entry.kind {
                EntryKind::User(user) if user.is_meta || user.is_summary || is_marker(&user.content) => continue,
                EntryKind::User(_) => "another message of the user",
                EntryKind::Assistant(_) if !seen => "an answer of the turn before",
                EntryKind::ToolResult(result) if !seen && !result.result.is_error => "a result of the turn before",
                EntryKind::Foreign(json) => match kind_of(json) {
                    Kind::Queued => "a queued message",
                    Kind::Output if !seen => "the output of the turn before",
                    _ => continue,
                },
                _ => continue,
            };
            return Err(DropsMore { reason: format!("it would also drop {what} ({})", entry.id) });
        }
        if seen || !self.dropped.iter().any(Entry::is_conversation) {
            return Ok(());
        }
        Err(DropsMore { reason: format!("the prompt {prompt} does not stand after that point") })
    }

    /// Returns the entries to repeat so that a later reading of the whole log agrees with this one. Lines beside the
    /// conversation belong to no branch, so the last of each kind applies, even if it is dropped here. The cost is not
    /// taken back: spending stays.
    ///
    /// `cwd` is the start directory of sessions.
    pub fn restated(&self, cwd: &str, now: Timestamp, mut new_id: impl FnMut() -> EntryId) -> Vec<Entry> {
        let defaults = [
            EntryKind::Mode(PermissionMode::Default),
            EntryKind::Cwd(cwd.to_owned()),
            EntryKind::Todos(JsonText::parse("[]").unwrap_or_else(|_| JsonText::empty_object())),
        ];
        let mut restated = Vec::new();
        for default in defaults {
            let same = |entry: &&Entry| std::mem::discriminant(&entry.kind) == std::mem::discriminant(&default);
            if self.dropped.iter().any(|entry| same(&entry)) {
                let kind = self.entries.iter().rfind(same).map_or_else(|| default.clone(), |entry| entry.kind.clone());
                restated.push(Entry::new(new_id(), None, now, kind));
            }
        }
        restated
    }

    /// Returns the entries that the session continues with: the kept ones, and the later spending.
    pub fn into_entries(self) -> Vec<Entry> {
        let Self { mut entries, dropped } = self;
        entries.extend(
            dropped.into_iter().filter(|entry| matches!(entry.kind, EntryKind::RunFinished(_) | EntryKind::Spent(_))),
        );
        entries
    }
}

/// `true` if the text only reports that the user stopped the run.
fn is_marker(content: &[ContentBlock]) -> bool {
    matches!(content, [block] if block.as_text().is_some_and(|text| text.starts_with("[Request interrupted by user")))
}
