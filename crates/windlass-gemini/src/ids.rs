//! Ids of calls.

use std::borrow::Cow;

/// The longest id that is sent as it is.
const MAX_ID: usize = 64;

/// The id under which a call of another vendor is sent: itself if it is short and plain, else a stable alias.
pub(crate) fn alias(id: &str) -> Cow<'_, str> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    if !id.is_empty() && id.len() <= MAX_ID && id.bytes().all(plain) {
        return Cow::Borrowed(id);
    }
    Cow::Owned(format!("call_{}", digest(id)))
}

/// 128 bits of a text in hexadecimal digits, the same in every process and version.
pub(crate) fn digest(text: &str) -> String {
    let hash = |basis: u64| {
        text.bytes().fold(basis, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
    };
    // FNV-1a from its own basis, and from another.
    format!("{:016x}{:016x}", hash(0xcbf2_9ce4_8422_2325), hash(0x9e37_79b9_7f4a_7c15))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn plain_ids_stay() {
        for id in ["toolu_01AbC", "call_0", "x.y-z", &"a".repeat(64)] {
            assert_eq!(alias(id), id);
        }
        for id in ["", "a|b", "ü", &"a".repeat(65)] {
            assert!(alias(id).starts_with("call_") && alias(id).len() == 37, "{id}");
        }
        // Pinned: an alias that changes would change the beginning of requests.
        assert_eq!(alias("a|b"), "call_e726b11905478f76097a575c0bacca26");
    }

    proptest! {
        #[test]
        fn aliases_are_stable_and_differ(a in ".{0,100}", b in ".{0,100}") {
            let again = alias(&a).into_owned();
            prop_assert_eq!(alias(&again), again.as_str());
            prop_assert_eq!(a == b, alias(&a) == alias(&b));
        }
    }
}
