//! Decoder of server-sent events from chunks of bytes.

use std::{mem::take, str::Utf8Error};

use bytes::Bytes;

/// Maximum capacity that a buffer keeps for the next line or event, in bytes.
const MAX_IDLE_CAPACITY: usize = 64 * 1024;

/// Decoder of one stream, as described by the HTML standard.
///
/// The decoder takes a chunk at a time, and returns it event by event. A line that is complete in its chunk is read in
/// place: an event of lines of one chunk, as nearly all are, is not copied.
#[derive(Debug, Default)]
pub(super) struct EventDecoder {
    format: Format,
    chunk: Bytes,
    /// Number of bytes of the chunk that are read.
    read: usize,
    /// Beginning of a line whose end has not arrived.
    begun: Vec<u8>,
    /// `true` if the last line ended with CR: a following LF belongs to it.
    skips_lf: bool,
    /// `true` once a line has been read. A byte-order mark may precede the first.
    has_begun: bool,
    fields: EventFields,
}

/// Format of the lines of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Format {
    /// Fields of events.
    #[default]
    Events,
    /// One event per line.
    Lines,
}

/// Fields of the event that is being read.
#[derive(Debug, Default)]
struct EventFields {
    /// `true` if there is a known field.
    any: bool,
    name: Option<FieldText>,
    data: Option<FieldText>,
}

/// Value of a field, which is UTF-8.
#[derive(Debug)]
pub(super) enum FieldText {
    /// Range in the chunk.
    Here(usize, usize),
    /// Own copy: the chunk is gone, or there were several lines.
    Kept(String),
}

/// Event whose data may be missing. [`EventDecoder::str`] returns its texts until the next chunk is put.
#[derive(Debug)]
pub(super) struct DecodedEvent {
    pub(super) name: Option<FieldText>,
    pub(super) data: Option<FieldText>,
}

impl FieldText {
    fn str<'a>(&'a self, chunk: &'a [u8]) -> &'a str {
        match self {
            // The range was checked as UTF-8 when its line was read.
            Self::Here(from, to) => {
                chunk.get(*from..*to).and_then(|text| std::str::from_utf8(text).ok()).unwrap_or_default()
            }
            Self::Kept(text) => text,
        }
    }

    /// Makes the text independent of its chunk.
    fn keep(&mut self, chunk: &[u8]) {
        if let Self::Here(..) = self {
            *self = Self::Kept(self.str(chunk).to_owned());
        }
    }
}

/// Line without its end.
#[derive(Clone, Copy)]
struct EventLine<'a> {
    bytes: &'a [u8],
    /// Position of its begin in the chunk; `None` if it began in an earlier one.
    at: Option<usize>,
    chunk: &'a [u8],
}

impl EventLine<'_> {
    /// Returns the text of `value`, which is the end of the line.
    fn value(&self, value: &str) -> FieldText {
        match self.at {
            Some(at) => {
                let end = at + self.bytes.len();
                FieldText::Here(end.saturating_sub(value.len()), end)
            }
            None => FieldText::Kept(value.to_owned()),
        }
    }
}

impl EventDecoder {
    /// Creates a decoder of one event per line.
    pub(super) fn lines() -> Self {
        Self { format: Format::Lines, ..Self::default() }
    }

    /// Takes the next chunk, once [`next`](Self::next) has returned all events of the one before.
    pub(super) fn put(&mut self, chunk: Bytes) {
        (self.chunk, self.read) = (chunk, 0);
    }

    /// Returns the text of a field of the event that was read last.
    pub(super) fn str<'a>(&'a self, text: &'a FieldText) -> &'a str {
        text.str(&self.chunk)
    }

    /// Returns the next event of the chunk; `None` if another chunk is needed.
    ///
    /// # Errors
    /// Fails if the value of a known field is not UTF-8.
    pub(super) fn next(&mut self) -> Result<Option<DecodedEvent>, Utf8Error> {
        loop {
            let mut rest = self.chunk.get(self.read..).unwrap_or_default();
            if !rest.is_empty()
                && take(&mut self.skips_lf)
                && let Some(after) = rest.strip_prefix(b"\n")
            {
                self.read += 1;
                rest = after;
            }
            let end = memchr::memchr2(b'\n', b'\r', rest);
            let Some((line, [delimiter, ..])) = end.and_then(|end| rest.split_at_checked(end)) else {
                self.begun.extend_from_slice(rest);
                self.fields.keep(&self.chunk);
                self.put(Bytes::new());
                return Ok(None);
            };
            let at = self.read;
            self.read += line.len() + 1;
            self.skips_lf = *delimiter == b'\r';
            let is_first = !std::mem::replace(&mut self.has_begun, true);
            let chunk = &*self.chunk;
            let ended = if self.begun.is_empty() {
                let bytes = without_mark(line, is_first);
                let at = Some(at + line.len() - bytes.len());
                self.fields.read(self.format, EventLine { bytes, at, chunk })?
            } else {
                self.begun.extend_from_slice(line);
                let bytes = without_mark(&self.begun, is_first);
                let ended = self.fields.read(self.format, EventLine { bytes, at: None, chunk })?;
                self.begun.clear();
                self.begun.shrink_to(MAX_IDLE_CAPACITY);
                ended
            };
            if ended.is_some() {
                return Ok(ended);
            }
        }
    }
}

fn without_mark(line: &[u8], is_first: bool) -> &[u8] {
    if is_first { line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line) } else { line }
}

impl EventFields {
    /// Keeps the texts before their chunk is dropped.
    fn keep(&mut self, chunk: &[u8]) {
        for text in [&mut self.name, &mut self.data].into_iter().flatten() {
            text.keep(chunk);
        }
    }

    fn read(&mut self, format: Format, line: EventLine<'_>) -> Result<Option<DecodedEvent>, Utf8Error> {
        match format {
            Format::Events => self.line(line),
            Format::Lines if line.bytes.is_empty() => Ok(None),
            Format::Lines => {
                Ok(Some(DecodedEvent { name: None, data: Some(line.value(std::str::from_utf8(line.bytes)?)) }))
            }
        }
    }

    /// Reads a line without its end. Returns the event that the line ends.
    fn line(&mut self, line: EventLine<'_>) -> Result<Option<DecodedEvent>, Utf8Error> {
        if let Some(value) = line.bytes.strip_prefix(b"data:") {
            self.data_line(line, value)?;
        } else if line.bytes.is_empty() {
            return Ok(self.end());
        } else {
            let colon = line.bytes.iter().position(|byte| *byte == b':').unwrap_or(line.bytes.len());
            let (field, value) = line.bytes.split_at_checked(colon).unwrap_or((line.bytes, &[]));
            self.field(line, field, value.strip_prefix(b":").unwrap_or(value))?;
        }
        Ok(None)
    }

    fn field(&mut self, line: EventLine<'_>, field: &[u8], value: &[u8]) -> Result<(), Utf8Error> {
        match field {
            b"data" => self.data_line(line, value)?,
            b"event" => {
                self.name = Some(line.value(text(value)?));
                self.any = true;
            }
            b"id" if !value.contains(&0) => {
                text(value)?;
                self.any = true;
            }
            b"retry" => {
                let is_number = text(value)?.bytes().all(|byte| byte.is_ascii_digit());
                self.any |= is_number && text(value)?.parse::<u64>().is_ok();
            }
            // Comments, which have no name, and unknown fields.
            _ => {}
        }
        Ok(())
    }

    fn data_line(&mut self, line: EventLine<'_>, value: &[u8]) -> Result<(), Utf8Error> {
        let value = text(value)?;
        self.any = true;
        self.data = Some(match self.data.take() {
            None => line.value(value),
            Some(FieldText::Kept(mut lines)) => {
                lines.push('\n');
                lines.push_str(value);
                FieldText::Kept(lines)
            }
            Some(first) => FieldText::Kept([first.str(line.chunk), value].join("\n")),
        });
        Ok(())
    }

    fn end(&mut self) -> Option<DecodedEvent> {
        if !take(&mut self.any) {
            return None;
        }
        Some(DecodedEvent { name: self.name.take(), data: self.data.take() })
    }
}

/// Returns the text of a value: one leading space does not belong to it.
fn text(value: &[u8]) -> Result<&str, Utf8Error> {
    std::str::from_utf8(value.strip_prefix(b" ").unwrap_or(value))
}

#[cfg(test)]
mod tests;
