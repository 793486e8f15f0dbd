//! Entries that the log has not acknowledged.

use crate::EffectId;
use std::collections::BTreeMap;
use std::fmt;
use windlass_types::{Entry, EntryKind};

/// Kinds of the entries of unanswered appends, for the message of a session whose log hangs.
#[derive(Debug, Default)]
pub(crate) struct UnsavedEntries(BTreeMap<EffectId, Vec<Label>>);

/// A kind of entry in words: singular and plural.
type Label = (&'static str, &'static str);

impl UnsavedEntries {
    pub(crate) fn add(&mut self, append: EffectId, entries: &[Entry]) {
        if !entries.is_empty() {
            self.0.insert(append, entries.iter().map(|entry| label(&entry.kind)).collect());
        }
    }

    pub(crate) fn remove(&mut self, append: EffectId) {
        self.0.remove(&append);
    }
}

impl fmt::Display for UnsavedEntries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut counts: Vec<(Label, usize)> = Vec::new();
        for label in self.0.values().flatten() {
            match counts.iter_mut().find(|(known, _)| known == label) {
                Some((_, count)) => *count += 1,
                None => counts.push((*label, 1)),
            }
        }
        for (index, ((one, several), count)) in counts.into_iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{count} {}", if count == 1 { one } else { several })?;
        }
        Ok(())
    }
}

fn label(kind: &EntryKind) -> Label {
    match kind {
        EntryKind::User(user) if user.is_meta => ("text of the runtime", "texts of the runtime"),
        EntryKind::User(_) => ("message of the user", "messages of the user"),
        EntryKind::Assistant(_) => ("message of the model", "messages of the model"),
        EntryKind::ToolResult(_) => ("result of a call", "results of calls"),
        EntryKind::Intent { .. } => ("start of a call", "starts of calls"),
        EntryKind::Decision(_) => ("verdict on a call", "verdicts on calls"),
        EntryKind::Question(_) | EntryKind::AgentWaits(_) => ("open question", "open questions"),
        EntryKind::Task(_) => ("record of background work", "records of background work"),
        EntryKind::RunFinished(_) => ("end of a run", "ends of runs"),
        EntryKind::Spent(_) => ("record of costs", "records of costs"),
        _ => ("change of the session", "changes of the session"),
    }
}
