//! Replacement of text in the bytes of a file, with all other bytes unchanged.

use std::borrow::Cow;
use std::iter::Peekable;
use std::ops::Range;

use super::canonical::{Ending, Fold, canonical, endings, locate};
use super::charset::{Charset, TextFormat};
use super::near;

/// One replacement, as the model requests it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Replacement<'a> {
    pub(crate) old: &'a str,
    pub(crate) new: &'a str,
    /// Replaces every occurrence, instead of the only one.
    pub(crate) all: bool,
}

/// Result of an edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edited {
    pub(crate) bytes: Vec<u8>,
    /// Number of replaced occurrences.
    pub(crate) count: usize,
}

/// Reason why an edit was not made. The texts are written for the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EditError {
    #[error("old_string and new_string are the same, so there is nothing to change")]
    Identical,
    #[error(
        "old_string is empty, which means \"create this file\", but the file exists and is not empty. \
         Give the text to replace, or use Write to replace the whole file"
    )]
    EmptyOld,
    #[error("old_string was not found. {hint}")]
    NotFound { hint: String },
    #[error(
        "old_string occurs {count} times ({}). Add surrounding lines until it is unique, \
         or set replace_all to change every one", lines_phrase(.lines, *.count)
    )]
    Ambiguous { count: usize, lines: Vec<usize> },
    #[error(
        "old_string occurs {count} times, and the result would be too large. \
         Make smaller edits, or use a program through Bash"
    )]
    TooLarge { count: usize },
    #[error(
        "the file is in {charset}, which cannot hold {character:?} (U+{code:04X}) of new_string. \
         Use other characters, or convert the file first", code = u32::from(*.character)
    )]
    Unencodable { charset: &'static str, character: char },
    #[error(
        "the file is in {charset} and has damaged characters near this place, so it cannot be \
         changed without touching other bytes. Use Bash for this edit"
    )]
    Damaged { charset: &'static str },
}

fn lines_phrase(lines: &[usize], count: usize) -> String {
    let shown: Vec<String> = lines.iter().map(usize::to_string).collect();
    let word = if count == 1 { "line" } else { "lines" };
    let more = if lines.len() < count { ", …" } else { "" };
    format!("{word} {}{more}", shown.join(", "))
}

/// Makes one replacement in `raw`, whose encoding is `format`.
///
/// The search is literal. LF in `old` matches every line break of the file, and LF in `new` is written the same way; a
/// CR in either is used unchanged.
#[cfg(test)]
pub(crate) fn apply(raw: &[u8], format: TextFormat, edit: Replacement<'_>) -> Result<Edited, EditError> {
    apply_in(raw, format, edit, Ending::Lf)
}

/// Like `apply`, for one of several edits of a file: `otherwise` is the line break if none is left.
pub(crate) fn apply_in(
    raw: &[u8],
    format: TextFormat,
    edit: Replacement<'_>,
    otherwise: Ending,
) -> Result<Edited, EditError> {
    if edit.old == edit.new {
        return Err(EditError::Identical);
    }
    let (bom, body) = format.split_bom(raw);
    if edit.old.is_empty() {
        return create(bom, body, format, edit.new);
    }
    let fold = if edit.old.contains('\r') { Fold::No } else { Fold::LineBreaks };
    let text = canonical(body, format, fold);
    let found = find(&text, edit)?;
    let (prefix_len, old, new) = trim(edit, fold);
    let spans: Vec<Span<'_>> = found
        .iter()
        .map(|at| Span { at: at + prefix_len..at + prefix_len + old.len(), new: Cow::Borrowed(new) })
        .collect();
    Ok(Edited { bytes: replace_spans(raw, format, fold, &spans, otherwise)?, count: found.len() })
}

/// A range of the canonical text of a file, and its replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Span<'a> {
    pub(crate) at: Range<usize>,
    pub(crate) new: Cow<'a, str>,
}

/// Replaces ranges of a file's canonical text. They ascend and do not overlap. LF in a replacement is written as the
/// line breaks of the place, unless `fold` requests unchanged bytes; as `otherwise` in a file without breaks.
pub(crate) fn replace_spans(
    raw: &[u8],
    format: TextFormat,
    fold: Fold,
    spans: &[Span<'_>],
    otherwise: Ending,
) -> Result<Vec<u8>, EditError> {
    let (bom, body) = format.split_bom(raw);
    let damaged = || EditError::Damaged { charset: format.charset.name() };
    let ranges: Vec<Range<usize>> = spans.iter().map(|span| span.at.clone()).collect();
    let raw_spans = locate(body, format, fold, &ranges).ok_or_else(damaged)?;
    let mut breaks = BreaksInOrder::new(body, format, fold, otherwise);
    let mut bytes = bom.to_vec();
    bytes.reserve(body.len() + spans.iter().map(|span| span.new.len()).sum::<usize>());
    let mut last = 0;
    for (at, span) in raw_spans.iter().zip(spans) {
        bytes.extend_from_slice(body.get(last..at.start).unwrap_or_default());
        bytes.extend_from_slice(&encode(&breaks.with_file_breaks(at, &span.new), format.charset)?);
        last = at.end;
    }
    bytes.extend_from_slice(body.get(last..).unwrap_or_default());
    if format.charset != Charset::Utf8 {
        let expected = splice(&canonical(body, format, fold), spans);
        let (_, changed) = format.split_bom(&bytes);
        let same = match fold {
            Fold::No => *canonical(changed, format, fold) == *expected,
            Fold::LineBreaks => {
                let written = canonical(changed, format, Fold::LineBreaks);
                *written == *fold_text(&expected, format)
            }
        };
        if !same {
            return Err(damaged());
        }
    }
    Ok(bytes)
}

fn create(bom: &[u8], body: &[u8], format: TextFormat, new: &str) -> Result<Edited, EditError> {
    if !body.is_empty() {
        return Err(EditError::EmptyOld);
    }
    let mut bytes = bom.to_vec();
    bytes.extend(encode(new, format.charset)?);
    Ok(Edited { bytes, count: 1 })
}

/// Maximum number of places that one edit may change.
const MAX_PLACES: usize = 250_000;
/// Maximum number of bytes of a file after an edit.
const MAX_RESULT: usize = 32 * 1024 * 1024;

fn find(text: &[u8], edit: Replacement<'_>) -> Result<Vec<usize>, EditError> {
    const LINES_NAMED: usize = 8;
    let limit = if edit.all { MAX_PLACES + 1 } else { LINES_NAMED };
    let mut places = memchr::memmem::find_iter(text, edit.old);
    let found: Vec<usize> = places.by_ref().take(limit).collect();
    match found.len() {
        0 => Err(EditError::NotFound { hint: near::hint(text, edit.old) }),
        1 => Ok(found),
        _ if !edit.all => {
            Err(EditError::Ambiguous { count: found.len() + places.count(), lines: line_numbers(text, found.iter()) })
        }
        count if count > MAX_PLACES || text.len() + count.saturating_mul(edit.new.len()) > MAX_RESULT => {
            Err(EditError::TooLarge { count: count + places.count() })
        }
        _ => Ok(found),
    }
}

/// Line numbers, from 1, of ascending offsets.
pub(crate) fn line_numbers<'a>(text: &[u8], offsets: impl Iterator<Item = &'a usize>) -> Vec<usize> {
    let (mut line, mut start) = (1, 0);
    offsets
        .map(|at| {
            let between = text.get(start..*at).unwrap_or_default();
            line += memchr::memchr_iter(b'\n', between).count();
            start = *at;
            line
        })
        .collect()
}

/// Leaves out the common start and end of `old` and `new`: those bytes stay unchanged, whatever their line breaks.
/// Returns the length of the common start.
fn trim<'a>(edit: Replacement<'a>, fold: Fold) -> (usize, &'a str, &'a str) {
    if fold == Fold::No || edit.new.contains('\r') {
        return (0, edit.old, edit.new);
    }
    let same = |(a, b): &(char, char)| a == b;
    let start: usize = (edit.old.chars().zip(edit.new.chars())).take_while(same).map(|(c, _)| c.len_utf8()).sum();
    let old = edit.old.get(start..).unwrap_or_default();
    let new = edit.new.get(start..).unwrap_or_default();
    let end: usize = (old.chars().rev().zip(new.chars().rev())).take_while(same).map(|(c, _)| c.len_utf8()).sum();
    let without_end = |s: &'a str| s.get(..s.len() - end).unwrap_or_default();
    (start, without_end(old), without_end(new))
}

fn splice(text: &[u8], spans: &[Span<'_>]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut last = 0;
    for span in spans {
        out.extend_from_slice(text.get(last..span.at.start).unwrap_or_default());
        out.extend_from_slice(span.new.as_bytes());
        last = span.at.end;
    }
    out.extend_from_slice(text.get(last..).unwrap_or_default());
    out
}

/// Folds the line breaks of text that is UTF-8 already.
fn fold_text(text: &[u8], format: TextFormat) -> Cow<'_, [u8]> {
    let utf8 = TextFormat { charset: Charset::Utf8, bom: 0, ..format };
    canonical(text, utf8, Fold::LineBreaks)
}

fn encode(text: &str, charset: Charset) -> Result<Vec<u8>, EditError> {
    charset.encode(text).map_err(|character| EditError::Unencodable { charset: charset.name(), character })
}

/// Line breaks of a file, for texts that are written to ascending places of it.
struct BreaksInOrder<I: Iterator<Item = (Range<usize>, Ending)>> {
    breaks: Peekable<I>,
    /// Last break before the present place.
    previous: Option<Ending>,
    /// Break for a file that has none.
    otherwise: Ending,
    fold: Fold,
}

impl<'a> BreaksInOrder<Box<dyn Iterator<Item = (Range<usize>, Ending)> + 'a>> {
    fn new(body: &'a [u8], format: TextFormat, fold: Fold, otherwise: Ending) -> Self {
        let breaks: Box<dyn Iterator<Item = _> + 'a> = Box::new(endings(body, format));
        Self { breaks: breaks.peekable(), previous: None, otherwise, fold }
    }
}

impl<I: Iterator<Item = (Range<usize>, Ending)>> BreaksInOrder<I> {
    /// Text to write in place of these bytes. A break takes the form of the break it replaces; an additional one takes
    /// the form of the next break of the file, or of the last one before.
    fn with_file_breaks<'t>(&mut self, at: &Range<usize>, new: &'t str) -> Cow<'t, str> {
        if self.fold == Fold::No || !new.contains('\n') || new.contains('\r') {
            return Cow::Borrowed(new);
        }
        while let Some((_, ending)) = self.breaks.next_if(|(place, _)| place.end <= at.start) {
            self.previous = Some(ending);
        }
        let mut inside = Vec::new();
        while let Some((_, ending)) = self.breaks.next_if(|(place, _)| place.start < at.end) {
            inside.push(ending);
        }
        let next = self.breaks.peek().map(|(_, ending)| *ending);
        let other = inside.last().copied().or(next).or(self.previous).unwrap_or(self.otherwise);
        let mut replaced = inside.iter().copied().chain(std::iter::repeat(other));
        let mut text = String::with_capacity(new.len());
        for piece in new.split_inclusive('\n') {
            match (piece.strip_suffix('\n'), replaced.next()) {
                (Some(line), Some(ending)) => {
                    text.push_str(line);
                    text.push_str(ending.as_str());
                }
                _ => text.push_str(piece),
            }
        }
        self.previous = inside.last().copied().or(self.previous);
        Cow::Owned(text)
    }
}

/// Bytes of a whole new content for an existing file, or for a new one. Encoding, byte-order mark and uniform line
/// breaks of the file are kept.
pub(crate) fn rewrite(content: &str, existing: Option<(&[u8], TextFormat)>) -> Result<Vec<u8>, EditError> {
    let Some((raw, format)) = existing else {
        return Ok(content.as_bytes().to_vec());
    };
    let (bom, body) = format.split_bom(raw);
    let mut bytes = bom.to_vec();
    let content = if bom.is_empty() { content } else { content.strip_prefix('\u{FEFF}').unwrap_or(content) };
    let text = match uniform_ending(body, format) {
        Some(ending) if ending != Ending::Lf && !content.contains('\r') => {
            Cow::Owned(content.replace('\n', ending.as_str()))
        }
        _ => Cow::Borrowed(content),
    };
    bytes.extend(encode(&text, format.charset)?);
    Ok(bytes)
}

/// First line break of a file; LF if it has none.
pub(crate) fn first_ending(body: &[u8], format: TextFormat) -> Ending {
    endings(body, format).next().map_or(Ending::Lf, |(_, ending)| ending)
}

/// Line break of a file that has only one kind.
pub(crate) fn uniform_ending(body: &[u8], format: TextFormat) -> Option<Ending> {
    let mut kinds = endings(body, format).map(|(_, ending)| ending);
    let first = kinds.next()?;
    kinds.all(|ending| ending == first).then_some(first)
}

#[cfg(test)]
mod tests;
