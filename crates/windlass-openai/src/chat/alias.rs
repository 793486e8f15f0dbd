//! Call ids in a form that an endpoint accepts.

use super::compat::IdRule;
use std::borrow::Cow;
use windlass_http::provider::stable_hash;

/// Maximum length of an id that OpenAI accepts here, in bytes.
const MAX_ID: usize = 40;

/// Returns the id under which a call and its result are sent: the id itself if it fits the rule, otherwise one made of
/// its hash. The result depends on the id alone, so calls and results match and the bytes of a request stay the same
/// from turn to turn.
pub(super) fn alias(id: &str, rule: IdRule) -> Cow<'_, str> {
    let is_alphanumeric = id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let is_plain = id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
    match rule {
        IdRule::Short if is_plain && !id.is_empty() && id.len() <= MAX_ID => Cow::Borrowed(id),
        IdRule::Short => Cow::Owned(format!("call_{:032x}", stable_hash(id.as_bytes()))),
        IdRule::NineAlphanumeric if is_alphanumeric && id.len() == 9 => Cow::Borrowed(id),
        IdRule::NineAlphanumeric => Cow::Owned(nine(stable_hash(id.as_bytes()))),
    }
}

/// Returns nine letters and digits of a hash: 53 bits of it.
fn nine(mut hash: u128) -> String {
    const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    // The low bits of this hash are the least mixed.
    hash ^= hash >> 64;
    (0..9)
        .map(|_| {
            let digit = usize::try_from(hash % 62).unwrap_or_default();
            hash /= 62;
            char::from(DIGITS.get(digit).copied().unwrap_or(b'0'))
        })
        .collect()
}
