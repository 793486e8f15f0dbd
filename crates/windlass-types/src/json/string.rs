//! Texts as JSON strings, eight bytes at a time. A result of a tool is written for its log line, for the next request
//! and for hosts, and serde_json looks at each byte alone.

const WORD: usize = size_of::<u64>();
const HIGHS: u64 = repeated(0x80);

/// Appends a text as a JSON string with its quotes, as serde_json writes it.
pub(super) fn push(text: &str, out: &mut String) {
    // Source code needs about one escape in 40 bytes.
    out.reserve(text.len() + text.len() / 16 + 2);
    out.push('"');
    let mut rest = text;
    loop {
        let (plain, tail) = rest.split_at_checked(plain_len(rest.as_bytes())).unwrap_or((rest, ""));
        out.push_str(plain);
        let mut chars = tail.chars();
        let Some(odd) = chars.next() else { break };
        push_escape(odd, out);
        rest = chars.as_str();
    }
    out.push('"');
}

fn push_escape(odd: char, out: &mut String) {
    let letter = match odd {
        '\n' => 'n',
        '\t' => 't',
        '"' | '\\' => odd,
        '\r' => 'r',
        '\u{8}' => 'b',
        '\u{c}' => 'f',
        control => {
            let digit = |of: u32| char::from_digit(of & 0xf, 16).unwrap_or('0');
            let code = u32::from(control);
            out.push_str("\\u00");
            out.push(digit(code >> 4));
            out.push(digit(code));
            return;
        }
    };
    out.push('\\');
    out.push(letter);
}

/// Returns the number of leading bytes that need no escape.
fn plain_len(bytes: &[u8]) -> usize {
    let (words, rest) = bytes.as_chunks::<WORD>();
    for (at, word) in words.iter().enumerate() {
        let odd = odd_bytes(u64::from_le_bytes(*word));
        if odd != 0 {
            return at * WORD + odd.trailing_zeros() as usize / 8;
        }
    }
    let plain = rest.iter().position(|byte| *byte < b' ' || matches!(byte, b'"' | b'\\'));
    bytes.len() - rest.len() + plain.unwrap_or(rest.len())
}

/// The lowest bit that is set is the highest bit of the first byte that needs an escape. Higher bits are meaningless,
/// because a byte below the subtracted number borrows from the next byte.
const fn odd_bytes(word: u64) -> u64 {
    let control = word.wrapping_sub(repeated(b' '));
    let quote = (word ^ repeated(b'"')).wrapping_sub(repeated(1));
    let backslash = (word ^ repeated(b'\\')).wrapping_sub(repeated(1));
    (control | quote | backslash) & !word & HIGHS
}

const fn repeated(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; WORD])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(text: &str) -> String {
        let mut out = "before".to_owned();
        push(text, &mut out);
        out.strip_prefix("before").unwrap().to_owned()
    }

    #[test]
    fn each_byte_at_each_place_of_a_word_is_written_as_serde_json_does() {
        for byte in 0..=0x7f_u8 {
            for at in 0..20 {
                let mut text = "a".repeat(19);
                text.insert(at, char::from(byte));
                assert_eq!(written(&text), serde_json::to_string(&text).unwrap());
            }
        }
    }

    proptest! {
        #[test]
        fn it_is_what_serde_json_writes(text in "[\\x00-\\x22\\\\a-e\u{7f}é\u{2028}\u{10ffff}]{0,40}", any in any::<String>()) {
            for text in [text, any] {
                prop_assert_eq!(written(&text), serde_json::to_string(&text).unwrap());
            }
        }
    }
}
