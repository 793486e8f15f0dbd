//! Notes on standard error.

use crate::terminal::clean_line;
use std::io::{Write, stderr};

/// Writes a note to standard error.
pub(crate) fn note_to_stderr(note: &str) {
    // A failure is ignored: a closed standard error must not end the session.
    let _ = writeln!(stderr(), "windlass: {}", clean_line(note));
}
