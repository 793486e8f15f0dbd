//! One page of a text file, with line numbers, in bounded memory.
//!
//! [`PageReader`] is fed the bytes of a file in any chunks. It keeps only the
//! lines of the page, each cut to a maximal length; the rest is counted.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::charset::{Breaks, TextDecoder, TextFormat};

/// Requested part of a file, and the limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PageRequest {
    /// First line, from 1.
    pub(crate) offset: u64,
    /// Maximum number of lines.
    pub(crate) limit: u64,
    /// Maximum number of estimated tokens.
    pub(crate) max_tokens: u64,
    /// Maximum number of characters of one line.
    pub(crate) max_line_chars: usize,
}

impl Default for PageRequest {
    fn default() -> Self {
        Self { offset: 1, limit: 2000, max_tokens: 25_000, max_line_chars: 2000 }
    }
}

/// Maximum number of bytes reserved for a page before its lines are known.
const MAX_RESERVED_BYTES: usize = 16 * 1024;

/// Reason why a page ends before the file does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    Lines,
    Tokens,
}

/// A part of a file for a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Page {
    pub(crate) first_line: u64,
    /// Lines joined by LF, long ones cut. None of them contains an LF.
    pub(crate) content: String,
    /// Lines joined by LF, each after its number and a tab.
    numbered: String,
    /// Number of lines of the page.
    pub(crate) lines: u64,
    /// Number of lines seen in all: one more than there are line breaks.
    pub(crate) total_lines: u64,
    /// `true` if the file was read to its end, so `total_lines` is exact.
    pub(crate) complete: bool,
    pub(crate) cut: Option<Cut>,
    /// Number of lines of the page that were cut to the maximum length.
    pub(crate) long_lines: u64,
    max_line_chars: usize,
}

/// Turns a stream of bytes into a [`Page`].
pub(crate) struct PageReader {
    decoder: Option<TextDecoder>,
    decoded: String,
    bom_left: usize,
    lines: LineCollector,
}

impl PageReader {
    pub(crate) fn new(format: TextFormat, request: PageRequest) -> Self {
        Self {
            decoder: format.charset.decoder(),
            decoded: String::new(),
            bom_left: format.bom,
            lines: LineCollector::new(format.breaks, request),
        }
    }

    /// Takes the next bytes of the file.
    pub(crate) fn push(&mut self, chunk: &[u8]) {
        let skip = self.bom_left.min(chunk.len());
        self.bom_left -= skip;
        let chunk = chunk.get(skip..).unwrap_or_default();
        let Some(decoder) = &mut self.decoder else {
            self.lines.feed(chunk);
            return;
        };
        self.decoded.clear();
        decoder.decode(chunk, &mut self.decoded, false);
        self.lines.feed(self.decoded.as_bytes());
    }

    /// `true` if the page is full; more bytes only make the total exact.
    pub(crate) fn is_full(&self) -> bool {
        self.lines.full
    }

    /// Ends the page. `complete`: the whole file was pushed.
    pub(crate) fn finish(mut self, complete: bool) -> Page {
        if complete && let Some(decoder) = &mut self.decoder {
            self.decoded.clear();
            decoder.decode(&[], &mut self.decoded, true);
            self.lines.feed(self.decoded.as_bytes());
        }
        self.lines.finish(complete)
    }
}

struct LineCollector {
    breaks: Breaks,
    request: PageRequest,
    /// Number of the line being read, from 1.
    line_no: u64,
    after_cr: bool,
    full: bool,
    tokens: u64,
    line: Vec<u8>,
    /// Number of characters of the line beyond `line`.
    dropped: u64,
    last_byte: Option<u8>,
    page: Page,
}

impl LineCollector {
    fn new(breaks: Breaks, request: PageRequest) -> Self {
        let request = PageRequest { offset: request.offset.max(1), limit: request.limit.max(1), ..request };
        Self {
            breaks,
            request,
            line_no: 1,
            after_cr: false,
            full: false,
            tokens: 0,
            line: Vec::new(),
            dropped: 0,
            last_byte: None,
            page: Page {
                first_line: request.offset,
                content: String::new(),
                numbered: String::new(),
                lines: 0,
                total_lines: 0,
                complete: false,
                cut: None,
                long_lines: 0,
                max_line_chars: request.max_line_chars,
            },
        }
    }

    fn feed(&mut self, mut text: &[u8]) {
        // Checking all bytes at once is much faster than checking those of each line.
        let whole = str::from_utf8(text).ok().filter(|_| memchr::memchr(0, text).is_none());
        let (length, is_ascii) = (text.len(), text.is_ascii());
        if self.page.content.is_empty() && self.collecting() {
            let expected = length.min(MAX_RESERVED_BYTES);
            self.page.content.reserve(expected);
            self.page.numbered.reserve(expected / 4 * 5);
        }
        while !text.is_empty() {
            if std::mem::take(&mut self.after_cr) {
                text = text.strip_prefix(b"\n").unwrap_or(text);
            }
            if self.full && self.breaks == Breaks::Lf {
                let breaks = memchr::memchr_iter(b'\n', text).count();
                self.line_no += breaks as u64;
                let tail = memchr::memrchr(b'\n', text).map_or(0, |at| at + 1);
                let unfinished = text.get(tail..).and_then(<[u8]>::last).copied();
                self.last_byte = unfinished.or(self.last_byte.filter(|_| breaks == 0));
                return;
            }
            let end = match self.breaks {
                Breaks::Lf => memchr::memchr(b'\n', text),
                Breaks::Cr => memchr::memchr2(b'\n', b'\r', text),
            };
            let (line, rest) = text.split_at_checked(end.unwrap_or(text.len())).unwrap_or_default();
            let Some((byte, rest)) = rest.split_first() else {
                self.append(line);
                return;
            };
            self.after_cr = *byte == b'\r';
            if self.line.is_empty() && line.len() <= self.request.max_line_chars && self.collecting() {
                // Most lines are short and in one piece, and need not be copied first. A CR before the break belongs to
                // it.
                let line = line.strip_suffix(b"\r").unwrap_or(line);
                let start = length - text.len();
                match whole.and_then(|whole| whole.get(start..start + line.len())) {
                    Some(line) if is_ascii => self.push_line(line, ascii_tokens(line.len())),
                    Some(line) => self.push_line(line, estimate_tokens(line)),
                    None => self.add_line(line, 0),
                }
            } else {
                self.append(line);
                if self.collecting() {
                    self.finish_line(self.breaks == Breaks::Lf);
                }
            }
            self.line_no += 1;
            self.last_byte = None;
            text = rest;
        }
    }

    fn collecting(&self) -> bool {
        !self.full && self.line_no >= self.request.offset
    }

    fn append(&mut self, part: &[u8]) {
        self.last_byte = part.last().copied().or(self.last_byte);
        if !self.collecting() {
            return;
        }
        let room = (self.request.max_line_chars * 4 + 4).saturating_sub(self.line.len());
        let (kept, omitted) = part.split_at_checked(room).unwrap_or((part, &[]));
        self.line.extend_from_slice(kept);
        self.dropped += chars_in(omitted);
    }

    /// Adds the line to the page; a CR before the break belongs to the break.
    fn finish_line(&mut self, strip_cr: bool) {
        let mut bytes = std::mem::take(&mut self.line);
        let mut omitted = std::mem::take(&mut self.dropped);
        if strip_cr && self.last_byte == Some(b'\r') {
            if omitted > 0 {
                omitted -= 1;
            } else {
                bytes.pop();
            }
        }
        self.add_line(&bytes, omitted);
        bytes.clear();
        self.line = bytes;
    }

    /// Adds a line without its break to the page. `omitted`: number of characters left out before.
    fn add_line(&mut self, bytes: &[u8], mut omitted: u64) {
        // Validating whole text is much faster than repairing damaged text.
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => String::from_utf8_lossy(bytes),
        };
        // Most lines are short and need no counting.
        let fits = text.len() <= self.request.max_line_chars;
        let (shown, hidden) = if fits { (&*text, "") } else { cut_chars(&text, self.request.max_line_chars) };
        omitted += chars_in(hidden.as_bytes());
        let mut line = match memchr::memchr(0, shown.as_bytes()) {
            Some(_) => Cow::Owned(shown.replace('\0', "\u{2400}")),
            None => Cow::Borrowed(shown),
        };
        if omitted > 0 {
            self.page.long_lines += 1;
            let _ = write!(line.to_mut(), " [… {omitted} more characters in this line]");
        }
        self.push_line(&line, estimate_tokens(&line));
    }

    /// Adds a shown line to the page, if it fits.
    fn push_line(&mut self, line: &str, tokens: u64) {
        let cost = tokens + 2;
        if self.tokens + cost > self.request.max_tokens && self.page.lines > 0 {
            self.page.cut = Some(Cut::Tokens);
            self.full = true;
        } else {
            self.tokens += cost;
            self.page.push(line);
            self.full = self.page.lines >= self.request.limit;
        }
    }

    fn finish(mut self, complete: bool) -> Page {
        if complete && self.collecting() {
            self.finish_line(false);
        }
        let mut page = self.page;
        page.total_lines = self.line_no;
        page.complete = complete;
        let next = page.first_line + page.lines;
        let only_final_newline_left = complete && next == self.line_no && self.last_byte.is_none() && next > 1;
        if page.cut.is_none() && next <= self.line_no && page.lines > 0 {
            page.cut = (!only_final_newline_left).then_some(Cut::Lines);
        }
        page
    }
}

impl Page {
    fn push(&mut self, line: &str) {
        if self.lines > 0 {
            self.content.push('\n');
            self.numbered.push('\n');
        }
        self.content.push_str(line);
        self.numbered.push_str(itoa::Buffer::new().format(self.first_line.saturating_add(self.lines)));
        self.numbered.push('\t');
        self.numbered.push_str(line);
        self.lines += 1;
    }

    /// Takes the text for the model: `<n>\t<line>` for each line, then notes.
    pub(crate) fn take_text(&mut self) -> String {
        let mut text = std::mem::take(&mut self.numbered);
        if let Some(notice) = self.notice() {
            let _ = write!(text, "\n\n[{notice}]");
        }
        text
    }

    fn notice(&self) -> Option<String> {
        let mut notice = String::new();
        if let Some(cut) = self.cut {
            let next = self.first_line + self.lines;
            let at_least = if self.complete { "" } else { "at least " };
            let reason = match cut {
                Cut::Lines => "the line limit",
                Cut::Tokens => "the size limit of one page",
            };
            let _ = write!(
                notice,
                "PARTIAL: lines {}-{} of {at_least}{} are shown, up to {reason}. \
                 Read on with offset={next}, or find the place with Grep.",
                self.first_line,
                next.saturating_sub(1),
                self.total_lines,
            );
        }
        if self.long_lines > 0 {
            let space = if notice.is_empty() { "" } else { " " };
            let _ = write!(
                notice,
                "{space}{} long line(s) are cut after {} characters; what is cut cannot be matched from here.",
                self.long_lines, self.max_line_chars,
            );
        }
        (!notice.is_empty()).then_some(notice)
    }
}

/// Estimated number of tokens of `text`, an upper bound for ordinary source code.
pub(crate) fn estimate_tokens(text: &str) -> u64 {
    if text.is_ascii() {
        return ascii_tokens(text.len());
    }
    let ascii = text.bytes().filter(u8::is_ascii).count();
    ascii_tokens(ascii) + chars_in(text.as_bytes()) - ascii as u64
}

fn ascii_tokens(chars: usize) -> u64 {
    chars as u64 * 2 / 7
}

/// Splits `text` after at most `max` characters.
pub(crate) fn cut_chars(text: &str, max: usize) -> (&str, &str) {
    let end = text.char_indices().nth(max).map_or(text.len(), |(at, _)| at);
    text.split_at_checked(end).unwrap_or((text, ""))
}

fn chars_in(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|b| **b & 0xC0 != 0x80).count() as u64
}

#[cfg(test)]
mod tests;
