//! Frame of an event stream.

use super::{FRAMING, FrameError, PRELUDE};
use windlass_http::Bytes;

/// Frame with correct checksums.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BinaryFrame {
    headers: Bytes,
    pub(crate) payload: Bytes,
}

/// Headers of a frame.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct FrameHead<'a> {
    /// Type of the frame: `event`, `exception` or `error`.
    pub(crate) message_type: &'a str,
    /// Name of an event.
    pub(crate) event_type: &'a str,
    /// Name of an exception.
    pub(crate) exception_type: &'a str,
    pub(crate) error_code: &'a str,
    pub(crate) error_message: &'a str,
}

impl BinaryFrame {
    /// Reads the bytes of exactly one frame, whose lengths have been checked.
    pub(super) fn read(mut bytes: Bytes) -> Result<Self, FrameError> {
        let whole = bytes.split_last_chunk::<4>();
        let Some((checked, sum)) = whole.filter(|_| bytes.len() >= FRAMING) else {
            return Err(FrameError::Lengths);
        };
        if crc32fast::hash(checked) != u32::from_be_bytes(*sum) {
            return Err(FrameError::Checksum);
        }
        let headers = checked.get(4..8).and_then(|length| length.first_chunk()).map_or(0, |at| u32::from_be_bytes(*at));
        let headers = usize::try_from(headers).unwrap_or(usize::MAX);
        bytes.truncate(bytes.len() - 4);
        let mut behind = bytes.split_off(PRELUDE);
        if headers > behind.len() {
            return Err(FrameError::Lengths);
        }
        let payload = behind.split_off(headers);
        Ok(Self { headers: behind, payload })
    }

    /// Reads the headers. Unknown ones are skipped.
    ///
    /// # Errors
    /// Fails if the headers are malformed.
    pub(crate) fn head(&self) -> Result<FrameHead<'_>, FrameError> {
        let mut head = FrameHead::default();
        let mut rest: &[u8] = &self.headers;
        while !rest.is_empty() {
            let (name, value, behind) = header(rest).ok_or(FrameError::Headers)?;
            rest = behind;
            let known = match name {
                b":message-type" => &mut head.message_type,
                b":event-type" => &mut head.event_type,
                b":exception-type" => &mut head.exception_type,
                b":error-code" => &mut head.error_code,
                b":error-message" => &mut head.error_message,
                _ => continue,
            };
            *known = value.and_then(|value| str::from_utf8(value).ok()).ok_or(FrameError::Headers)?;
        }
        Ok(head)
    }
}

/// Name, value if it is a string, and the remaining bytes.
type FrameHeader<'a> = (&'a [u8], Option<&'a [u8]>, &'a [u8]);

/// Reads the first header.
fn header(bytes: &[u8]) -> Option<FrameHeader<'_>> {
    let (length, bytes) = bytes.split_first()?;
    let (name, bytes) = bytes.split_at_checked(usize::from(*length))?;
    let (kind, bytes) = bytes.split_first()?;
    let fixed = match kind {
        // True and false are types of their own.
        0 | 1 => 0,
        2 => 1,
        3 => 2,
        4 => 4,
        // A time is a number of milliseconds.
        5 | 8 => 8,
        // A UUID of 128 bits.
        9 => 16,
        6 | 7 => {
            let (length, bytes) = bytes.split_first_chunk::<2>()?;
            let (value, rest) = bytes.split_at_checked(usize::from(u16::from_be_bytes(*length)))?;
            return Some((name, (*kind == 7).then_some(value), rest));
        }
        _ => return None,
    };
    let (_, rest) = bytes.split_at_checked(fixed)?;
    Some((name, None, rest))
}
