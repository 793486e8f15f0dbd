//! Server-sent events out of chunks of bytes.

use std::{mem::take, str::Utf8Error, sync::Arc};

use bytes::Bytes;

use super::SseEvent;

/// What a line that a chunk cut, or an event of many lines, may keep of its memory for the next one.
const MOST_KEPT: usize = 64 * 1024;

/// The decoder of one stream, as the HTML standard describes it.
///
/// It takes a chunk at a time, and gives it back event by event. A line that is whole in its chunk is read where it
/// stands: an event of one line of data, as nearly all are, costs its text and nothing else.
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
    name: Option<Arc<str>>,
    data: Option<Data>,
}

#[derive(Debug)]
enum Data {
    Line(Arc<str>),
    Lines(String),
}

/// An event whose data may be missing.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) name: Option<Arc<str>>,
    pub(super) data: Option<Arc<str>>,
}

impl Block {
    pub(super) fn into_event(self) -> Option<SseEvent> {
        Some(SseEvent { name: self.name, data: self.data? })
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
                self.put(Bytes::new());
                return Ok(None);
            };
            self.read += line.len() + 1;
            self.skips_lf = *delimiter == b'\r';
            let is_first = !std::mem::replace(&mut self.has_begun, true);
            let ended = if self.begun.is_empty() {
                self.fields.read(self.format, without_mark(line, is_first))?
            } else {
                self.begun.extend_from_slice(line);
                let ended = self.fields.read(self.format, without_mark(&self.begun, is_first))?;
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
    fn read(&mut self, format: Format, line: &[u8]) -> Result<Option<Block>, Utf8Error> {
        match format {
            Format::Events => self.line(line),
            Format::Lines if line.is_empty() => Ok(None),
            Format::Lines => Ok(Some(Block { name: None, data: Some(std::str::from_utf8(line)?.into()) })),
        }
    }

    /// Reads a line without its end. Returns the event that it ends.
    fn line(&mut self, line: &[u8]) -> Result<Option<Block>, Utf8Error> {
        if let Some(value) = line.strip_prefix(b"data:") {
            self.data_line(value)?;
        } else if line.is_empty() {
            return Ok(self.end());
        } else {
            let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
            let (field, value) = line.split_at_checked(colon).unwrap_or((line, &[]));
            self.field(field, value.strip_prefix(b":").unwrap_or(value))?;
        }
        Ok(None)
    }

    fn field(&mut self, field: &[u8], value: &[u8]) -> Result<(), Utf8Error> {
        match field {
            b"data" => self.data_line(value)?,
            b"event" => {
                self.name = Some(text(value)?.into());
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

    fn data_line(&mut self, value: &[u8]) -> Result<(), Utf8Error> {
        let line = text(value)?;
        self.any = true;
        self.data = Some(match self.data.take() {
            None => Data::Line(line.into()),
            Some(Data::Line(first)) => Data::Lines([&first, line].join("\n")),
            Some(Data::Lines(mut lines)) => {
                lines.push('\n');
                lines.push_str(line);
                Data::Lines(lines)
            }
        });
        Ok(())
    }

    fn end(&mut self) -> Option<Block> {
        if !take(&mut self.any) {
            return None;
        }
        let data = self.data.take().map(|data| match data {
            Data::Line(line) => line,
            Data::Lines(lines) => lines.into(),
        });
        Some(Block { name: self.name.take(), data })
    }
}

/// The text of a value: one blank in front of it does not belong to it.
fn text(value: &[u8]) -> Result<&str, Utf8Error> {
    std::str::from_utf8(value.strip_prefix(b" ").unwrap_or(value))
}

#[cfg(test)]
mod tests;
