//! Ids of frames.

use serde::{Serialize, Serializer};
use windlass_types::EntryId;

/// A UUID v4 made of random bits.
#[derive(Clone, Copy)]
pub(crate) struct Uuid(pub(crate) u128);

impl Uuid {
    /// The id of an entry, if it has the form of ours.
    pub(crate) fn of(id: &EntryId) -> Option<Self> {
        let digits = id.as_str().bytes().filter(|byte| *byte != b'-');
        let bits = digits
            .map(|digit| char::from(digit).to_digit(16))
            .try_fold(0_u128, |bits, digit| Some(bits << 4 | u128::from(digit?)))?;
        (id.is_uuid()).then_some(Self(bits))
    }
}

impl Serialize for Uuid {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // RFC 9562, section 5.4: version and variant stand over the random bits.
        let bits = (self.0 & !(0xf_u128 << 76)) | (0x4_u128 << 76);
        let bits = (bits & !(0x3_u128 << 62)) | (0x2_u128 << 62);
        let digit = |nibble: u8| nibble + if nibble < 10 { b'0' } else { b'a' - 10 };
        // Dashes stay where no digit is written.
        let mut text = [b'-'; 36];
        let places = text.iter_mut().enumerate().filter(|(at, _)| !matches!(at, 8 | 13 | 18 | 23));
        let nibbles = bits.to_be_bytes().into_iter().flat_map(|byte| [byte >> 4, byte & 0xf]);
        for ((_, place), nibble) in places.zip(nibbles) {
            *place = digit(nibble);
        }
        let text = std::str::from_utf8(&text).unwrap_or_default();
        serializer.serialize_str(text)
    }
}
