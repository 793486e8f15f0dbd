//! A file's text with every line break as LF, and the way back to its bytes.
//!
//! A model sees and writes LF only, in UTF-8. Edits are found in this text and
//! then carried out on the bytes, so that the bytes outside them stay as they are.

use std::borrow::Cow;
use std::ops::Range;

use encoding_rs::{DecoderResult, Encoding};

use super::charset::{Breaks, Charset, TextFormat};

/// Treatment of line breaks: all kinds as LF, or each byte unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fold {
    LineBreaks,
    No,
}

/// Line ending in the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Lf,
    CrLf,
    Cr,
}

impl Ending {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
            Self::Cr => "\r",
        }
    }
}

/// Canonical text of a file body (without byte-order mark). Borrowed when the bytes are the text already. Not always
/// valid UTF-8: damaged places stay unchanged.
pub(crate) fn canonical(body: &[u8], format: TextFormat, fold: Fold) -> Cow<'_, [u8]> {
    let plain = match (format.charset, fold) {
        (Charset::Utf8, Fold::No) => true,
        (Charset::Utf8, Fold::LineBreaks) => memchr::memchr(b'\r', body).is_none(),
        _ => false,
    };
    if plain {
        return Cow::Borrowed(body);
    }
    let mut text = Vec::with_capacity(body.len());
    walk(body, format, fold, &mut |_, piece| text.extend_from_slice(piece));
    Cow::Owned(text)
}

/// Ranges of `body` for ranges of the canonical text. `ranges` ascend and do not overlap. `None` when one of them
/// begins or ends inside a character.
pub(crate) fn locate(
    body: &[u8],
    format: TextFormat,
    fold: Fold,
    ranges: &[Range<usize>],
) -> Option<Vec<Range<usize>>> {
    let mut wanted = ranges.iter().flat_map(|r| [r.start, r.end]).peekable();
    let mut found = Vec::with_capacity(ranges.len() * 2);
    let (mut raw, mut text, mut aligned) = (0, 0, true);
    walk(body, format, fold, &mut |raw_len, piece| {
        while let Some(target) = wanted.next_if(|t| *t < text + piece.len()) {
            let delta = target.saturating_sub(text);
            // Only pieces of equal length are runs of bytes; others are one character.
            aligned &= delta == 0 || raw_len == piece.len();
            found.push(raw + delta);
        }
        raw += raw_len;
        text += piece.len();
    });
    found.extend(wanted.take_while(|t| *t == text).map(|_| raw));
    if !aligned || found.len() != ranges.len() * 2 {
        return None;
    }
    let pairs = found.chunks_exact(2).filter_map(|pair| match *pair {
        [start, end] => Some(start..end),
        _ => None,
    });
    Some(pairs.collect())
}

/// Calls `visit(raw length, canonical piece)` for consecutive pieces of `body`.
fn walk(body: &[u8], format: TextFormat, fold: Fold, visit: &mut dyn FnMut(usize, &[u8])) {
    let mut folder = Folder { breaks: (fold == Fold::LineBreaks).then_some(format.breaks), pending_cr: None, visit };
    match format.charset {
        Charset::Utf8 => return walk_utf8(body, folder),
        Charset::Utf16Le => walk_utf16(body, u16::from_le_bytes, &mut folder),
        Charset::Utf16Be => walk_utf16(body, u16::from_be_bytes, &mut folder),
        Charset::Legacy(encoding) if encoding.is_single_byte() => {
            let table: Vec<char> = (0..=u8::MAX).map(|b| decode_byte(encoding, b)).collect();
            for byte in body {
                let c = table.get(usize::from(*byte)).copied();
                folder.char(1, c.unwrap_or(char::REPLACEMENT_CHARACTER));
            }
        }
        Charset::Legacy(encoding) => walk_multibyte(body, encoding, &mut folder),
    }
    folder.flush();
}

/// Joins CR and LF into one break.
struct Folder<'a> {
    breaks: Option<Breaks>,
    pending_cr: Option<usize>,
    visit: &'a mut dyn FnMut(usize, &[u8]),
}

impl Folder<'_> {
    fn char(&mut self, raw_len: usize, c: char) {
        match (c, self.pending_cr) {
            ('\n', Some(cr)) => {
                self.pending_cr = None;
                return (self.visit)(cr + raw_len, b"\n");
            }
            (_, Some(_)) => self.flush(),
            _ => {}
        }
        if c == '\r' && self.breaks.is_some() {
            self.pending_cr = Some(raw_len);
        } else {
            (self.visit)(raw_len, c.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }

    fn flush(&mut self) {
        if let Some(raw_len) = self.pending_cr.take() {
            let text: &[u8] = if self.breaks == Some(Breaks::Cr) { b"\n" } else { b"\r" };
            (self.visit)(raw_len, text);
        }
    }
}

fn walk_utf8(mut body: &[u8], folder: Folder<'_>) {
    let visit = folder.visit;
    let Some(breaks) = folder.breaks else {
        return visit(body.len(), body);
    };
    let lone: &[u8] = if breaks == Breaks::Cr { b"\n" } else { b"\r" };
    while let Some(at) = memchr::memchr(b'\r', body) {
        let (piece, rest) = body.split_at_checked(at).unwrap_or((body, &[]));
        visit(piece.len(), piece);
        if rest.starts_with(b"\r\n") {
            visit(2, b"\n");
            body = rest.get(2..).unwrap_or_default();
        } else {
            visit(1, lone);
            body = rest.get(1..).unwrap_or_default();
        }
    }
    visit(body.len(), body);
}

fn walk_utf16(body: &[u8], unit: fn([u8; 2]) -> u16, folder: &mut Folder<'_>) {
    let pairs = body.chunks_exact(2);
    let odd = pairs.remainder().len();
    let units = pairs.map(|pair| match *pair {
        [a, b] => unit([a, b]),
        _ => 0,
    });
    for c in char::decode_utf16(units) {
        let c = c.unwrap_or(char::REPLACEMENT_CHARACTER);
        folder.char(c.len_utf16() * 2, c);
    }
    if odd > 0 {
        folder.char(odd, char::REPLACEMENT_CHARACTER);
    }
}

fn decode_byte(encoding: &'static Encoding, byte: u8) -> char {
    let bytes = [byte];
    let (text, _) = encoding.decode_without_bom_handling(&bytes);
    text.chars().next().unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// Feeds byte by byte, so that each output belongs to the bytes since the last output.
fn walk_multibyte(body: &[u8], encoding: &'static Encoding, folder: &mut Folder<'_>) {
    let mut decoder = encoding.new_decoder_without_bom_handling();
    let mut out = [0_u8; 32];
    let mut since_output = 0;
    for (at, byte) in body.iter().enumerate() {
        let last = at + 1 == body.len();
        since_output += 1;
        let mut input: &[u8] = &[*byte];
        loop {
            let (result, read, written) = decoder.decode_to_utf8_without_replacement(input, &mut out, last);
            input = input.get(read..).unwrap_or_default();
            let text = out.get(..written).unwrap_or_default();
            for c in String::from_utf8_lossy(text).chars() {
                folder.char(std::mem::take(&mut since_output), c);
            }
            match result {
                DecoderResult::Malformed(..) => {
                    let bytes = since_output.saturating_sub(input.len());
                    since_output -= bytes;
                    folder.char(bytes, char::REPLACEMENT_CHARACTER);
                }
                DecoderResult::InputEmpty => break,
                DecoderResult::OutputFull => {}
            }
        }
    }
    if since_output > 0 {
        folder.char(since_output, char::REPLACEMENT_CHARACTER);
    }
}

/// Line breaks of a file body, as ranges of bytes, in order.
pub(crate) fn endings(body: &[u8], format: TextFormat) -> impl Iterator<Item = (Range<usize>, Ending)> + '_ {
    let width = match format.charset {
        Charset::Utf8 | Charset::Legacy(_) => 1,
        Charset::Utf16Le | Charset::Utf16Be => 2,
    };
    let unit = move |at: usize| -> Option<u8> {
        match (format.charset, body.get(at..at + width)?) {
            (Charset::Utf16Le, &[low, 0]) | (Charset::Utf16Be, &[0, low]) => Some(low),
            (Charset::Utf8 | Charset::Legacy(_), &[byte]) => Some(byte),
            _ => None,
        }
    };
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let rest = body.get(at..)?;
            let next = at + memchr::memchr2(b'\n', b'\r', rest)?;
            let start = next - next % width;
            at = start + width;
            match unit(start) {
                Some(b'\n') => return Some((start..at, Ending::Lf)),
                Some(b'\r') if unit(at) == Some(b'\n') => {
                    at += width;
                    return Some((start..at, Ending::CrLf));
                }
                Some(b'\r') if format.breaks == Breaks::Cr => {
                    return Some((start..at, Ending::Cr));
                }
                _ => {}
            }
        }
    })
}

#[cfg(test)]
mod tests;
