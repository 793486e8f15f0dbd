//! The menu of candidates and its selection.

use super::{CandidateKind, CompletionCandidate};

/// Most candidates of a menu.
pub(crate) const MOST_CANDIDATES: usize = 100;

/// A menu of candidates. The selection stays on its candidate when others come.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CompletionMenu {
    candidates: Vec<CompletionCandidate>,
    selected: usize,
    /// `true` if the person has moved the selection.
    moved: bool,
}

/// A row of the menu as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MenuRow {
    /// Kind of the candidate.
    pub kind: CandidateKind,
    /// Name, with the arguments behind it.
    pub name: String,
    /// One line that says what it is.
    pub detail: String,
    /// `true` for the selected row.
    pub is_selected: bool,
}

impl CompletionMenu {
    /// Replaces the candidates.
    pub(crate) fn set(&mut self, candidates: Vec<CompletionCandidate>) {
        let kept = self.selected().filter(|_| self.moved).map(|kept| (kept.kind, kept.name.clone()));
        self.candidates = candidates;
        self.candidates.truncate(MOST_CANDIDATES);
        let is_kept = |candidate: &CompletionCandidate| {
            kept.as_ref().is_some_and(|(kind, name)| candidate.kind == *kind && candidate.name == *name)
        };
        let at = self.candidates.iter().position(is_kept);
        self.moved = at.is_some();
        self.selected = at.unwrap_or_default();
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

    /// Selects the candidate below, and the first one behind the last.
    pub(crate) fn down(&mut self) {
        self.moved = true;
        self.selected = self.selected.saturating_add(1) % self.candidates.len().max(1);
    }

    /// Selects the candidate above, and the last one before the first.
    pub(crate) fn up(&mut self) {
        self.moved = true;
        self.selected = self.selected.checked_sub(1).unwrap_or(self.candidates.len().saturating_sub(1));
    }

    /// At most so many rows, the selected one among them.
    #[must_use]
    pub fn rows(&self, most: usize) -> Vec<MenuRow> {
        let first = self.selected.saturating_add(1).saturating_sub(most.max(1));
        let rows = self.candidates.iter().enumerate().skip(first).take(most.max(1));
        let row = |(index, candidate): (usize, &CompletionCandidate)| MenuRow {
            kind: candidate.kind,
            name: [candidate.name.as_str(), candidate.arguments.as_str()].join(" ").trim_end().to_owned(),
            detail: candidate.detail.clone(),
            is_selected: index == self.selected,
        };
        rows.map(row).collect()
    }
}
