//! Lines of a byte stream, bounded.

use std::io;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

/// Reader of lines that are bounded in length.
pub(crate) struct LineReader<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    max: usize,
    /// `true` while the rest of a line that is too long is skipped.
    skips: bool,
}

/// Line of the input.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// Bytes of a line, without its end.
    Bytes(Vec<u8>),
    /// A line that is too long, which was skipped.
    TooLong,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub(crate) fn new(input: R, max: usize) -> Self {
        Self { input: BufReader::new(input), line: Vec::new(), max, skips: false }
    }

    /// The next line; `None` at the end of the input. Cancel safe.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            let buffer = self.input.fill_buf().await?;
            if buffer.is_empty() {
                let rest = std::mem::take(&mut self.line);
                return Ok((!rest.is_empty()).then_some(Line::Bytes(rest)));
            }
            let end = buffer.iter().position(|byte| *byte == b'\n');
            let part = buffer.get(..end.unwrap_or(buffer.len())).unwrap_or_default();
            if !self.skips {
                self.skips = self.line.len() + part.len() > self.max;
                if self.skips {
                    self.line = Vec::new();
                } else {
                    self.line.extend_from_slice(part);
                }
            }
            let used = part.len() + usize::from(end.is_some());
            self.input.consume(used);
            if end.is_some() {
                let line = std::mem::take(&mut self.line);
                let is_too_long = std::mem::take(&mut self.skips);
                return Ok(Some(if is_too_long { Line::TooLong } else { Line::Bytes(line) }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_long_line_is_skipped_and_the_next_one_is_read() {
        let text = format!("ab\n{}\ncd\nrest", "x".repeat(30_000));
        let mut lines = LineReader::new(text.as_bytes(), 10);
        let mut all = Vec::new();
        while let Some(line) = lines.next().await.unwrap() {
            all.push(line);
        }
        let bytes = |text: &str| Line::Bytes(text.as_bytes().to_vec());
        assert_eq!(all, [bytes("ab"), Line::TooLong, bytes("cd"), bytes("rest")]);
    }
}
