//! Splitting of bytes into lines.

use std::io::{self, BufRead, Read};

/// Maximum length of a line, in bytes. Twice the largest possible request.
pub(super) const LONGEST: usize = 64 * 1024 * 1024;

/// Reader of lines with bounded memory.
pub(super) struct Lines<R> {
    reader: R,
    buffer: Vec<u8>,
    longest: usize,
    pub(super) number: u64,
    pub(super) bytes: u64,
}

/// A line without its line break.
pub(super) enum Line<'a> {
    Whole(&'a [u8]),
    /// Longer than the maximum.
    TooLong,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(reader: R, longest: usize) -> Self {
        Self { reader, buffer: Vec::new(), longest, number: 0, bytes: 0 }
    }

    pub(super) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.buffer.clear();
        let limit = self.longest as u64 + 1;
        let read = self.reader.by_ref().take(limit).read_until(b'\n', &mut self.buffer)?;
        if read == 0 {
            return Ok(None);
        }
        self.number += 1;
        self.bytes += read as u64;
        if self.buffer.last() == Some(&b'\n') {
            self.buffer.pop();
            return Ok(Some(Line::Whole(&self.buffer)));
        }
        if self.buffer.len() <= self.longest {
            return Ok(Some(Line::Whole(&self.buffer)));
        }
        loop {
            self.buffer.clear();
            let read = self.reader.by_ref().take(limit).read_until(b'\n', &mut self.buffer)?;
            self.bytes += read as u64;
            if read == 0 || self.buffer.last() == Some(&b'\n') {
                self.buffer = Vec::new();
                return Ok(Some(Line::TooLong));
            }
        }
    }
}
