//! Reading a patch from its text, without access to files.

use super::patch::{FilePatch, MAX_FILES, MAX_PATCH, ParseError};
use super::{unified, v4a};

/// Reads a patch of either format.
pub(super) fn parse(text: &str) -> Result<Vec<FilePatch>, ParseError> {
    if text.len() > MAX_PATCH {
        return Err(ParseError::TooLarge(text.len()));
    }
    let lines = lines(text);
    let first = lines.iter().map(|line| line.trim_end()).find(|line| !line.is_empty());
    let files = match first {
        None => return Err(ParseError::Empty),
        Some(first) if first.trim() == v4a::BEGIN => v4a::parse(&lines)?,
        Some(first) if unified::is_header(first) => unified::parse(&lines)?,
        Some(first) => return Err(ParseError::NoPatch(first.chars().take(60).collect())),
    };
    match files.len() {
        0 => Err(ParseError::Empty),
        count if count > MAX_FILES => Err(ParseError::TooManyFiles),
        _ => Ok(files),
    }
}

/// Lines of a text. If every line ends with CR LF, the CRs are removed; otherwise they belong to the lines.
fn lines(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.split('\n').collect();
    if lines.last().is_some_and(|last| last.is_empty()) {
        lines.pop();
    }
    let ended = lines.len() - usize::from(!text.ends_with('\n')).min(lines.len());
    if ended > 0 && lines.iter().take(ended).all(|line| line.ends_with('\r')) {
        for line in &mut lines {
            *line = line.strip_suffix('\r').unwrap_or(line);
        }
    }
    lines
}
