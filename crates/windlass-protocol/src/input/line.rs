//! Lines of bounded length.

use std::io;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, BufReader};

/// Reason why no further line can be read.
#[derive(Debug)]
pub(crate) enum LineError {
    /// A line is longer than the limit, in bytes.
    TooLong { limit: usize },
    /// The stream failed.
    Io(io::Error),
}

/// Reads lines, none longer than a limit.
#[derive(Debug)]
pub(crate) struct LineReader<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    /// `true` if `line` was returned and must be emptied.
    complete: bool,
    /// `true` if the stream ended inside `line`.
    broken_off: bool,
    limit: usize,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub(crate) fn new(input: R, limit: usize) -> Self {
        Self {
            input: BufReader::with_capacity(64 * 1024, input),
            line: Vec::new(),
            complete: false,
            broken_off: false,
            limit,
        }
    }

    /// Next line without its end, or `None` at the end of the stream. An unfinished last line is returned too.
    ///
    /// Cancel safe: the read part of a line is kept.
    pub(crate) async fn next(&mut self) -> Result<Option<&[u8]>, LineError> {
        if std::mem::take(&mut self.complete) {
            // Frees the memory of a long line.
            self.line = Vec::new();
        }
        let is_complete = read_line(&mut self.input, &mut self.line, self.limit).await?;
        if !is_complete && self.line.is_empty() {
            return Ok(None);
        }
        self.complete = true;
        self.broken_off = !is_complete;
        let line = self.line.strip_suffix(b"\r").unwrap_or(&self.line);
        Ok(Some(line))
    }

    #[cfg(any(feature = "client", test))]
    /// `true` if the returned line has no end, because the stream broke off in it.
    pub(crate) fn is_broken_off(&self) -> bool {
        self.broken_off
    }
}

/// Reads up to the end of a line. Returns `true` if one was found before the stream's end.
async fn read_line<R: AsyncBufRead + Unpin>(
    input: &mut R,
    line: &mut Vec<u8>,
    limit: usize,
) -> Result<bool, LineError> {
    loop {
        let buffer = input.fill_buf().await.map_err(LineError::Io)?;
        if buffer.is_empty() {
            return Ok(false);
        }
        let (part, rest) = buffer.split_at(buffer.iter().position(|byte| *byte == b'\n').unwrap_or(buffer.len()));
        if line.len() + part.len() > limit {
            return Err(LineError::TooLong { limit });
        }
        line.extend_from_slice(part);
        let (has_ended, consumed) = (!rest.is_empty(), part.len() + usize::from(!rest.is_empty()));
        input.consume(consumed);
        if has_ended {
            return Ok(true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn lines(input: &[u8], limit: usize) -> Result<Vec<String>, LineError> {
        let mut reader = LineReader::new(input, limit);
        let mut lines = Vec::new();
        while let Some(line) = reader.next().await? {
            lines.push(String::from_utf8_lossy(line).into_owned());
        }
        Ok(lines)
    }

    #[tokio::test]
    async fn lines_end_at_line_ends_and_at_the_end() {
        assert_eq!(lines(b"a\r\n\nbc\nd", 8).await.unwrap(), ["a", "", "bc", "d"]);
        assert!(lines(b"", 8).await.unwrap().is_empty());
    }

    #[tokio::test]
    async fn a_long_line_is_an_error_before_it_is_held() {
        assert_eq!(lines(b"12345678\n1", 8).await.unwrap(), ["12345678", "1"]);
        assert!(matches!(lines(b"1\n123456789", 8).await, Err(LineError::TooLong { limit: 8 })));
    }
}
