//! Messages of `application/vnd.amazon.eventstream`: a prelude with two lengths and a checksum, headers, a payload and
//! a checksum.

use bytes::Bytes;
use serde_json::Value;

/// Type of header values that are strings.
const STRING: u8 = 7;

pub(super) fn message(headers: &[(&str, &str)], payload: &Value) -> Bytes {
    let mut head = Vec::new();
    for (name, value) in headers {
        head.push(u8::try_from(name.len()).unwrap_or(u8::MAX));
        head.extend_from_slice(name.as_bytes());
        head.push(STRING);
        head.extend_from_slice(&u16::try_from(value.len()).unwrap_or(u16::MAX).to_be_bytes());
        head.extend_from_slice(value.as_bytes());
    }
    let payload = payload.to_string();
    let length = |bytes: usize| u32::try_from(bytes).unwrap_or(u32::MAX).to_be_bytes();
    let mut message = Vec::new();
    message.extend_from_slice(&length(16 + head.len() + payload.len()));
    message.extend_from_slice(&length(head.len()));
    let checksum = crc32(&message).to_be_bytes();
    message.extend_from_slice(&checksum);
    message.extend_from_slice(&head);
    message.extend_from_slice(payload.as_bytes());
    let checksum = crc32(&message).to_be_bytes();
    message.extend_from_slice(&checksum);
    message.into()
}

/// Computes the checksum of IEEE 802.3, a bit at a time: messages of a test are short.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32| if crc & 1 == 1 { (crc >> 1) ^ 0xEDB8_8320 } else { crc >> 1 };
    let all = bytes.iter().fold(u32::MAX, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), |crc, _| step(crc)));
    !all
}

#[cfg(test)]
mod tests {
    use super::crc32;

    #[test]
    fn the_checksum_has_its_published_check_value() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
    }
}
