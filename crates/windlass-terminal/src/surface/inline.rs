//! The inline surface.

use crate::capabilities::{Capabilities, Presentation};
use crate::cell::{Cell, Fold};
use crate::layout::{Glyphs, Layout};
use crate::live::{InputArea, LiveOptions, live_area, next_change};
use crate::presenter::TerminalPresenter;
use crate::screen::{Drawn, FramePacer, Screen, ScreenOptions, Size};
use crate::text::Line;
use crate::theme::Theme;
use crate::transcript::Transcript;
use std::collections::VecDeque;
use std::io::{self, Write};
use std::time::Duration;
use windlass_conversation::{Presenter, Update};

/// Most finished rows of one frame.
const FRAME_ROWS: usize = 400;
/// Bytes of text that wait for the terminal before no further updates should be taken.
const CONGESTED_BYTES: usize = 1 << 20;
/// Rows that wait for the terminal before no further updates should be taken.
const CONGESTED_ROWS: usize = 10_000;

/// Options of a [`TerminalSurface`].
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "options that programs set")]
pub struct SurfaceOptions {
    /// Options of the screen.
    pub screen: ScreenOptions,
    /// Styles.
    pub theme: Theme,
    /// Characters beside the text.
    pub glyphs: Glyphs,
    /// Options of the live area.
    pub live: LiveOptions,
    /// Time that bytes take to the terminal.
    pub latency: Duration,
    /// Time for which a size has to stay before it is drawn for.
    pub resize_rest: Duration,
    /// Form of the output. With [`Presentation::Plain`] finished cells and changed rows of the input are written as labelled
    /// lines, and nothing is redrawn.
    pub presentation: Presentation,
}

impl SurfaceOptions {
    /// Options for a terminal.
    #[must_use]
    pub fn new(capabilities: &Capabilities, theme: Theme) -> Self {
        Self {
            screen: capabilities.screen_options(),
            theme,
            glyphs: if capabilities.unicode { Glyphs::UNICODE } else { Glyphs::ASCII },
            live: LiveOptions::default(),
            latency: capabilities.latency,
            resize_rest: capabilities.resize_rest,
            presentation: capabilities.presentation,
        }
    }
}

/// The inline output of a conversation.
///
/// The program tells updates, sizes and the focus with the time, and calls [`draw`](Self::draw) when a frame is
/// [`due`](Self::due). Without a change none is, so an idle program needs no timer.
///
/// ```
/// use std::time::Duration;
/// use windlass_terminal::capabilities::Capabilities;
/// use windlass_terminal::cell::NoticeLevel;
/// use windlass_terminal::live::InputArea;
/// use windlass_terminal::presenter::TerminalPresenter;
/// use windlass_terminal::screen::Size;
/// use windlass_terminal::surface::{SurfaceOptions, TerminalSurface};
/// use windlass_terminal::theme::Theme;
///
/// let capabilities = Capabilities::detect(|_| None, true);
/// let options = SurfaceOptions::new(&capabilities, Theme::default());
/// let mut surface = TerminalSurface::new(Vec::new(), Size::USUAL, TerminalPresenter::default(), options);
/// // Updates of a conversation go to `present`; this is a cell of the program's own.
/// surface.presenter_mut().notice(NoticeLevel::Info, "Ready.");
/// surface.set_time(Duration::from_millis(40));
/// surface.draw(&InputArea::default())?;
/// assert_eq!(surface.due(), None);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct TerminalSurface<W: Write> {
    screen: Screen<W>,
    presenter: TerminalPresenter,
    options: SurfaceOptions,
    pacer: FramePacer,
    transcript: Transcript,
    /// Finished rows that were not written yet.
    rows: VecDeque<Line>,
    is_focused: bool,
    now: Duration,
    last_drawn: Option<Duration>,
}

impl<W: Write> TerminalSurface<W> {
    /// A surface that has written nothing yet. Its first frame is due at once.
    pub fn new(writer: W, size: Size, presenter: TerminalPresenter, options: SurfaceOptions) -> Self {
        let mut pacer = FramePacer::default();
        pacer.request(Duration::ZERO);
        Self {
            screen: Screen::new(writer, size, options.screen),
            presenter,
            options,
            pacer,
            transcript: Transcript::default(),
            rows: VecDeque::new(),
            is_focused: true,
            now: Duration::ZERO,
            last_drawn: None,
        }
    }

    /// Tells the time. Updates that follow happen then.
    pub fn set_time(&mut self, now: Duration) {
        self.now = now;
        self.presenter.set_time(now);
    }

    /// The presenter, for its state.
    pub fn presenter(&self) -> &TerminalPresenter {
        &self.presenter
    }

    /// The presenter, for cells and messages of the program's own. Asks for a frame.
    pub fn presenter_mut(&mut self) -> &mut TerminalPresenter {
        self.pacer.request(self.now);
        &mut self.presenter
    }

    /// Cells that were written.
    pub fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// Size of the terminal.
    pub fn size(&self) -> Size {
        self.screen.size()
    }

    /// Room, styles and glyphs for rows of the input.
    pub fn layout(&self) -> Layout<'_> {
        let columns = self.screen.size().live_columns();
        Layout { columns, theme: &self.options.theme, glyphs: self.options.glyphs }
    }

    /// Asks for a frame, such as for a key.
    pub fn request_frame(&mut self) {
        self.pacer.request(self.now);
    }

    /// Time at which [`draw`](Self::draw) has something to do; `None` while nothing changes, or a page is shown.
    pub fn due(&self) -> Option<Duration> {
        self.pacer.due().filter(|_| !self.screen.is_alternate())
    }

    /// `true` while the terminal is slower than the conversation: the program should take no further updates.
    pub fn is_congested(&self) -> bool {
        self.rows.len() > CONGESTED_ROWS || self.presenter.waiting_bytes() > CONGESTED_BYTES
    }

    /// `true` while the terminal has not read the frame before, see [`Screen::is_blocked`]. Frames are [`Busy`](Drawn::Busy) until
    /// [`flush`](Self::flush) has written it.
    pub fn is_blocked(&self) -> bool {
        self.screen.is_blocked()
    }

    /// Writes bytes that wait for the terminal. Returns `true` if none is left; then a frame is [`due`](Self::due) for what has changed
    /// meanwhile.
    ///
    /// # Errors
    /// Errors of the writer. The terminal is lost then.
    pub fn flush(&mut self) -> io::Result<bool> {
        self.screen.flush()
    }

    /// Tells the size of the terminal. Frames rest until it has been the same for [`SurfaceOptions::resize_rest`].
    pub fn resize(&mut self, size: Size) {
        if size != self.screen.size() {
            let is_settled = self.last_drawn.is_none_or(|drawn| self.now.saturating_sub(drawn) >= self.options.latency);
            self.screen.resize(size, is_settled);
            self.pacer.hold(self.now + self.options.resize_rest);
            self.pacer.request(self.now);
        }
    }

    /// Tells if the terminal has the focus. Without it nothing moves by itself.
    pub fn set_focused(&mut self, is_focused: bool) {
        if std::mem::replace(&mut self.is_focused, is_focused) != is_focused {
            self.pacer.request(self.now);
        }
    }

    /// Puts another theme in place, for rows that follow.
    pub fn set_theme(&mut self, theme: Theme) {
        self.options.theme = theme;
        self.pacer.request(self.now);
    }

    /// Shows or hides the list of tasks.
    pub fn set_shows_todos(&mut self, shows_todos: bool) {
        self.options.live.shows_todos = shows_todos;
        self.pacer.request(self.now);
    }

    /// Draws a frame if one is due.
    ///
    /// # Errors
    /// Errors of the writer. The terminal is lost then.
    pub fn draw(&mut self, input: &InputArea) -> io::Result<Drawn> {
        if self.screen.is_alternate() {
            return Ok(Drawn::Busy);
        }
        if !self.pacer.take(self.now) {
            return Ok(Drawn::Unchanged);
        }
        if self.options.presentation == Presentation::Plain {
            return self.draw_lines(input);
        }
        self.take_cells();
        let options = LiveOptions { animates: self.options.live.animates && self.is_focused, ..self.options.live };
        let layout = Layout { columns: self.size().columns(), theme: &self.options.theme, glyphs: self.options.glyphs };
        let live = live_area(&self.presenter, input, &layout, self.size(), options, self.now);
        let count = self.rows.len().min(FRAME_ROWS);
        let finished: &[Line] = self.rows.make_contiguous().get(..count).unwrap_or_default();
        let drawn = self.screen.draw(finished, &live)?;
        match drawn {
            Drawn::Busy => self.pacer.request(self.now),
            Drawn::Written => {
                self.last_drawn = Some(self.now);
                self.rows.drain(..count);
            }
            Drawn::Unchanged => {}
        }
        if !self.rows.is_empty() {
            self.pacer.request(self.now);
        }
        if let Some(next) = next_change(&self.presenter, options, self.now) {
            self.pacer.request(next);
        }
        Ok(drawn)
    }

    /// Writes what is finished as labelled lines, and the rows of the input below them.
    fn draw_lines(&mut self, input: &InputArea) -> io::Result<Drawn> {
        if !self.screen.flush()? {
            self.pacer.request(self.now);
            return Ok(Drawn::Busy);
        }
        let cells = self.presenter.take_cells();
        let finished = cells.iter().flat_map(Cell::plain_lines);
        let lines: Vec<String> = finished.chain(input.rows.iter().map(Line::text)).collect();
        for cell in cells {
            self.transcript.push(cell);
        }
        self.screen.write_lines(lines)
    }

    /// Writes lines below those that are finished, where lines are written.
    ///
    /// # Errors
    /// Errors of the writer.
    pub fn say(&mut self, lines: impl IntoIterator<Item = String>) -> io::Result<Drawn> {
        self.screen.write_lines(lines)
    }

    /// Puts a text into the clipboard, see [`Screen::copy`].
    ///
    /// # Errors
    /// Errors of the writer.
    pub fn copy(&mut self, text: &str) -> io::Result<()> {
        self.screen.copy(text)
    }

    /// Lets the spinner move, or keeps it still.
    pub fn set_animates(&mut self, animates: bool) {
        self.options.live.animates = animates;
        self.pacer.request(self.now);
    }

    /// Sets the title of the window, see [`Screen::set_title`].
    ///
    /// # Errors
    /// Errors of the writer.
    pub fn set_title(&mut self, title: &str) -> io::Result<()> {
        self.screen.set_title(title)
    }

    /// Shows or takes away the mark of work, see [`Screen::set_progress`].
    ///
    /// # Errors
    /// Errors of the writer.
    pub fn set_progress(&mut self, is_working: bool) -> io::Result<()> {
        self.screen.set_progress(is_working)
    }

    /// Notifies the person if the terminal has not the focus, see [`Screen::notify`].
    ///
    /// # Errors
    /// Errors of the writer.
    pub fn notify(&mut self, text: &str) -> io::Result<()> {
        if self.is_focused { Ok(()) } else { self.screen.notify(text) }
    }

    /// Shows rows on the alternate screen, such as those of a [`Pager`](crate::pager::Pager). Finished rows wait meanwhile.
    ///
    /// # Errors
    /// Errors of the writer.
    pub fn draw_page(&mut self, rows: &[Line]) -> io::Result<Drawn> {
        self.screen.draw_alternate(rows, None)
    }

    /// Leaves the alternate screen.
    ///
    /// # Errors
    /// Errors of the writer.
    pub fn leave_page(&mut self) -> io::Result<()> {
        self.pacer.request(self.now);
        self.screen.leave_alternate()
    }

    /// Erases the live area and restores the terminal, before the program is stopped or another one gets the terminal. The next frame
    /// begins anew.
    ///
    /// # Errors
    /// Errors of the writer.
    pub fn suspend(&mut self) -> io::Result<()> {
        self.pacer.request(self.now);
        self.screen.suspend()
    }

    /// Writes all finished rows, erases the live area and restores the terminal. A terminal that does not read keeps its rows back.
    ///
    /// # Errors
    /// Errors of the writer.
    pub fn close(mut self) -> io::Result<()> {
        if self.options.presentation == Presentation::Plain {
            return self.draw_lines(&InputArea::default()).map(drop);
        }
        self.take_cells();
        let live = crate::screen::LiveArea::default();
        while !self.rows.is_empty() {
            let count = self.rows.len().min(FRAME_ROWS);
            let finished: &[Line] = self.rows.make_contiguous().get(..count).unwrap_or_default();
            if self.screen.draw(finished, &live)? == Drawn::Busy {
                break;
            }
            self.rows.drain(..count);
        }
        self.screen.suspend()
    }

    /// Lays out the cells that are finished.
    fn take_cells(&mut self) {
        for cell in self.presenter.take_cells() {
            self.add(cell);
        }
    }

    fn add(&mut self, cell: Cell) {
        let columns = self.screen.size().columns();
        let layout = Layout { columns, theme: &self.options.theme, glyphs: self.options.glyphs };
        let rows = cell.rows(&layout, Fold::Folded);
        if cell.is_separated() && !rows.is_empty() {
            self.rows.push_back(Line::new());
        }
        self.rows.extend(rows);
        self.transcript.push(cell);
    }
}

impl<W: Write> Presenter for TerminalSurface<W> {
    /// Takes the update and asks for a frame.
    fn present(&mut self, update: Update) {
        self.pacer.request(self.now);
        self.presenter.present(update);
    }
}
