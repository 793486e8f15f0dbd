//! Incremental search in the history.

use super::{HistoryEntry, PromptHistory};
use crate::composer::SavedPrompt;
use unicode_segmentation::UnicodeSegmentation;

/// Longest text that is searched for, in bytes.
const LONGEST_QUERY: usize = 1000;

/// Entries of the history that a search looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum HistoryScope {
    /// Entries of this session.
    Session,
    /// Entries of this project.
    #[default]
    Project,
    /// All entries.
    Everywhere,
}

impl HistoryScope {
    /// The next scope of the cycle: project, everywhere, session.
    #[must_use]
    pub fn next(self) -> Self {
        match self {
            Self::Session => Self::Project,
            Self::Project => Self::Everywhere,
            Self::Everywhere => Self::Session,
        }
    }

    /// The name that is shown.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Session => "this session",
            Self::Project => "this project",
            Self::Everywhere => "everywhere",
        }
    }
}

/// A search in the history, from the newest entry to the oldest.
#[derive(Debug, Clone, Default)]
pub struct HistorySearch {
    query: String,
    scope: HistoryScope,
    /// Number of different matches that were passed.
    passed: usize,
}

/// A prompt that a search has found.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HistoryMatch {
    /// The prompt.
    pub prompt: SavedPrompt,
    /// `true` if an older match may be found by searching on.
    pub has_older: bool,
}

impl HistorySearch {
    /// The text that is searched for.
    #[must_use]
    pub fn query(&self) -> &str {
        &self.query
    }

    /// Entries that the search looks at.
    #[must_use]
    pub fn scope(&self) -> HistoryScope {
        self.scope
    }

    /// `true` if the text is one line and short enough to be searched for.
    pub(crate) fn has_room(&self, text: &str) -> bool {
        !text.trim_end().contains('\n') && self.query.len().saturating_add(text.len()) <= LONGEST_QUERY
    }

    /// Adds to the text that is searched for.
    pub fn add(&mut self, text: &str) {
        self.passed = 0;
        for c in text.chars().filter(|c| !c.is_control()) {
            if self.query.len() < LONGEST_QUERY {
                self.query.push(c);
            }
        }
    }

    /// Removes the last character of the text that is searched for.
    pub fn delete(&mut self) {
        self.passed = 0;
        let length = self.query.graphemes(true).next_back().map_or(0, str::len);
        self.query.truncate(self.query.len().saturating_sub(length));
    }

    /// Looks at the next scope.
    pub fn cycle_scope(&mut self) {
        self.passed = 0;
        self.scope = self.scope.next();
    }

    /// Searches on for an older match, if there is one.
    pub fn older(&mut self, history: &PromptHistory) {
        if self.found(history).is_some_and(|found| found.has_older) {
            self.passed = self.passed.saturating_add(1);
        }
    }

    /// The match, or `None`. Prompts that are equal are found once. Capital letters count only if the search has some.
    #[must_use]
    pub fn found(&self, history: &PromptHistory) -> Option<HistoryMatch> {
        let matches_case = self.query.chars().any(char::is_uppercase);
        let is_match = |entry: &&HistoryEntry| {
            let text = entry.prompt.expanded();
            self.includes(entry, history)
                && if matches_case { text.contains(&self.query) } else { text.to_lowercase().contains(&self.query) }
        };
        let mut seen: Vec<&SavedPrompt> = Vec::new();
        let mut found = None;
        for entry in history.entries().rev().filter(is_match) {
            if seen.contains(&&entry.prompt) {
                continue;
            }
            if found.is_some() {
                return found.map(|prompt| HistoryMatch { prompt, has_older: true });
            }
            if seen.len() == self.passed {
                found = Some(entry.prompt.clone());
            }
            seen.push(&entry.prompt);
        }
        found.map(|prompt| HistoryMatch { prompt, has_older: false })
    }

    fn includes(&self, entry: &HistoryEntry, history: &PromptHistory) -> bool {
        match self.scope {
            HistoryScope::Session => entry.session == history.session && entry.project == history.project,
            HistoryScope::Project => entry.project == history.project,
            HistoryScope::Everywhere => true,
        }
    }
}
