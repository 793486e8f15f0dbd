//! The terminal: its size, its streams, and the text that is safe for it.

pub(crate) use windlass::text::{TerminalFilter as Filter, visible, visible_line};

use std::io::{IsTerminal, stderr, stdin, stdout};
use windlass::session::Masks;
use windlass::text;

/// Returns a foreign text for display, without characters that control terminals, and without secrets.
pub(crate) fn clean(text: &str) -> String {
    text::clean(&masks().mask(text))
}

/// Like [`clean`], on one line.
pub(crate) fn clean_line(text: &str) -> String {
    text::clean_line(&masks().mask(text))
}

/// Returns masks for the secrets of this process's environment, and for texts that look like one.
pub(crate) fn masks() -> Masks {
    let text = |value: std::ffi::OsString| value.to_string_lossy().into_owned();
    Masks::new().with_environment(std::env::vars_os().map(|(name, value)| (text(name), text(value))))
}

/// Size of a terminal, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) columns: usize,
    pub(crate) rows: usize,
}

impl Size {
    /// Size of a terminal that does not report one.
    pub(crate) const USUAL: Self = Self { columns: 80, rows: 24 };

    /// Returns the current size of the terminal of standard error.
    #[cfg(unix)]
    pub(crate) fn of_stderr() -> Self {
        let reported = rustix::termios::tcgetwinsize(stderr()).ok();
        let known = reported.filter(|size| size.ws_col > 0 && size.ws_row > 0);
        known.map_or(Self::USUAL, |size| Self { columns: size.ws_col.into(), rows: size.ws_row.into() })
    }

    /// Returns the current size of the terminal of standard error.
    #[cfg(not(unix))]
    pub(crate) fn of_stderr() -> Self {
        Self::USUAL
    }
}

/// Discards typed input that was not read yet: an answer must follow its question.
pub(crate) fn forget_input() {
    #[cfg(unix)]
    {
        // Input that is no terminal is kept.
        let _ = rustix::termios::tcflush(stdin(), rustix::termios::QueueSelector::IFlush);
    }
}

/// Standard streams that are terminals, and use of colours.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terminal {
    pub(crate) stdin: bool,
    pub(crate) stdout: bool,
    pub(crate) stderr: bool,
    pub(crate) colours: bool,
}

impl Terminal {
    /// Returns the properties of this process's streams. `NO_COLOR` and `TERM=dumb` switch colours off.
    pub(crate) fn of_process() -> Self {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self {
            stdin: stdin().is_terminal(),
            stdout: stdout().is_terminal(),
            stderr: stderr().is_terminal(),
            colours: !set("NO_COLOR") && !dumb,
        }
    }

    /// Returns `true` if the user can be asked.
    pub(crate) fn can_ask(self) -> bool {
        self.stdin && self.stderr
    }
}
