//! Going back to an earlier point of a conversation.

#[cfg(test)]
mod tests;

use crate::foreign::{Kind, kind_of};
use std::collections::HashSet;
use windlass_types::{ContentBlock, Entry, EntryId, EntryKind, JsonText, PermissionMode, Timestamp, ToolUseId};

/// A conversation that ends earlier than its log.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Truncated {
    /// What is kept, with every call answered.
    pub entries: Vec<Entry>,
    /// What the conversation leaves behind.
    pub dropped: Vec<Entry>,
}

/// The conversation has no such entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("No message found with message.uuid of: {id}")]
#[non_exhaustive]
pub struct UnknownEntry {
    /// The id.
    pub id: EntryId,
}

/// What would be dropped belongs to more than the named turn.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Resume rejected by --resume-drops-turn: {reason}")]
#[non_exhaustive]
pub struct DropsMore {
    /// What else would be dropped.
    pub reason: String,
}

/// Ends a conversation with the entry of this id. Any entry of the conversation
/// will do: a prompt, a block of a message, a result, an attachment.
///
/// A message of the model is one with the answers to its calls, wherever in it
/// the point lies: they happened, and a log that is read again shows them
/// together. A message of the user between two of the answers is kept with them.
///
/// The entries must be repaired ([`crate::repair`]), so that every call has an answer.
///
/// # Errors
/// There is no such entry: it never was, or another branch or a compaction hides it.
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
    /// Checks that everything that is dropped belongs to the turn of one prompt:
    /// no entry of the turn before it, and no message that the user sent meanwhile.
    ///
    /// # Errors
    /// The first entry that belongs to something else.
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

    /// What must be repeated so that a later reading of the whole log agrees
    /// with this one: lines beside the conversation belong to no branch, so the
    /// last of each kind counts, also one that is dropped here. The cost is not
    /// taken back: what was spent is spent.
    ///
    /// `cwd` is the directory that sessions begin in.
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

    /// The entries that the session continues with: those that are kept, and what
    /// was spent since.
    pub fn into_entries(self) -> Vec<Entry> {
        let Self { mut entries, dropped } = self;
        entries.extend(
            dropped.into_iter().filter(|entry| matches!(entry.kind, EntryKind::RunFinished(_) | EntryKind::Spent(_))),
        );
        entries
    }
}

/// Whether a text only reports that the user stopped the run.
fn is_marker(content: &[ContentBlock]) -> bool {
    matches!(content, [block] if block.as_text().is_some_and(|text| text.starts_with("[Request interrupted by user")))
}
