//! Server-sent events out of chunks of bytes.

use std::{mem::take, str::Utf8Error};

use bytes::Bytes;

/// What a line that a chunk cut, or an event of many lines, may keep of its memory for the next one.
const MOST_KEPT: usize = 64 * 1024;

/// The decoder of one stream, as the HTML standard describes it.
///
/// It takes a chunk at a time, and gives it back event by event. A line that is whole in its chunk is read where it
/// stands: an event of lines of one chunk, as nearly all are, is not copied.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    format: Format,
    chunk: Bytes,
    /// How much of the chunk is read.
    read: usize,
    /// The beginning of a line whose end has not come.
    begun: Vec<u8>,
    /// The last line ended with CR: an LF that comes next belongs to it.
    skips_lf: bool,
    /// Whether a line has been read. A mark of byte order may stand before the first.
    has_begun: bool,
    fields: Fields,
}

/// What the lines of a stream are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Format {
    /// The fields of events.
    #[default]
    Events,
    /// An event each.
    Lines,
}

/// The fields of the event that is being read.
#[derive(Debug, Default)]
struct Fields {
    /// Whether there is a field that counts.
    any: bool,
    name: Option<Text>,
    data: Option<Text>,
}

/// The value of a field, which is UTF-8.
#[derive(Debug)]
pub(super) enum Text {
    /// Where it stands in the chunk.
    Here(usize, usize),
    /// The chunk is gone, or there were several lines.
    Kept(String),
}

/// An event whose data may be missing. [`Decoder::str`] has its texts until the next chunk is put.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) name: Option<Text>,
    pub(super) data: Option<Text>,
}

impl Text {
    fn str<'a>(&'a self, chunk: &'a [u8]) -> &'a str {
        match self {
            // It was read as UTF-8 when its line was.
            Self::Here(from, to) => {
                chunk.get(*from..*to).and_then(|text| std::str::from_utf8(text).ok()).unwrap_or_default()
            }
            Self::Kept(text) => text,
        }
    }

    /// Makes it independent of its chunk.
    fn keep(&mut self, chunk: &[u8]) {
        if let Self::Here(..) = self {
            *self = Self::Kept(self.str(chunk).to_owned());
        }
    }
}

/// A line without its end.
#[derive(Clone, Copy)]
struct Line<'a> {
    bytes: &'a [u8],
    /// Where it begins in the chunk; `None` if it began in an earlier one.
    at: Option<usize>,
    chunk: &'a [u8],
}

impl Line<'_> {
    /// A part of the line with which it ends.
    fn value(&self, value: &str) -> Text {
        match self.at {
            Some(at) => {
                let end = at + self.bytes.len();
                Text::Here(end.saturating_sub(value.len()), end)
            }
            None => Text::Kept(value.to_owned()),
        }
    }
}

impl Decoder {
    /// A decoder of lines that are an event each.
    pub(super) fn lines() -> Self {
        Self { format: Format::Lines, ..Self::default() }
    }

    /// Takes the next chunk, when [`next`](Self::next) has nothing more of the one before.
    pub(super) fn put(&mut self, chunk: Bytes) {
        (self.chunk, self.read) = (chunk, 0);
    }

    /// The text of a field of the event that was read last.
    pub(super) fn str<'a>(&'a self, text: &'a Text) -> &'a str {
        text.str(&self.chunk)
    }

    /// The next event of the chunk; `None` when it wants another chunk.
    ///
    /// # Errors
    /// The value of a known field is not UTF-8.
    pub(super) fn next(&mut self) -> Result<Option<Block>, Utf8Error> {
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
                self.fields.read(self.format, Line { bytes, at, chunk })?
            } else {
                self.begun.extend_from_slice(line);
                let bytes = without_mark(&self.begun, is_first);
                let ended = self.fields.read(self.format, Line { bytes, at: None, chunk })?;
                self.begun.clear();
                self.begun.shrink_to(MOST_KEPT);
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

impl Fields {
    /// The chunk goes.
    fn keep(&mut self, chunk: &[u8]) {
        for text in [&mut self.name, &mut self.data].into_iter().flatten() {
            text.keep(chunk);
        }
    }

    fn read(&mut self, format: Format, line: Line<'_>) -> Result<Option<Block>, Utf8Error> {
        match format {
            Format::Events => self.line(line),
            Format::Lines if line.bytes.is_empty() => Ok(None),
            Format::Lines => Ok(Some(Block { name: None, data: Some(line.value(std::str::from_utf8(line.bytes)?)) })),
        }
    }

    /// Reads a line without its end. Returns the event that it ends.
    fn line(&mut self, line: Line<'_>) -> Result<Option<Block>, Utf8Error> {
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

    fn field(&mut self, line: Line<'_>, field: &[u8], value: &[u8]) -> Result<(), Utf8Error> {
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
            // Comments, which have no name, and fields that are not known.
            _ => {}
        }
        Ok(())
    }

    fn data_line(&mut self, line: Line<'_>, value: &[u8]) -> Result<(), Utf8Error> {
        let value = text(value)?;
        self.any = true;
        self.data = Some(match self.data.take() {
            None => line.value(value),
            Some(Text::Kept(mut lines)) => {
                lines.push('\n');
                lines.push_str(value);
                Text::Kept(lines)
            }
            Some(first) => Text::Kept([first.str(line.chunk), value].join("\n")),
        });
        Ok(())
    }

    fn end(&mut self) -> Option<Block> {
        if !take(&mut self.any) {
            return None;
        }
        Some(Block { name: self.name.take(), data: self.data.take() })
    }
}

/// The text of a value: one blank in front of it does not belong to it.
fn text(value: &[u8]) -> Result<&str, Utf8Error> {
    std::str::from_utf8(value.strip_prefix(b" ").unwrap_or(value))
}

#[cfg(test)]
mod tests;
