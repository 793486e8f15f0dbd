//! Framing `application/vnd.amazon.eventstream`.
//!
//! A frame consists of its length, the length of its headers and a checksum of both, the headers, the payload, and a
//! checksum of all before it. Numbers are big-endian. Source: <https://smithy.io/2.0/aws/amazon-eventstream.html>.

mod frame;

pub(crate) use frame::BinaryFrame;

use std::mem::take;
use windlass_http::Bytes;

/// Size of the lengths and their checksum, in bytes.
const PRELUDE: usize = 12;

/// Size of a frame without headers and payload, in bytes.
const FRAMING: usize = PRELUDE + 4;

/// Maximum size of the headers that the format allows, in bytes.
const MAX_HEADERS: usize = 128 * 1024;

/// Reason why a frame cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FrameError {
    #[error("a frame is larger than {0} bytes")]
    TooLarge(usize),
    #[error("the lengths of a frame do not fit each other")]
    Lengths,
    #[error("the checksum of the lengths of a frame is wrong")]
    PreludeChecksum,
    #[error("the checksum of a frame is wrong")]
    Checksum,
    #[error("the headers of a frame cannot be read")]
    Headers,
}

/// Decoder of frames from chunks of bytes. A frame that is complete in its chunk is not copied.
#[derive(Debug)]
pub(crate) struct FrameDecoder {
    /// Maximum size of a frame, in bytes.
    limit: usize,
    /// Unread rest of the chunk.
    chunk: Bytes,
    /// Beginning of a frame whose end has not arrived.
    begun: Vec<u8>,
}

impl FrameDecoder {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, chunk: Bytes::new(), begun: Vec::new() }
    }

    /// Takes the next chunk, once [`next`](Self::next) has returned all frames of the one before.
    pub(crate) fn put(&mut self, chunk: Bytes) {
        self.chunk = chunk;
    }

    /// Returns the next frame; `None` if another chunk is needed.
    ///
    /// # Errors
    /// Fails if the bytes are no frame, or one that is too large. Nothing after it can be read.
    pub(crate) fn next(&mut self) -> Result<Option<BinaryFrame>, FrameError> {
        if self.begun.is_empty() {
            match self.total(&self.chunk)? {
                Some(total) if total <= self.chunk.len() => {
                    return BinaryFrame::read(self.chunk.split_to(total)).map(Some);
                }
                _ => self.move_upto(usize::MAX),
            }
            return Ok(None);
        }
        if self.begun.len() < PRELUDE {
            self.move_upto(PRELUDE);
        }
        let Some(total) = self.total(&self.begun)? else { return Ok(None) };
        self.move_upto(total);
        if self.begun.len() < total {
            return Ok(None);
        }
        BinaryFrame::read(take(&mut self.begun).into()).map(Some)
    }

    /// Moves bytes of the chunk until the partial frame has this many. Memory is allocated for received bytes, not for
    /// announced ones.
    fn move_upto(&mut self, length: usize) {
        let missing = length.saturating_sub(self.begun.len()).min(self.chunk.len());
        self.begun.extend_from_slice(&self.chunk.split_to(missing));
    }

    /// Returns the length of the frame that begins here, once its lengths are known.
    fn total(&self, bytes: &[u8]) -> Result<Option<usize>, FrameError> {
        let Some(prelude) = bytes.first_chunk::<PRELUDE>() else { return Ok(None) };
        let [a, b, c, d, e, f, g, h, i, j, k, l] = *prelude;
        let length = |bytes| usize::try_from(u32::from_be_bytes(bytes)).unwrap_or(usize::MAX);
        let (total, headers) = (length([a, b, c, d]), length([e, f, g, h]));
        if crc32fast::hash(&[a, b, c, d, e, f, g, h]) != u32::from_be_bytes([i, j, k, l]) {
            return Err(FrameError::PreludeChecksum);
        }
        if total > self.limit {
            return Err(FrameError::TooLarge(self.limit));
        }
        if headers > MAX_HEADERS || total.checked_sub(FRAMING).is_none_or(|room| headers > room) {
            return Err(FrameError::Lengths);
        }
        Ok(Some(total))
    }
}

#[cfg(test)]
mod tests;
