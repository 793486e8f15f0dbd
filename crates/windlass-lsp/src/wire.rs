//! Framing of the LSP base protocol: a header with the length, then JSON. No I/O happens here, and memory is bounded.

use serde_json::Value;

/// Maximum size of a header, in bytes.
const MAX_HEADER_BYTES: usize = 4 * 1024;
/// Maximum size of a message, in bytes.
pub(crate) const LARGEST_MESSAGE: usize = 8 * 1024 * 1024;

/// Error after which the stream of a server cannot be read further.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum WireError {
    #[error("it sent a header of more than {MAX_HEADER_BYTES} bytes")]
    LargeHeader,
    #[error("it sent a header without a Content-Length")]
    NoLength,
    #[error("it announced a message of {0} bytes, and at most {LARGEST_MESSAGE} are read")]
    LargeMessage(u64),
    #[error("it sent what is no JSON")]
    NoJson,
}

/// Decoder of a byte stream. It accepts pieces of any size and returns complete messages.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    buffer: Vec<u8>,
}

impl Decoder {
    /// Adds received bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// Returns the next message, if it is complete.
    pub(crate) fn next(&mut self) -> Result<Option<Value>, WireError> {
        let Some((header_length, length)) = self.header()? else { return Ok(None) };
        let end = header_length.saturating_add(length);
        let Some(body) = self.buffer.get(header_length..end) else { return Ok(None) };
        let message = serde_json::from_slice(body).map_err(|_| WireError::NoJson);
        self.buffer.drain(..end);
        message.map(Some)
    }

    /// Returns the lengths in bytes of the header, with its empty line, and of the message. `None`: incomplete header.
    fn header(&self) -> Result<Option<(usize, usize)>, WireError> {
        let searched = self.buffer.get(..MAX_HEADER_BYTES).unwrap_or(&self.buffer);
        let Some(header_end) = searched.windows(4).position(|bytes| bytes == b"\r\n\r\n") else {
            return if self.buffer.len() >= MAX_HEADER_BYTES { Err(WireError::LargeHeader) } else { Ok(None) };
        };
        let header = String::from_utf8_lossy(searched.get(..header_end).unwrap_or_default()).into_owned();
        let fields = header.split("\r\n").filter_map(|line| line.split_once(':'));
        let mut lengths = fields.filter(|(name, _)| name.trim().eq_ignore_ascii_case("content-length"));
        let length =
            lengths.next().and_then(|(_, value)| value.trim().parse::<u64>().ok()).ok_or(WireError::NoLength)?;
        match usize::try_from(length) {
            Ok(length) if length <= LARGEST_MESSAGE => Ok(Some((header_end + 4, length))),
            _ => Err(WireError::LargeMessage(length)),
        }
    }
}

/// Encodes a message with its header.
pub(crate) fn encode(message: &Value) -> Vec<u8> {
    let body = message.to_string();
    let mut bytes = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    bytes.extend_from_slice(body.as_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn all(bytes: &[u8], piece: usize) -> Result<Vec<Value>, WireError> {
        let (mut decoder, mut found) = (Decoder::default(), Vec::new());
        for piece in bytes.chunks(piece.max(1)) {
            decoder.push(piece);
            while let Some(message) = decoder.next()? {
                found.push(message);
            }
        }
        Ok(found)
    }

    #[test]
    fn what_is_no_message_ends_the_stream() {
        for (bytes, expected) in [
            (b"Content-Length: 99999999\r\n\r\n".to_vec(), WireError::LargeMessage(99_999_999)),
            (b"Content-Length: 99999999999999999999\r\n\r\n".to_vec(), WireError::NoLength),
            (b"Content-Length: -1\r\n\r\n".to_vec(), WireError::NoLength),
            (b"Hello\r\n\r\n{}".to_vec(), WireError::NoLength),
            (vec![b'x'; MAX_HEADER_BYTES], WireError::LargeHeader),
            (b"Content-Length: 3\r\n\r\nabc".to_vec(), WireError::NoJson),
            (format!("Content-Length: 400\r\n\r\n{}{}", "[".repeat(200), "]".repeat(200)).into(), WireError::NoJson),
        ] {
            assert_eq!(all(&bytes, 7), Err(expected));
        }
        assert_eq!(all(b"Content-Type: x\r\ncontent-length:2\r\n\r\n{}", 1), Ok(vec![json!({})]));
    }

    proptest! {
        #[test]
        fn messages_come_whole_from_any_pieces(texts in prop::collection::vec(".{0,20}", 0..6), piece in 1usize..60) {
            let messages: Vec<Value> = texts.iter().map(|text| json!({ "t": text })).collect();
            let bytes: Vec<u8> = messages.iter().flat_map(encode).collect();
            prop_assert_eq!(all(&bytes, piece), Ok(messages));
        }

        #[test]
        fn any_bytes_end_in_messages_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = all(&bytes, 13);
        }
    }
}
