//! The alternate screen, for views that take the whole terminal.

use super::{Caret, Drawn, Encoder, Screen, row};
use crate::text::Line;
use std::io::{self, Write};

const ENTER: &str = "\u{1b}[?1049h\u{1b}[2J";
pub(super) const LEAVE: &str = "\u{1b}[?1049l";

impl<W: Write> Screen<W> {
    /// `true` while the alternate screen is shown.
    pub fn is_alternate(&self) -> bool {
        self.alternate.is_some()
    }

    /// Shows rows on the alternate screen, from the top, and enters it first. Rows beyond the height are left out. The
    /// scrollback and the live area stay as they are behind it.
    ///
    /// # Errors
    /// Errors of the writer.
    pub fn draw_alternate(&mut self, rows: &[Line], caret: Option<Caret>) -> io::Result<Drawn> {
        if !self.flush()? {
            return Ok(Drawn::Busy);
        }
        let columns = self.size.live_columns();
        let rows: Vec<Line> = rows.iter().take(self.size.rows()).map(|line| row::fitted(line, columns)).collect();
        let mut encoder = Encoder::new(self.options.colors);
        // A change of the size moves rows of the alternate screen as the terminal likes.
        let is_fresh = self.alternate.is_none() || self.is_alternate_stale();
        if self.alternate.is_none() {
            self.begin(&mut encoder);
            encoder.raw(ENTER);
        }
        let old = if is_fresh { Vec::new() } else { self.alternate.take().unwrap_or_default() };
        let empty = Line::new();
        for at in 0..old.len().max(rows.len()) {
            let (before, after) = (old.get(at).unwrap_or(&empty), rows.get(at).unwrap_or(&empty));
            if is_fresh || before != after {
                self.begin(&mut encoder);
                encoder.row(at);
                encoder.spans(after.spans());
                if self.size.columns() > 1 {
                    encoder.erase_right();
                }
            }
        }
        if is_fresh && rows.len() < self.size.rows() {
            encoder.row(rows.len());
            encoder.erase_below();
        }
        let has_moved = encoder.is_begun() || self.alternate_caret != caret;
        if let Some(caret) = caret.filter(|_| has_moved) {
            self.begin(&mut encoder);
            encoder.row(caret.row.min(self.size.rows() - 1));
            encoder.column(caret.column.min(columns));
        }
        if caret.is_some() != self.is_cursor_shown {
            self.begin(&mut encoder);
            self.is_cursor_shown = caret.is_some();
        }
        encoder.end(self.is_cursor_shown);
        self.alternate = Some(rows);
        self.alternate_caret = caret;
        self.alternate_size = self.size;
        self.send(&encoder.finish())
    }

    /// Leaves the alternate screen: scrollback and live area are there again.
    ///
    /// # Errors
    /// Errors of the writer.
    pub fn leave_alternate(&mut self) -> io::Result<()> {
        if self.alternate.take().is_none() {
            return Ok(());
        }
        self.pending.extend_from_slice(LEAVE.as_bytes());
        self.flush().map(drop)
    }

    fn is_alternate_stale(&self) -> bool {
        self.alternate_size != self.size
    }
}
