//! A text in pages that has to be read to its end.

use super::content::{DialogLine, wrapped};
use super::{DialogRow, DialogRowKind};

/// The rows of a text, the page that is shown, and how far it was read.
#[derive(Debug, Clone, Default)]
pub(super) struct Pager {
    lines: Vec<DialogLine>,
    rows: Vec<DialogRow>,
    columns: usize,
    /// `true` if the title is the first line of the text.
    is_titled: bool,
    page: usize,
    top: usize,
    /// Number of rows that were shown, from the top on without a gap.
    read: usize,
    is_read: bool,
}

impl Pager {
    pub(super) fn new(lines: Vec<DialogLine>) -> Self {
        Self { lines, ..Self::default() }
    }

    /// Replaces the text, which counts as unread and is to be laid out.
    pub(super) fn set(&mut self, lines: Vec<DialogLine>) {
        *self = Self::new(lines);
    }

    /// Lays the text out on so many columns and rows a page, behind a title if it has no row of its own.
    pub(super) fn resize(&mut self, columns: usize, page: usize, title: Option<&str>) {
        if self.is_titled != title.is_some() {
            self.is_titled = title.is_some();
            self.rows.clear();
            (self.top, self.read) = (0, 0);
        }
        if columns != self.columns || self.rows.is_empty() {
            let title = title.map(|title| DialogLine::new(DialogRowKind::Title, "", title));
            self.rows = title.iter().chain(&self.lines).flat_map(|line| wrapped(line, columns)).collect();
            self.columns = columns;
            // Rows are others now: only those before the page that is shown surely were read.
            self.top = self.top.min(self.rows.len().saturating_sub(1));
            self.read = self.read.min(self.top);
            if !self.is_read {
                self.top = self.read;
            }
        }
        self.page = page;
        self.top = self.top.min(self.last_top());
    }

    fn last_top(&self) -> usize {
        self.rows.len().saturating_sub(self.page)
    }

    /// The page is on the screen: its rows count as read if no row before them is unread.
    pub(super) fn drawn(&mut self) {
        if self.page > 0 && self.top <= self.read {
            self.read = self.read.max(self.end());
        }
        self.is_read = self.is_read_with_page();
    }

    /// Number of the row behind the page.
    fn end(&self) -> usize {
        self.top.saturating_add(self.page).min(self.rows.len())
    }

    /// `true` if everything is read once the page is on the screen.
    pub(super) fn is_read_with_page(&self) -> bool {
        self.is_read || (self.page > 0 && self.top <= self.read && self.end() >= self.rows.len())
    }

    fn scroll_to(&mut self, top: usize) -> bool {
        let top = top.min(self.last_top());
        let before = std::mem::replace(&mut self.top, top);
        self.top != before
    }

    /// Moves to the next page, once this one is read. Returns `false` if the text does not move.
    pub(super) fn next_page(&mut self) -> bool {
        self.end() <= self.read && self.scroll_to(self.top.saturating_add(self.page))
    }

    /// Moves to the page before. Returns `false` at the beginning.
    pub(super) fn previous_page(&mut self) -> bool {
        self.scroll_to(self.top.saturating_sub(self.page))
    }

    /// `true` once every row was shown.
    pub(super) fn is_read(&self) -> bool {
        self.is_read
    }

    /// `true` if there is room for a row.
    pub(super) fn has_page(&self) -> bool {
        self.page > 0
    }

    /// The rows of the page.
    pub(super) fn rows(&self) -> &[DialogRow] {
        self.rows.get(self.top..self.end()).unwrap_or_default()
    }

    /// The number of the last row of the page and of all; `None` if all fit on one page.
    pub(super) fn place(&self) -> Option<(usize, usize)> {
        (self.rows.len() > self.page).then_some((self.end(), self.rows.len()))
    }
}
