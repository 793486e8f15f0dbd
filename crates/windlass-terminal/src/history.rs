//! The history of prompts: those that were sent, and those that were cleared before.

mod search;

pub use search::{HistoryMatch, HistoryScope, HistorySearch};

use crate::composer::SavedPrompt;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// Most entries that are held.
const MOST_ENTRIES: usize = 10_000;
/// Most bytes of all entries together. The newest entry is held whatever its size.
const MOST_BYTES: usize = 32 * 1024 * 1024;

/// An entry of the history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HistoryEntry {
    /// The prompt.
    pub prompt: SavedPrompt,
    /// Directory of the project in which it was written.
    pub project: String,
    /// Id of the session in which it was written.
    pub session: String,
}

impl HistoryEntry {
    /// An entry.
    #[must_use]
    pub fn new(prompt: SavedPrompt, project: impl Into<String>, session: impl Into<String>) -> Self {
        Self { prompt, project: project.into(), session: session.into() }
    }

    /// The entry as one line of a history file, without its line end.
    ///
    /// # Errors
    /// The entry cannot be written as JSON, which does not happen to prompts of a [`Composer`](crate::composer::Composer).
    pub fn to_line(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }

    /// The entry of a line of a history file.
    ///
    /// # Errors
    /// The line is no entry, such as one that was cut by a crash: skip it.
    pub fn parse_line(line: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(line)
    }
}

/// The prompts of a person, the oldest first, and the place that the keys for older and newer prompts have reached.
///
/// A text that is changed on the way is not lost: [`leave`](Self::leave) adds it.
#[derive(Debug, Default)]
pub struct PromptHistory {
    entries: VecDeque<HistoryEntry>,
    size: usize,
    project: String,
    session: String,
    /// Number of the entry that is shown, counted from the newest of the project; `None` at the text that is being written.
    place: Option<usize>,
    /// Texts that were changed, by their place: `None` is the text that was being written.
    changed: BTreeMap<Option<usize>, SavedPrompt>,
}

impl PromptHistory {
    /// An empty history for a project and a session.
    #[must_use]
    pub fn new(project: impl Into<String>, session: impl Into<String>) -> Self {
        Self { project: project.into(), session: session.into(), ..Self::default() }
    }

    /// Adds the entries of a history file, the oldest first. Beyond 10,000 entries or 32 MiB the oldest are forgotten.
    pub fn load(&mut self, entries: impl IntoIterator<Item = HistoryEntry>) {
        for entry in entries {
            self.push(entry);
        }
    }

    /// The session that continues has another id.
    pub fn set_session(&mut self, session: impl Into<String>) {
        self.session = session.into();
    }

    /// All entries, the oldest first.
    pub fn entries(&self) -> impl DoubleEndedIterator<Item = &HistoryEntry> {
        self.entries.iter()
    }

    /// Adds a prompt. Returns the entry for the history file; `None` if it is blank or repeats the last one.
    pub fn add(&mut self, prompt: SavedPrompt) -> Option<HistoryEntry> {
        let repeats = self.of_project().next().is_some_and(|last| last.prompt == prompt);
        if prompt.expanded().trim().is_empty() || repeats {
            return None;
        }
        let entry = HistoryEntry::new(prompt, self.project.clone(), self.session.clone());
        self.push(entry.clone());
        Some(entry)
    }

    /// The older prompt, in exchange for the text that is shown now; `None` at the oldest.
    pub fn older(&mut self, shown: SavedPrompt) -> Option<SavedPrompt> {
        let place = self.place.map_or(0, |place| place.saturating_add(1));
        self.go(Some(place), shown)
    }

    /// The newer prompt or at last the text that was being written, in exchange for the text that is shown now; `None`
    /// there.
    pub fn newer(&mut self, shown: SavedPrompt) -> Option<SavedPrompt> {
        let place = self.place?;
        self.go(place.checked_sub(1), shown)
    }

    /// `true` while an entry is shown instead of the text that was being written.
    #[must_use]
    pub fn is_away(&self) -> bool {
        self.place.is_some()
    }

    /// Ends the way through the history. Returns the changed texts that are not shown now, for the history: none of them
    /// is lost.
    pub fn leave(&mut self) -> Vec<SavedPrompt> {
        let place = self.place.take();
        let changed = std::mem::take(&mut self.changed);
        changed.into_iter().filter(|(at, _)| *at != place).map(|(_, text)| text).collect()
    }

    fn go(&mut self, to: Option<usize>, shown: SavedPrompt) -> Option<SavedPrompt> {
        let target = self.at(to)?;
        let is_changed = self.original(self.place).is_none_or(|original| *original != shown);
        if is_changed && !shown.is_empty() {
            self.changed.insert(self.place, shown);
        } else {
            self.changed.remove(&self.place);
        }
        self.place = to;
        Some(target)
    }

    fn at(&self, place: Option<usize>) -> Option<SavedPrompt> {
        let changed = self.changed.get(&place).cloned();
        changed.or_else(|| match place {
            None => Some(SavedPrompt::default()),
            Some(_) => self.original(place).cloned(),
        })
    }

    fn original(&self, place: Option<usize>) -> Option<&SavedPrompt> {
        self.of_project().nth(place?).map(|entry| &entry.prompt)
    }

    fn of_project(&self) -> impl Iterator<Item = &HistoryEntry> {
        self.entries.iter().rev().filter(|entry| entry.project == self.project)
    }

    fn push(&mut self, entry: HistoryEntry) {
        self.size = self.size.saturating_add(entry.prompt.size());
        self.entries.push_back(entry);
        while self.entries.len() > MOST_ENTRIES || (self.size > MOST_BYTES && self.entries.len() > 1) {
            let oldest = self.entries.pop_front();
            self.size = self.size.saturating_sub(oldest.map_or(0, |entry| entry.prompt.size()));
        }
    }
}

#[cfg(test)]
mod tests;
