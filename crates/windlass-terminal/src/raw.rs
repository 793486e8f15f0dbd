//! The terminal in raw mode: each key is read at once, and none is shown or obeyed by the system.

use crate::capabilities::{Background, PROBE, ProbeAnswers};
use crate::screen::Size;
use rustix::termios::{OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use std::io::{self, Write};
use std::os::fd::AsFd;

/// Size of the terminal behind a descriptor; `None` if it is no terminal or has not told.
pub fn window_size(terminal: impl AsFd) -> Option<Size> {
    let size = tcgetwinsize(terminal).ok()?;
    (size.ws_col > 0 && size.ws_row > 0).then(|| Size::new(size.ws_col, size.ws_row))
}

/// A terminal in raw mode, put back when this is dropped, also when a panic unwinds.
#[derive(Debug)]
pub struct RawMode<F: AsFd> {
    terminal: F,
    saved: Termios,
    raw: Termios,
}

impl<F: AsFd> RawMode<F> {
    /// Puts the terminal into raw mode.
    ///
    /// # Errors
    /// Errors of the system, such as a descriptor that is no terminal.
    pub fn enter(terminal: F) -> io::Result<Self> {
        let saved = tcgetattr(&terminal)?;
        let mut raw = saved.clone();
        raw.make_raw();
        tcsetattr(&terminal, OptionalActions::Flush, &raw)?;
        Ok(Self { terminal, saved, raw })
    }

    /// Puts the terminal back as it was, before the program is stopped or another one gets the terminal. A terminal that does not read
    /// is not waited for.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn leave(&self) -> io::Result<()> {
        Ok(tcsetattr(&self.terminal, OptionalActions::Now, &self.saved)?)
    }

    /// Puts the terminal into raw mode again, after [`leave`](Self::leave).
    ///
    /// # Errors
    /// Errors of the system.
    pub fn reenter(&self) -> io::Result<()> {
        Ok(tcsetattr(&self.terminal, OptionalActions::Now, &self.raw)?)
    }

    /// Asks the terminal for its background, for at most `tenths` tenths of a second without an answer. Returns the
    /// answer and the bytes of keys that were pressed meanwhile. Blocks.
    ///
    /// # Errors
    /// Errors of the system and of `writer`.
    pub fn probe(&self, mut writer: impl Write, tenths: u8) -> io::Result<(Option<Background>, Vec<u8>)> {
        let mut timed = self.raw.clone();
        timed.special_codes[SpecialCodeIndex::VMIN] = 0;
        timed.special_codes[SpecialCodeIndex::VTIME] = tenths.max(1);
        tcsetattr(&self.terminal, OptionalActions::Now, &timed)?;
        let answers = writer.write_all(PROBE.as_bytes()).and_then(|()| writer.flush()).and_then(|()| self.answers());
        self.reenter()?;
        answers.map(ProbeAnswers::finish)
    }

    fn answers(&self) -> io::Result<ProbeAnswers> {
        let mut answers = ProbeAnswers::default();
        let mut buffer = [0; 1024];
        loop {
            match rustix::io::read(&self.terminal, &mut buffer[..]) {
                // The time is up.
                Ok(0) => return Ok(answers),
                Ok(count) => {
                    if answers.feed(buffer.get(..count).unwrap_or_default()) {
                        return Ok(answers);
                    }
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl<F: AsFd> Drop for RawMode<F> {
    fn drop(&mut self) {
        // Nobody is left to hear of a terminal that is gone.
        let _ = self.leave();
    }
}
