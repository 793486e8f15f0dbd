//! A list of choices with letters.

use super::content::{DialogLine, wrapped};
use super::{DialogRow, DialogRowKind};
use std::ops::Range;

/// A choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DialogChoice<T> {
    pub(super) letter: char,
    pub(super) text: String,
    pub(super) value: T,
    /// `true` if it may be chosen only when everything was read.
    pub(super) needs_reading: bool,
    /// `true` if it allows more than the call: its letter selects it, and Enter chooses.
    pub(super) grants_more: bool,
}

/// DialogChoices and the selected one.
#[derive(Debug, Clone)]
pub(super) struct DialogChoices<T> {
    pub(super) list: Vec<DialogChoice<T>>,
    pub(super) selected: usize,
}

/// The choices that fit into some rows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct ShownChoices {
    pub(super) rows: Vec<DialogRow>,
    /// DialogChoices that are shown whole.
    pub(super) whole: Range<usize>,
    /// Row of the selected choice among these.
    pub(super) selected_row: usize,
}

impl<T> DialogChoices<T> {
    pub(super) fn new(list: Vec<DialogChoice<T>>) -> Self {
        Self { list, selected: 0 }
    }

    /// Moves the selection. It stays within the list.
    pub(super) fn step(&mut self, by: isize) {
        self.selected = self.selected.saturating_add_signed(by).min(self.list.len().saturating_sub(1));
    }

    /// `true` if not all choices are shown whole.
    pub(super) fn has_others(&self, shown: &ShownChoices) -> bool {
        shown.whole.len() < self.list.len()
    }

    /// The choice of a key: its letter in any case, or its number.
    pub(super) fn of_key(&self, c: char) -> Option<usize> {
        let lower = c.to_ascii_lowercase();
        let number = c.to_digit(10).and_then(|digit| usize::try_from(digit).ok()?.checked_sub(1));
        self.list.iter().position(|choice| choice.letter == lower).or(number.filter(|at| *at < self.list.len()))
    }

    /// Rows that all choices take.
    pub(super) fn height(&self, columns: usize) -> usize {
        (0..self.list.len()).map(|at| self.rows_of(at, true, columns).len()).sum()
    }

    /// The choices around the selected one that fit into so many rows. The selected one is always among them, cut if it has
    /// to be.
    pub(super) fn shown(&self, is_read: bool, columns: usize, most: usize) -> ShownChoices {
        let most = most.max(1);
        let mut rows = self.rows_of(self.selected, is_read, columns);
        let is_whole = rows.len() <= most;
        rows.truncate(most);
        let (mut first, mut end) = (self.selected, self.selected.saturating_add(1));
        let mut selected_row = 0;
        loop {
            let below = self.rows_of(end, is_read, columns);
            if !below.is_empty() && rows.len().saturating_add(below.len()) <= most {
                rows.extend(below);
                end = end.saturating_add(1);
                continue;
            }
            let above = first.checked_sub(1).map(|above| self.rows_of(above, is_read, columns)).unwrap_or_default();
            if above.is_empty() || rows.len().saturating_add(above.len()) > most {
                break;
            }
            selected_row = above.len().saturating_add(selected_row);
            rows.splice(0..0, above);
            first = first.saturating_sub(1);
        }
        ShownChoices { rows, whole: if is_whole { first..end } else { 0..0 }, selected_row }
    }

    fn rows_of(&self, at: usize, is_read: bool, columns: usize) -> Vec<DialogRow> {
        let Some(choice) = self.list.get(at) else { return Vec::new() };
        let is_selected = at == self.selected;
        let prefix = if is_selected { "> " } else { "  " };
        let kind = match (choice.needs_reading && !is_read, is_selected) {
            (true, _) => DialogRowKind::Disabled,
            (false, true) => DialogRowKind::Selected,
            (false, false) => DialogRowKind::Choice,
        };
        let text = format!("{}. {} ({})", at.saturating_add(1), choice.text, choice.letter);
        wrapped(&DialogLine::new(kind, prefix, text), columns)
    }
}
