//! Lines of a result.

use std::ops::Range;

/// Maximum length of a returned line in bytes; longer ones are cut.
pub(super) const MAX_LINE: usize = 800;

/// Role of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineKind {
    Match,
    Context,
    /// Separator between two groups of lines that are not adjacent.
    Break,
}

/// One line of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    /// Line number, from 1; 0 for a break.
    pub(crate) number: u64,
    pub(crate) kind: LineKind,
    /// Text without its line end; cut around the match when it is long.
    pub(crate) text: Box<str>,
}

impl Line {
    pub(super) fn separator() -> Self {
        Self { number: 0, kind: LineKind::Break, text: Box::default() }
    }

    /// Memory that this line takes, in bytes.
    pub(super) fn weight(&self) -> usize {
        self.text.len() + size_of::<Self>()
    }
}

/// Takes the line end off.
pub(super) fn trim_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Text of `line`, or of the part around `focus` when it is too long to show. A note gives the size of the rest.
pub(super) fn clip(line: &[u8], focus: Range<usize>) -> Box<str> {
    let line = trim_end(line);
    if line.len() <= MAX_LINE {
        return String::from_utf8_lossy(line).into();
    }
    // A quarter of the space goes to the text before the match.
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

/// Nearest position not after `at` that does not split a character. Bytes that are not UTF-8 have no such position
/// nearby; they are split at `at`.
fn boundary(line: &[u8], at: usize) -> usize {
    let at = at.min(line.len());
    (at.saturating_sub(3)..=at)
        .rev()
        .find(|&place| line.get(place).is_none_or(|byte| byte & 0xC0 != 0x80))
        .unwrap_or(at)
}
