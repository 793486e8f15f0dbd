//! What a session's entries add up to.

use crate::Transcript;
use std::collections::BTreeMap;
use windlass_types::{Entry, EntryId, EntryKind, JsonText, ModelUsage, NanoUsd, PermissionMode};

/// The state of a session: a fold over its entries. What is absent was never
/// said in the session, so the options of the run hold.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct SessionState {
    /// The conversation.
    pub transcript: Transcript,
    /// The last entry of the conversation, which the next one follows.
    pub last: Option<EntryId>,
    /// The permission mode.
    pub mode: Option<PermissionMode>,
    /// The model.
    pub model: Option<String>,
    /// The directory that calls start in.
    pub cwd: Option<String>,
    /// The todo list.
    pub todos: Option<JsonText>,
    /// Cost of the session so far.
    pub cost: NanoUsd,
    /// Tokens and cost by model so far.
    pub model_usage: BTreeMap<String, ModelUsage>,
}

impl SessionState {
    /// The state after these entries. Repair them first ([`crate::repair`]) if
    /// they were loaded.
    pub fn from_entries<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Self {
        let mut state = Self::default();
        for entry in entries {
            state.apply(entry);
        }
        state
    }

    /// Takes in one more entry.
    pub fn apply(&mut self, entry: &Entry) {
        self.transcript.apply(entry);
        match &entry.kind {
            EntryKind::Mode(mode) => self.mode = Some(*mode),
            EntryKind::Model(model) => self.model = Some(model.clone()),
            EntryKind::Cwd(cwd) => self.cwd = Some(cwd.clone()),
            EntryKind::Todos(todos) => self.todos = Some(todos.clone()),
            EntryKind::RunFinished(record) => {
                self.cost = record.cost;
                self.model_usage = record.model_usage.clone();
            }
            _ if entry.is_conversation() => self.last = Some(entry.id.clone()),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_types::{ContentBlock, RunRecord, Timestamp, UserEntry};

    #[test]
    fn the_last_word_counts() {
        let entry = |id: u128, kind| Entry::new(EntryId::from_bits(id), None, Timestamp::default(), kind);
        let record = |cost| RunRecord::new("r".to_owned().into(), "success", 1, NanoUsd::new(cost), BTreeMap::new());
        let state = SessionState::from_entries(&[
            entry(1, EntryKind::User(UserEntry::new(vec![ContentBlock::text("x")]))),
            entry(2, EntryKind::Mode(PermissionMode::Plan)),
            entry(3, EntryKind::Mode(PermissionMode::Default)),
            entry(4, EntryKind::Cwd("/a".to_owned())),
            entry(5, EntryKind::RunFinished(record(5))),
            entry(6, EntryKind::RunFinished(record(7))),
        ]);
        assert_eq!(state.last, Some(EntryId::from_bits(1)));
        assert_eq!((state.mode, state.cwd.as_deref()), (Some(PermissionMode::Default), Some("/a")));
        assert_eq!((state.model, state.todos, state.cost), (None, None, NanoUsd::new(7)));
        assert!(state.transcript.is_ready());
    }
}
