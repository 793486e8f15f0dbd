//! A list to choose from, with a search: sessions, models, points to rewind to.

use crate::completion::score;
use crate::composer::Composer;
use crate::dialog::{editor, write};
use crate::input::TerminalInput;
use crate::keys::{KeyAction, KeyCode, Keymap};
use windlass_types::text::visible_line;

/// An entry of a picker.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PickerItem<T> {
    /// Title, on one line.
    pub title: String,
    /// Further facts, on one line; may be empty.
    pub detail: String,
    /// Value of the entry.
    pub value: T,
}

impl<T> PickerItem<T> {
    /// An entry. Hidden characters of its texts are written out.
    #[must_use]
    pub fn new(title: &str, detail: &str, value: T) -> Self {
        Self { title: visible_line(title), detail: visible_line(detail), value }
    }
}

/// A row of a picker as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PickerRow<'a> {
    /// Title of the entry.
    pub title: &'a str,
    /// Further facts.
    pub detail: &'a str,
    /// `true` for the selected entry.
    pub is_selected: bool,
}

/// Result of an input for a picker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PickerResult<T> {
    /// The picker has taken the input.
    Taken,
    /// An entry was chosen.
    Chosen(T),
    /// The person closes the picker.
    Closed,
}

/// A list with a search line. Letters search; arrows, page keys, Home and End select; Enter chooses; Esc clears the search and
/// then closes.
///
/// ```
/// use windlass_terminal::input::TerminalInput;
/// use windlass_terminal::keys::{Key, KeyCode, Keymap};
/// use windlass_terminal::picker::{Picker, PickerItem, PickerResult};
///
/// let items = ["opus", "sonnet", "haiku"].map(|name| PickerItem::new(name, "", name));
/// let mut picker = Picker::new(items.into());
/// let keymap = Keymap::default();
/// picker.handle(&TerminalInput::Key(Key::char('k')), &keymap);
/// let chosen = picker.handle(&TerminalInput::Key(Key::new(KeyCode::Enter)), &keymap);
/// assert_eq!(chosen, PickerResult::Chosen("haiku"));
/// ```
#[derive(Debug)]
pub struct Picker<T> {
    items: Vec<PickerItem<T>>,
    /// Indexes of the entries that match, the best first.
    matches: Vec<usize>,
    query: Composer,
    selected: usize,
    page: usize,
}

impl<T: Clone> Picker<T> {
    /// A picker over entries in their order.
    #[must_use]
    pub fn new(items: Vec<PickerItem<T>>) -> Self {
        let matches = (0..items.len()).collect();
        Self { items, matches, query: editor(), selected: 0, page: 10 }
    }

    /// Text of the search.
    #[must_use]
    pub fn query(&self) -> &str {
        self.query.text()
    }

    /// Number of entries that match, and of all.
    #[must_use]
    pub fn counts(&self) -> (usize, usize) {
        (self.matches.len(), self.items.len())
    }

    /// The selected entry; `None` if none matches.
    #[must_use]
    pub fn selected(&self) -> Option<&PickerItem<T>> {
        self.items.get(*self.matches.get(self.selected)?)
    }

    /// The picker shows so many rows, for its page keys.
    pub fn set_page(&mut self, rows: usize) {
        self.page = rows.max(1);
    }

    /// Value of the entry at a place in the whole list.
    pub(crate) fn nth(&self, at: usize) -> Option<T> {
        self.items.get(at).map(|item| item.value.clone())
    }

    /// All entries with their numbers, one a line.
    pub(crate) fn numbered(&self) -> impl Iterator<Item = String> {
        self.items.iter().enumerate().map(|(at, item)| {
            let line = format!("{}. {}  {}", at.saturating_add(1), item.title, item.detail);
            line.trim_end().to_owned()
        })
    }

    /// The rows to show, the selected one among them.
    #[must_use]
    pub fn rows(&self) -> Vec<PickerRow<'_>> {
        // The selection stays in the middle where the list is longer than the page.
        let last_top = self.matches.len().saturating_sub(self.page);
        let top = self.selected.saturating_sub(self.page / 2).min(last_top);
        let shown = self.matches.iter().enumerate().skip(top).take(self.page);
        let row = |(at, index): (usize, &usize)| {
            let item = self.items.get(*index)?;
            Some(PickerRow { title: &item.title, detail: &item.detail, is_selected: at == self.selected })
        };
        shown.filter_map(row).collect()
    }

    /// Takes an input.
    pub fn handle(&mut self, input: &TerminalInput, keymap: &Keymap) -> PickerResult<T> {
        if let TerminalInput::Key(key) = input {
            let page = isize::try_from(self.page).unwrap_or(1);
            let step = match key.code {
                KeyCode::PageDown => Some(page),
                KeyCode::PageUp => Some(page.saturating_neg()),
                KeyCode::Home => Some(isize::MIN),
                KeyCode::End => Some(isize::MAX),
                _ => None,
            };
            if let Some(step) = step {
                return self.step(step);
            }
        }
        let before = self.query.text().to_owned();
        let action = write(&mut self.query, input, keymap, usize::MAX);
        if self.query.text() != before {
            self.search();
        }
        match action {
            Some(KeyAction::Up | KeyAction::HistoryOlder) => self.step(-1),
            Some(KeyAction::Down | KeyAction::HistoryNewer) => self.step(1),
            Some(KeyAction::Submit) => {
                self.selected().map_or(PickerResult::Taken, |item| PickerResult::Chosen(item.value.clone()))
            }
            Some(KeyAction::Interrupt | KeyAction::Cancel) if self.query.is_empty() => PickerResult::Closed,
            Some(KeyAction::Interrupt | KeyAction::Cancel) => {
                self.query = editor();
                self.search();
                PickerResult::Taken
            }
            _ => PickerResult::Taken,
        }
    }

    fn step(&mut self, by: isize) -> PickerResult<T> {
        self.selected = self.selected.saturating_add_signed(by).min(self.matches.len().saturating_sub(1));
        PickerResult::Taken
    }

    /// Selects the entries that have all words of the search.
    fn search(&mut self) {
        let words: Vec<&str> = self.query.text().split_whitespace().collect();
        let points = |item: &PickerItem<T>| {
            words.iter().try_fold(0_i64, |sum, word| {
                let title = score(word, &item.title).map(|points| points.saturating_add(1));
                Some(sum.saturating_add(title.max(score(word, &item.detail))?))
            })
        };
        let scored = self.items.iter().enumerate().filter_map(|(index, item)| Some((points(item)?, index)));
        let mut scored: Vec<(i64, usize)> = scored.collect();
        scored.sort_by_key(|(points, _)| std::cmp::Reverse(*points));
        self.matches = scored.into_iter().map(|(_, index)| index).collect();
        self.selected = 0;
    }
}

#[cfg(test)]
mod tests;
