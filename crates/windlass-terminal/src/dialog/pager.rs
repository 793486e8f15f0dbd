//! A text in pages that has to be read to its end.

use super::DialogRow;
use super::content::{DialogLine, wrapped};

/// The rows of a text, the page that is shown, and how far it was read.
#[derive(Debug, Clone, Default)]
pub(super) struct Pager {
    lines: Vec<DialogLine>,
    rows: Vec<DialogRow>,
    columns: usize,
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

    /// Replaces the text, which counts as unread.
    pub(super) fn set(&mut self, lines: Vec<DialogLine>) {
        let (columns, page) = (self.columns, self.page);
        *self = Self::new(lines);
        self.resize(columns, page);
    }

    /// Lays the text out on so many columns and rows a page.
    pub(super) fn resize(&mut self, columns: usize, page: usize) {
        if columns != self.columns || self.rows.is_empty() {
            self.rows = self.lines.iter().flat_map(|line| wrapped(line, columns)).collect();
            self.columns = columns;
            // Rows are others now: only those before the page that is shown surely were read.
            self.top = self.top.min(self.rows.len().saturating_sub(1));
            self.read = self.read.min(self.top);
            if !self.is_read {
                self.top = self.read;
            }
        }
        self.page = page.max(1);
        self.top = self.top.min(self.last_top());
        self.mark();
    }

    fn last_top(&self) -> usize {
        self.rows.len().saturating_sub(self.page)
    }

    /// Counts the rows of the page as read if no row before them is unread.
    fn mark(&mut self) {
        if self.top <= self.read {
            self.read = self.read.max(self.top.saturating_add(self.page).min(self.rows.len()));
        }
        self.is_read = self.is_read || self.read >= self.rows.len();
    }

    /// Moves by so many rows. Returns `false` if the text does not move.
    pub(super) fn scroll(&mut self, rows: isize) -> bool {
        let before = self.top;
        self.top = self.top.saturating_add_signed(rows).min(self.last_top());
        self.mark();
        self.top != before
    }

    /// Moves to the next page. Returns `false` at the end.
    pub(super) fn next_page(&mut self) -> bool {
        self.scroll(isize::try_from(self.page).unwrap_or(1))
    }

    /// Moves to the page before. Returns `false` at the beginning.
    pub(super) fn previous_page(&mut self) -> bool {
        self.scroll(isize::try_from(self.page).unwrap_or(1).saturating_neg())
    }

    /// `true` once every row was shown.
    pub(super) fn is_read(&self) -> bool {
        self.is_read
    }

    /// The rows of the page.
    pub(super) fn rows(&self) -> &[DialogRow] {
        let end = self.top.saturating_add(self.page).min(self.rows.len());
        self.rows.get(self.top..end).unwrap_or_default()
    }

    /// The number of the last row of the page and of all; `None` if all fit on one page.
    pub(super) fn place(&self) -> Option<(usize, usize)> {
        let end = self.top.saturating_add(self.page).min(self.rows.len());
        (self.rows.len() > self.page).then_some((end, self.rows.len()))
    }
}
