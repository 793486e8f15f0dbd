//! The cells that were written, for the pager and for views of the session.

use crate::cell::{Cell, Fold};
use crate::layout::Layout;
use crate::text::Line;
use std::collections::VecDeque;

/// The last cells of a conversation, within a limit of bytes. The scrollback of the terminal has all rows; the log of
/// the session has all texts.
#[derive(Debug)]
pub struct Transcript {
    cells: VecDeque<Cell>,
    bytes: usize,
    limit: usize,
    dropped: usize,
}

impl Transcript {
    /// Limit of the bytes of text by default: 4 MiB.
    pub const LIMIT: usize = 4 << 20;

    /// A transcript that keeps cells of at most so many bytes of text, and the last one whatever its size.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self { cells: VecDeque::new(), bytes: 0, limit, dropped: 0 }
    }

    /// Adds a cell. Drops the oldest ones beyond the limit.
    pub fn push(&mut self, cell: Cell) {
        self.bytes += cost(&cell);
        self.cells.push_back(cell);
        while self.bytes > self.limit && self.cells.len() > 1 {
            if let Some(oldest) = self.cells.pop_front() {
                self.bytes -= cost(&oldest);
                self.dropped += 1;
            }
        }
    }

    /// Cells that are kept, the oldest first.
    pub fn cells(&self) -> impl Iterator<Item = &Cell> {
        self.cells.iter()
    }

    /// Number of cells that were dropped.
    #[must_use]
    pub fn dropped(&self) -> usize {
        self.dropped
    }

    /// Rows of all cells that are kept.
    #[must_use]
    pub fn rows(&self, layout: &Layout<'_>, fold: Fold) -> Vec<Line> {
        let mut rows = Vec::new();
        if self.dropped > 0 {
            let text = format!("{} earlier parts are in the scrollback of the terminal.", self.dropped);
            rows.push(layout.line(text, crate::theme::Role::Faint));
        }
        for cell in &self.cells {
            if cell.is_separated() && !rows.is_empty() {
                rows.push(Line::new());
            }
            rows.extend(cell.rows(layout, fold));
        }
        rows
    }
}

impl Default for Transcript {
    fn default() -> Self {
        Self::new(Self::LIMIT)
    }
}

/// Bytes of a cell, with those of its own.
fn cost(cell: &Cell) -> usize {
    cell.size() + size_of::<Cell>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::{Notice, NoticeLevel};

    #[test]
    fn the_oldest_cells_go() {
        let mut transcript = Transcript::new(10_000);
        for number in 0..1_000 {
            transcript
                .push(Cell::Notice(Notice::new(NoticeLevel::Info, format!("notice {number} {}", "x".repeat(80)))));
        }
        let kept = transcript.cells().count();
        assert!((10..110).contains(&kept), "{kept}");
        assert_eq!(transcript.dropped(), 1_000 - kept);
        assert!(
            matches!(transcript.cells().last(), Some(Cell::Notice(notice)) if notice.text.starts_with("notice 999"))
        );
    }
}
