//! Ids of frames.

use serde::{Serialize, Serializer};
use windlass_types::EntryId;

/// A UUID v4 made of random bits.
#[derive(Clone, Copy)]
pub(crate) struct Uuid(pub(crate) u128);

impl Uuid {
    /// Id of an entry, if it has our format.
    pub(crate) fn of(id: &EntryId) -> Option<Self> {
        let digits = id.as_str().bytes().filter(|byte| *byte != b'-');
        let bits = digits
            .map(|digit| char::from(digit).to_digit(16))
            .try_fold(0_u128, |bits, digit| Some(bits << 4 | u128::from(digit?)))?;
        (id.is_uuid()).then_some(Self(bits))
    }
}

impl Uuid {
    /// Text form of the id.
    pub(crate) fn text(self) -> [u8; 36] {
        // RFC 9562, section 5.4: version and variant replace some of the random bits.
        let bits = (self.0 & !(0xf_u128 << 76)) | (0x4_u128 << 76);
        let bits = (bits & !(0x3_u128 << 62)) | (0x2_u128 << 62);
        let hex_part = |offset: u32| digits((bits >> offset) as u32);
        let [[a, b, c, d, e, f, g, h], [i, j, k, l, m, n, o, p]] = [hex_part(96), hex_part(64)];
        let [[q, r, s, t, u, v, w, x], [y, z, aa, bb, cc, dd, ee, ff]] = [hex_part(32), hex_part(0)];
        let dash = b'-';
        [
            a, b, c, d, e, f, g, h, dash, i, j, k, l, dash, m, n, o, p, dash, //
            q, r, s, t, dash, u, v, w, x, y, z, aa, bb, cc, dd, ee, ff,
        ]
    }
}

/// Eight hexadecimal digits, computed at once because there is an id in each frame.
fn digits(bits: u32) -> [u8; 8] {
    // Spreads the digits: each gets a byte of its own.
    let spread = u64::from(bits);
    let spread = (spread | spread << 16) & 0x0000_ffff_0000_ffff;
    let spread = (spread | spread << 8) & 0x00ff_00ff_00ff_00ff;
    let spread = (spread | spread << 4) & 0x0f0f_0f0f_0f0f_0f0f;
    // 1 in each byte whose digit is ten or more.
    let letters = ((spread + 0x0606_0606_0606_0606) >> 4) & 0x0101_0101_0101_0101;
    (spread + 0x3030_3030_3030_3030 + letters * u64::from(b'a' - b'0' - 10)).to_be_bytes()
}

impl Serialize for Uuid {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(std::str::from_utf8(&self.text()).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_digit_is_in_its_place() {
        let text = |bits| String::from_utf8(Uuid(bits).text().to_vec()).unwrap();
        assert_eq!(text(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef), "01234567-89ab-4def-8123-456789abcdef");
        assert_eq!(text(u128::MAX), "ffffffff-ffff-4fff-bfff-ffffffffffff");
        assert_eq!(text(0), "00000000-0000-4000-8000-000000000000");
        let id = EntryId::from_bits(0xfeed_face_cafe_beef_dead_c0de_0bad_f00d);
        assert_eq!(text(Uuid::of(&id).unwrap().0), id.as_str());
        assert_eq!(serde_json::to_value(Uuid(7)).unwrap(), text(7));
    }
}
