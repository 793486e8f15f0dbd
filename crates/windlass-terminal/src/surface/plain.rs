//! Labelled lines for pipes and screen readers.

use crate::presenter::TerminalPresenter;
use std::io::{self, Write};
use windlass_conversation::{Presenter, Update};

/// A surface that writes each finished cell as labelled lines. Nothing is redrawn.
#[derive(Debug)]
pub struct PlainSurface<W: Write> {
    writer: W,
    presenter: TerminalPresenter,
}

impl<W: Write> PlainSurface<W> {
    /// A surface that has written nothing yet.
    pub fn new(writer: W, presenter: TerminalPresenter) -> Self {
        Self { writer, presenter }
    }

    /// The presenter, for its state and for cells of the program's own.
    pub fn presenter(&mut self) -> &mut TerminalPresenter {
        &mut self.presenter
    }

    /// The writer. Cells that were not flushed are dropped.
    pub fn into_writer(self) -> W {
        self.writer
    }

    /// Writes the cells that are finished.
    ///
    /// # Errors
    /// Errors of the writer.
    pub fn flush(&mut self) -> io::Result<()> {
        let cells = self.presenter.take_cells();
        for line in cells.iter().flat_map(crate::cell::Cell::plain_lines) {
            writeln!(self.writer, "{line}")?;
        }
        if cells.is_empty() { Ok(()) } else { self.writer.flush() }
    }
}

impl<W: Write> Presenter for PlainSurface<W> {
    /// Takes the update. [`flush`](PlainSurface::flush) writes what it finished.
    fn present(&mut self, update: Update) {
        self.presenter.present(update);
    }
}
