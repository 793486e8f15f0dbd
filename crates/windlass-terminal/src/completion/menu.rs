//! The menu of candidates and its selection.

use super::{CandidateKind, CompletionCandidate};

/// Maximum number of candidates in a menu.
pub(crate) const MOST_CANDIDATES: usize = 100;

/// Menu of completion candidates. A selection that the person moved stays on its candidate when the list changes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CompletionMenu {
    candidates: Vec<CompletionCandidate>,
    selected: usize,
    /// `true` if the person has moved the selection.
    is_moved_by_person: bool,
}

/// A row of the menu as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MenuRow {
    /// Kind of the candidate.
    pub kind: CandidateKind,
    /// Name of the candidate, followed by its arguments.
    pub name: String,
    /// Description of the candidate, on one line.
    pub detail: String,
    /// `true` for the selected row.
    pub is_selected: bool,
}

impl CompletionMenu {
    /// Replaces the candidates.
    pub(crate) fn set(&mut self, candidates: Vec<CompletionCandidate>) {
        let kept = self.selected().filter(|_| self.is_moved_by_person).map(|kept| (kept.kind, kept.name.clone()));
        self.candidates = candidates;
        self.candidates.truncate(MOST_CANDIDATES);
        let is_kept = |candidate: &CompletionCandidate| {
            kept.as_ref().is_some_and(|(kind, name)| candidate.kind == *kind && candidate.name == *name)
        };
        let kept_index = self.candidates.iter().position(is_kept);
        self.is_moved_by_person = kept_index.is_some();
        self.selected = kept_index.unwrap_or_default();
    }

    /// The candidate that is selected; `None` if the menu is empty.
    #[must_use]
    pub fn selected(&self) -> Option<&CompletionCandidate> {
        self.candidates.get(self.selected)
    }

    /// `true` if there is nothing to choose.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.candidates.is_empty()
    }

    /// Selects the next candidate, and wraps from the last to the first.
    pub(crate) fn down(&mut self) {
        self.is_moved_by_person = true;
        self.selected = self.selected.saturating_add(1) % self.candidates.len().max(1);
    }

    /// Selects the previous candidate, and wraps from the first to the last.
    pub(crate) fn up(&mut self) {
        self.is_moved_by_person = true;
        self.selected = self.selected.checked_sub(1).unwrap_or(self.candidates.len().saturating_sub(1));
    }

    /// Returns at most `max_rows` rows, always including the selected one. A `max_rows` of 0 is treated as 1.
    #[must_use]
    pub fn rows(&self, max_rows: usize) -> Vec<MenuRow> {
        let first = self.selected.saturating_add(1).saturating_sub(max_rows.max(1));
        let rows = self.candidates.iter().enumerate().skip(first).take(max_rows.max(1));
        let row = |(index, candidate): (usize, &CompletionCandidate)| MenuRow {
            kind: candidate.kind,
            name: [candidate.name.as_str(), candidate.arguments.as_str()].join(" ").trim_end().to_owned(),
            detail: candidate.detail.clone(),
            is_selected: index == self.selected,
        };
        rows.map(row).collect()
    }
}
