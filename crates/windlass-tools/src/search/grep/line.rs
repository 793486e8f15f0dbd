//! Lines as they are returned.

use std::ops::Range;

/// Longest text of a returned line, in bytes, before it is cut.
pub(super) const MAX_LINE: usize = 800;

/// What a line is there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineKind {
    Match,
    Context,
    /// Stands between two groups of lines that do not follow each other.
    Break,
}

/// One line of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    /// From 1; 0 for a break.
    pub(crate) number: u64,
    pub(crate) kind: LineKind,
    /// Without its line end; cut around the match when it is long.
    pub(crate) text: Box<str>,
}

impl Line {
    pub(super) fn separator() -> Self {
        Self { number: 0, kind: LineKind::Break, text: Box::default() }
    }

    /// What this line costs in memory.
    pub(super) fn weight(&self) -> usize {
        self.text.len() + size_of::<Self>()
    }
}

/// Takes the line end off.
pub(super) fn trim_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The text of `line`, or of the part around `focus` when it is too long to show.
/// A note gives the size of what is cut off.
pub(super) fn clip(line: &[u8], focus: Range<usize>) -> Box<str> {
    let line = trim_end(line);
    if line.len() <= MAX_LINE {
        return String::from_utf8_lossy(line).into();
    }
    // A quarter of the room goes to what leads up to the match.
    let latest = line.len() - MAX_LINE;
    let start = boundary(line, focus.start.saturating_sub(MAX_LINE / 4).min(latest));
    let end = boundary(line, start + MAX_LINE);
    let shown = String::from_utf8_lossy(line.get(start..end).unwrap_or_default());
    let mut out = String::with_capacity(shown.len() + 48);
    if start > 0 {
        out.push_str(&format!("[{start} bytes cut] "));
    }
    out.push_str(&shown);
    if end < line.len() {
        out.push_str(&format!(" [{} bytes cut]", line.len() - end));
    }
    out.into()
}

/// The nearest place not after `at` that does not split a character. Bytes that are
/// not UTF-8 have no such place nearby; they are split where they stand.
fn boundary(line: &[u8], at: usize) -> usize {
    let at = at.min(line.len());
    (at.saturating_sub(3)..=at)
        .rev()
        .find(|&place| line.get(place).is_none_or(|byte| byte & 0xC0 != 0x80))
        .unwrap_or(at)
}
