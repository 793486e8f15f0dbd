//! Title of the window, notifications and progress, beside the rows.

use super::Screen;
use crate::text::{safe_line, truncate};
use base64::Engine as _;
use std::io::{self, Write};

/// Widest text of a title or a notification, in columns.
const COLUMNS: usize = 100;

/// Saves the title of the window, and puts it back. Terminals that cannot do it ignore both.
pub(super) const SAVE_TITLE: &str = "\u{1b}[22;2t";
pub(super) const RESTORE_TITLE: &str = "\u{1b}[23;2t";
/// Takes the mark of progress away.
pub(super) const NO_PROGRESS: &str = "\u{1b}]9;4;0\u{7}";

impl<W: Write> Screen<W> {
    /// Sets the title of the window, made safe and at most 100 columns long. The title of before is put back when the screen is
    /// suspended or closed. Writes nothing if it is the title already, or before the first frame.
    ///
    /// # Errors
    /// Errors of the writer.
    pub fn set_title(&mut self, title: &str) -> io::Result<()> {
        let title = truncate(&safe_line(title), COLUMNS).into_owned();
        if !self.is_open || self.title.as_ref() == Some(&title) {
            return Ok(());
        }
        let save = if self.title.is_none() { SAVE_TITLE } else { "" };
        let sequence = format!("{save}\u{1b}]2;{title}\u{7}");
        self.title = Some(title);
        self.send(&sequence).map(drop)
    }

    /// Notifies the person: rings the bell, and shows the text where the terminal can. For a program that has lost the
    /// focus. Writes nothing before the first frame.
    ///
    /// # Errors
    /// Errors of the writer.
    pub fn notify(&mut self, text: &str) -> io::Result<()> {
        if !self.is_open {
            return Ok(());
        }
        let text = truncate(&safe_line(text), COLUMNS).into_owned();
        // A text that begins with a digit and a semicolon would be a command.
        self.send(&format!("\u{1b}]9;windlass: {text}\u{7}\u{7}")).map(drop)
    }

    /// Puts a text into the clipboard of the person's terminal (OSC 52), also over a network. Terminals that forbid it ignore it.
    ///
    /// # Errors
    /// Errors of the writer.
    pub fn copy(&mut self, text: &str) -> io::Result<()> {
        let encoded = base64::engine::general_purpose::STANDARD.encode(text);
        self.send(&format!("\u{1b}]52;c;{encoded}\u{7}")).map(drop)
    }

    /// Shows or takes away the mark of work in the window or its tab, on terminals that have one. Writes nothing if it is so already, or
    /// before the first frame.
    ///
    /// # Errors
    /// Errors of the writer.
    pub fn set_progress(&mut self, is_working: bool) -> io::Result<()> {
        if !self.is_open || self.has_progress == is_working {
            return Ok(());
        }
        self.has_progress = is_working;
        self.send(if is_working { "\u{1b}]9;4;3\u{7}" } else { NO_PROGRESS }).map(drop)
    }

    /// Sequences that take title and progress back.
    pub(super) fn take_signals(&mut self) -> String {
        let title = self.title.take().map_or("", |_| RESTORE_TITLE);
        let progress = if std::mem::take(&mut self.has_progress) { NO_PROGRESS } else { "" };
        format!("{title}{progress}")
    }
}
