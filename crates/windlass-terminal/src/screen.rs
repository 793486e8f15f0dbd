//! The inline screen: finished rows above, a live area below, and bytes for what changed.
//!
//! [`Screen`] knows neither the clock nor the keys. Each call of [`Screen::draw`] writes finished rows once and redraws
//! the changed part of the live area, as one frame inside synchronised output. All moves are relative to the cursor, so
//! the place on the terminal and the length of its scrollback do not matter.

mod alternate;
mod encoder;
mod modes;
mod pacer;
mod position;
mod row;
mod signals;

pub use encoder::ColorDepth;
pub use modes::{Modes, RESTORE};
pub use pacer::FramePacer;

use crate::text::Line;
use encoder::Encoder;
use position::{AreaPosition, Extent, WayUp};
use std::io::{self, ErrorKind, Write};

/// Size of a terminal in characters. Never zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Size {
    columns: u16,
    rows: u16,
}

impl Size {
    /// Size of a terminal that does not report one: 80 columns, 24 rows.
    pub const USUAL: Self = Self { columns: 80, rows: 24 };

    /// A size. Zero columns or rows become one.
    #[must_use]
    pub const fn new(columns: u16, rows: u16) -> Self {
        Self { columns: if columns == 0 { 1 } else { columns }, rows: if rows == 0 { 1 } else { rows } }
    }

    /// Columns.
    #[must_use]
    pub const fn columns(self) -> usize {
        self.columns as usize
    }

    /// Rows.
    #[must_use]
    pub const fn rows(self) -> usize {
        self.rows as usize
    }

    /// Columns that a row of the live area may take: one less than the terminal has, so that none ever wraps.
    #[must_use]
    pub const fn live_columns(self) -> usize {
        if self.columns > 1 { self.columns() - 1 } else { 1 }
    }

    /// Most rows of the live area: half of the screen. On a small screen up to five, so that a question has its title and its choices;
    /// one row stays for what is above.
    #[must_use]
    pub const fn live_rows(self) -> usize {
        match self.rows {
            0..=2 => 1,
            3..=5 => self.rows() - 1,
            6..=11 => 5,
            _ => self.rows() / 2,
        }
    }
}

impl Default for Size {
    fn default() -> Self {
        Self::USUAL
    }
}

/// Place of the cursor, in rows and columns from the top left, from zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[expect(clippy::exhaustive_structs, reason = "a place has two coordinates")]
pub struct Caret {
    /// Row.
    pub row: usize,
    /// Column.
    pub column: usize,
}

/// The rows that are redrawn, with the cursor in them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_structs, reason = "programs make it for each frame")]
pub struct LiveArea {
    /// Rows, from the top. A row wider than [`Size::live_columns`] is cut.
    pub rows: Vec<Line>,
    /// Place of the cursor; hidden if `None`.
    pub caret: Option<Caret>,
}

impl LiveArea {
    /// The area cut to `limit` rows. The row of the caret stays, with the rows around it; without one the last rows stay.
    fn clipped(&self, limit: usize) -> (&[Line], Option<Caret>) {
        let count = self.rows.len();
        let last = count.saturating_sub(1);
        let caret = self.caret.map(|caret| Caret { row: caret.row.min(last), ..caret });
        let end = caret.map_or(count, |caret| (caret.row + limit / 2 + 1).max(limit).min(count));
        let start = end.saturating_sub(limit);
        let rows = self.rows.get(start..end).unwrap_or_default();
        (rows, caret.map(|caret| Caret { row: caret.row.saturating_sub(start), ..caret }))
    }
}

/// Outcome of [`Screen::draw`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Drawn {
    /// The terminal shows this already: no byte was written.
    Unchanged,
    /// The frame was written, or its end waits in the screen for [`Screen::flush`].
    Written,
    /// Nothing was taken, because the terminal has not read the frame before, or shows the alternate screen. Draw again later.
    Busy,
}

/// Options of a [`Screen`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "options that programs set")]
pub struct ScreenOptions {
    /// Colours that the terminal knows.
    pub colors: ColorDepth,
    /// `true` if the terminal wraps rows anew when its width changes.
    ///
    /// Terminals that are not known are better given `false`: then stale rows may stay above the live area after a change
    /// of the width, and nothing is ever erased above it.
    pub reflows: bool,
    /// `true` if the terminal drops rows below the cursor when it gets fewer rows, saves those above, and shows them again when it
    /// gets more, as tmux does. Then rows of the live area that were saved are erased when they are back.
    pub refills: bool,
    /// Modes that are switched on while the screen is open.
    pub modes: Modes,
}

impl Default for ScreenOptions {
    /// Sixteen colours, no reflow, no refill, and the [`Modes::default`].
    fn default() -> Self {
        Self { colors: ColorDepth::Ansi16, reflows: false, refills: false, modes: Modes::default() }
    }
}

/// An inline screen over a writer.
///
/// The writer may be blocking or not. A writer that would block keeps at most one frame in the screen: until that is
/// written, [`draw`](Self::draw) takes nothing. Dropping the screen erases the live area and restores the terminal, also when
/// a panic unwinds.
#[derive(Debug)]
pub struct Screen<W: Write> {
    writer: W,
    options: ScreenOptions,
    size: Size,
    /// Rows of the live area as the terminal has them.
    shown: Vec<Line>,
    /// Cursor inside them.
    cursor: Caret,
    is_cursor_shown: bool,
    /// `true` if the width changed since the last frame, so rows may be elsewhere than `shown` has them.
    is_stale: bool,
    /// `true` if the terminal had read all of the last frame at each change of the size since.
    is_settled: bool,
    /// Size at the last frame.
    drawn_size: Size,
    position: AreaPosition,
    /// Rows of the alternate screen while it is shown, with its cursor and the size that it was drawn for.
    alternate: Option<Vec<Line>>,
    alternate_caret: Option<Caret>,
    alternate_size: Size,
    /// Title of the window that was set.
    title: Option<String>,
    has_progress: bool,
    pending: Vec<u8>,
    /// `true` if the writer would have blocked at the last flush.
    is_blocked: bool,
    is_open: bool,
}

impl<W: Write> Screen<W> {
    /// A screen that has written nothing yet. The first frame begins at the row of the cursor, which should be empty.
    pub fn new(writer: W, size: Size, options: ScreenOptions) -> Self {
        Self {
            writer,
            options,
            size,
            shown: Vec::new(),
            cursor: Caret::default(),
            is_cursor_shown: true,
            is_stale: false,
            is_settled: true,
            drawn_size: size,
            position: AreaPosition::new(options.refills),
            alternate: None,
            alternate_caret: None,
            alternate_size: size,
            title: None,
            has_progress: false,
            pending: Vec::new(),
            is_blocked: false,
            is_open: false,
        }
    }

    /// Size of the terminal as it was told last.
    pub fn size(&self) -> Size {
        self.size
    }

    /// The writer.
    pub fn writer(&self) -> &W {
        &self.writer
    }

    /// Tells the size of the terminal. The next frame redraws the live area if it changed. Writes nothing.
    ///
    /// `is_settled` is `true` if the terminal had certainly read the frame before when its size changed, such as one that is older
    /// than the time that bytes take to it. Rows of a frame that was still on its way may be anywhere: then those of the live
    /// area that the terminal has wrapped anew may stay above, and no finished row is lost.
    pub fn resize(&mut self, size: Size, is_settled: bool) {
        if size != self.size {
            self.is_stale = true;
            // Rows stay as they are while the width does.
            self.is_settled &= is_settled || size.columns() == self.size.columns();
            self.size = size;
        }
    }

    /// Writes finished rows above the live area, and what changed in it.
    ///
    /// Finished rows are written once, as they are; they should be at most as wide as the screen. The live area is cut to
    /// [`Size::live_rows`].
    ///
    /// # Errors
    /// Errors of the writer. The screen cannot know what the terminal shows then, and should be dropped.
    pub fn draw(&mut self, finished: &[Line], live: &LiveArea) -> io::Result<Drawn> {
        if !self.flush()? || self.alternate.is_some() {
            return Ok(Drawn::Busy);
        }
        let (rows, caret) = live.clipped(self.size.live_rows());
        let rows: Vec<Line> = rows.iter().map(|line| row::fitted(line, self.size.live_columns())).collect();
        let mut encoder = Encoder::new(self.options.colors);
        if finished.is_empty() && !self.is_stale && self.is_open {
            self.encode_changes(&mut encoder, &rows);
            self.position.write(&[], rows.len().max(1), self.size);
        } else {
            self.encode_all(&mut encoder, finished, &rows);
        }
        self.encode_caret(&mut encoder, &rows, caret);
        self.shown = rows;
        (self.is_stale, self.is_settled) = (false, true);
        self.drawn_size = self.size;
        self.send(&encoder.finish())
    }

    /// Writes lines as they are, without a live area, for a program that never draws one. The lines hold nothing that a
    /// terminal would obey.
    ///
    /// # Errors
    /// Errors of the writer.
    pub fn write_lines(&mut self, lines: impl IntoIterator<Item = String>) -> io::Result<Drawn> {
        if !self.flush()? {
            return Ok(Drawn::Busy);
        }
        let text: String = lines.into_iter().flat_map(|line| [line, "\n".to_owned()]).collect();
        self.send(&text)
    }

    /// `true` if the terminal has not read the frame before, as far as the last call of [`flush`](Self::flush) or of one that writes
    /// has seen.
    pub fn is_blocked(&self) -> bool {
        self.is_blocked
    }

    /// Writes bytes that wait. Returns `true` if none is left.
    ///
    /// # Errors
    /// Errors of the writer, apart from [`WouldBlock`](ErrorKind::WouldBlock).
    pub fn flush(&mut self) -> io::Result<bool> {
        let mut written = 0;
        let outcome = loop {
            let rest = self.pending.get(written..).unwrap_or_default();
            if rest.is_empty() {
                break self.writer.flush();
            }
            match self.writer.write(rest) {
                Ok(0) => break Err(ErrorKind::WriteZero.into()),
                Ok(count) => written += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => break Err(error),
            }
        };
        self.pending.drain(..written.min(self.pending.len()));
        self.is_blocked = matches!(&outcome, Err(error) if error.kind() == ErrorKind::WouldBlock);
        if self.is_blocked { Ok(false) } else { outcome.map(|()| true) }
    }

    /// Erases the live area and restores the terminal, before the program is stopped or another one gets the terminal.
    /// [`draw`](Self::draw) begins anew at the row of the cursor.
    ///
    /// # Errors
    /// Errors of the writer.
    pub fn suspend(&mut self) -> io::Result<()> {
        if !std::mem::take(&mut self.is_open) {
            return Ok(());
        }
        let mut encoder = Encoder::new(self.options.colors);
        if self.alternate.take().is_some() {
            encoder.raw(alternate::LEAVE);
        }
        let again = self.move_to_top(&mut encoder);
        encoder.erase_below();
        encode_finished(&mut encoder, &again);
        self.position.forget();
        encoder.raw(&self.take_signals());
        encoder.raw(&self.options.modes.restore());
        self.is_cursor_shown = true;
        self.shown.clear();
        self.cursor = Caret::default();
        self.pending.extend_from_slice(encoder.finish().as_bytes());
        self.flush().map(drop)
    }

    /// Writes the changed rows, with moves between them.
    fn encode_changes(&mut self, encoder: &mut Encoder, rows: &[Line]) {
        let old = std::mem::take(&mut self.shown);
        let common = old.len().min(rows.len());
        let mut is_unwrapped = false;
        for (at, (before, after)) in old.iter().zip(rows).enumerate() {
            let Some(change) = row::change(before, after) else { continue };
            self.begin(encoder);
            self.move_to_row(encoder, at);
            encoder.column(change.column);
            // On a screen that just became narrower, text that wraps would join rows.
            if !std::mem::replace(&mut is_unwrapped, true) {
                encoder.wrap(false);
            }
            encoder.spans(change.spans.iter());
            if change.clears {
                encoder.erase_right();
            }
        }
        if is_unwrapped {
            encoder.wrap(true);
        }
        if rows.len() > common {
            self.begin(encoder);
            for (at, line) in rows.iter().enumerate().skip(common) {
                if at == 0 {
                    encoder.column(0);
                } else {
                    self.move_to_row(encoder, at - 1);
                    encoder.newline();
                }
                self.cursor.row = at;
                encoder.spans(line.spans());
            }
        } else if old.len() > common {
            self.begin(encoder);
            self.move_to_row(encoder, common);
            encoder.erase_below();
        }
    }

    /// Writes finished rows where the live area began, and the live area below them.
    ///
    /// The old rows are erased first: a terminal that has wrapped one anew keeps its parts joined when they are written over, and
    /// would join others for them.
    fn encode_all(&mut self, encoder: &mut Encoder, finished: &[Line], rows: &[Line]) {
        self.begin(encoder);
        let again = self.move_to_top(encoder);
        encoder.erase_below();
        for lines in [&again, finished] {
            encode_finished(encoder, lines);
        }
        self.position.write(&again, 0, self.size);
        self.position.write(finished, rows.len().max(1), self.size);
        for (at, line) in rows.iter().enumerate() {
            if at > 0 {
                encoder.newline();
            }
            encoder.spans(line.spans());
        }
        self.cursor.row = rows.len().saturating_sub(1);
    }

    /// Begins the frame, and opens the screen with the first one.
    fn begin(&mut self, encoder: &mut Encoder) {
        if !self.is_open {
            encoder.raw(&self.options.modes.enter());
            self.is_open = true;
        }
        encoder.begin();
    }

    /// Moves to the first column of the first row of the live area, or of its rows that were away and are back. Returns finished
    /// rows to write again from there.
    fn move_to_top(&mut self, encoder: &mut Encoder) -> Vec<Line> {
        let way = if self.is_stale { self.way_up() } else { WayUp { rows: self.cursor.row, again: Vec::new() } };
        encoder.up(way.rows);
        encoder.column(0);
        self.cursor = Caret::default();
        way.again
    }

    /// Way to the row where the next frame begins, on a terminal whose size has changed.
    fn way_up(&mut self) -> WayUp {
        if !self.options.reflows || !self.is_settled {
            self.position.forget();
            return WayUp { rows: self.cursor.row, again: Vec::new() };
        }
        let (before, after) = (self.extent(self.drawn_size), self.extent(self.size));
        self.position.resize(&self.shown, (self.drawn_size, &before), (self.size, &after))
    }

    /// Rows of the live area around the cursor, as a terminal of this size wraps them.
    fn extent(&self, size: Size) -> Extent {
        let columns = size.columns();
        let height = |line: &Line| row::height(line.width(), columns);
        let rest = self.shown.iter().skip(self.cursor.row + 1);
        if columns == self.drawn_size.columns() {
            return Extent { above: self.cursor.row, own: 0, below: rest.map(|_| 1).collect() };
        }
        let inside = self.cursor.column / columns;
        let above = self.shown.iter().take(self.cursor.row).map(height).sum::<usize>() + inside;
        let own = self.shown.get(self.cursor.row).map_or(1, height).saturating_sub(inside + 1);
        Extent { above, own, below: rest.map(height).collect() }
    }

    fn move_to_row(&mut self, encoder: &mut Encoder, row: usize) {
        encoder.up(self.cursor.row.saturating_sub(row));
        encoder.down(row.saturating_sub(self.cursor.row));
        self.cursor.row = row;
    }

    /// Places the cursor on the caret and shows it, or hides it.
    fn encode_caret(&mut self, encoder: &mut Encoder, rows: &[Line], caret: Option<Caret>) {
        let last = rows.len().saturating_sub(1);
        // Rows below the cursor are dropped by a screen that becomes smaller; those above would go into the scrollback.
        let place = caret.unwrap_or_default();
        let place = Caret { row: place.row.min(last), column: place.column.min(self.size.live_columns()) };
        if encoder.is_begun() || self.cursor != place {
            self.begin(encoder);
            self.move_to_row(encoder, place.row);
            encoder.column(place.column);
            self.cursor = place;
        }
        if caret.is_some() != self.is_cursor_shown {
            self.begin(encoder);
            self.is_cursor_shown = caret.is_some();
        }
        encoder.end(self.is_cursor_shown);
    }

    fn send(&mut self, bytes: &str) -> io::Result<Drawn> {
        if bytes.is_empty() {
            return Ok(Drawn::Unchanged);
        }
        self.pending.extend_from_slice(bytes.as_bytes());
        self.flush()?;
        Ok(Drawn::Written)
    }
}

/// Writes finished rows on a screen that is empty below.
fn encode_finished(encoder: &mut Encoder, rows: &[Line]) {
    for line in rows {
        encoder.spans(line.spans());
        encoder.newline();
    }
}

impl<W: Write> Drop for Screen<W> {
    fn drop(&mut self) {
        // Nobody is left to hear of a terminal that is gone.
        let _ = self.suspend();
    }
}
