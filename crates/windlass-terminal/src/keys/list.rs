//! The list of keys as it is read: a place in it, and its lines.

use super::Keymap;
use crate::text::{Line, width, wrap};

/// Widest column of keys.
const KEYS_COLUMNS: usize = 30;
/// Fewest columns with the descriptions beside the keys.
const BESIDE: usize = 64;
/// Blanks between a key and its description.
const GAP: usize = 2;

/// A line of the list of keys.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeysLine {
    /// Keys of an action, padded to a column if a description stands beside them; empty in further lines of a description.
    pub keys: String,
    /// Description of the action, or a part of it; may be empty.
    pub description: String,
}

/// The place that a person has reached in the list of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct KeysList {
    top: usize,
}

impl KeysList {
    /// All lines, of at most so many columns. A narrow terminal has the descriptions below their keys.
    #[must_use]
    pub fn lines(&self, keymap: &Keymap, columns: usize) -> Vec<KeysLine> {
        let is_beside = columns >= BESIDE;
        let indent = if is_beside { KEYS_COLUMNS } else { 0 }.saturating_add(GAP);
        let mut lines = Vec::new();
        for (keys, description) in keymap.help() {
            let mut parts = rows(description, columns.saturating_sub(indent)).into_iter();
            if is_beside && width(&keys) <= KEYS_COLUMNS {
                let keys = format!("{keys:<indent$}");
                lines.push(KeysLine { keys, description: parts.next().unwrap_or_default() });
            } else {
                lines
                    .extend(rows(&keys, columns).into_iter().map(|keys| KeysLine { keys, description: String::new() }));
            }
            lines.extend(parts.map(|description| KeysLine { keys: " ".repeat(indent), description }));
        }
        lines
    }

    /// The first line of a page with so many rows, of so many lines.
    #[must_use]
    pub fn top(&self, lines: usize, page: usize) -> usize {
        self.top.min(lines.saturating_sub(page))
    }

    /// Moves by so many lines, and stays within the list.
    pub(crate) fn scroll(&mut self, by: isize, lines: usize, page: usize) {
        self.top = self.top(lines, page).saturating_add_signed(by).min(lines.saturating_sub(page));
    }
}

fn rows(text: &str, columns: usize) -> Vec<String> {
    wrap(&Line::plain(text), columns.max(1), &Line::new()).iter().map(|row| row.text().trim_end().to_owned()).collect()
}
