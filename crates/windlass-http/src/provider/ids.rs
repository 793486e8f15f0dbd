//! Ids of tool calls in the form that most APIs accept.

use std::borrow::Cow;

/// Maximum length of a call id, in bytes.
const MAX_ID: usize = 64;

/// Returns the id under which a call and its result are sent: the id itself if it fits, otherwise `call_` and a hash of
/// it.
///
/// Histories hold ids of other vendors, some of hundreds of characters. The result depends on the id alone, so calls
/// and results match and the bytes of a request stay the same from turn to turn.
pub fn call_id(id: &str) -> Cow<'_, str> {
    if fits(id) { Cow::Borrowed(id) } else { Cow::Owned(format!("call_{:032x}", stable_hash(id.as_bytes()))) }
}

fn fits(id: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    !id.is_empty() && id.len() <= MAX_ID && id.bytes().all(is_plain)
}

/// Returns the 128-bit FNV-1a hash: the same on every machine and in every version, unlike the hasher of the standard
/// library.
pub fn stable_hash(bytes: &[u8]) -> u128 {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    bytes.iter().fold(OFFSET, |hash, byte| (hash ^ u128::from(*byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests;
