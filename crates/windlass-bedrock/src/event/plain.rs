//! Deltas of plain text, read without a parser, because there is one for each few letters of an answer.

/// Returns the number of a block and the text that is added to it, if the event has nothing else and the text no
/// escapes, as most have. `None` for any other event.
pub(crate) fn text_delta(payload: &[u8]) -> Option<(u64, &str)> {
    let rest = payload.strip_prefix(b"{\"contentBlockIndex\":")?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, rest) = rest.split_at_checked(digits)?;
    // JSON has no numbers with leading zeros.
    if number.len() > 9 || (number.len() > 1 && number.first() == Some(&b'0')) {
        return None;
    }
    let at = str::from_utf8(number).ok()?.parse().ok()?;
    let rest = rest.strip_prefix(b",\"delta\":{\"text\":\"")?;
    let length = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f))?;
    let (text, behind) = rest.split_at_checked(length)?;
    is_end(behind).then_some(())?;
    Some((at, str::from_utf8(text).ok()?))
}

/// `true` if only the end of the event follows a text, or the padding with which the API hides lengths.
fn is_end(behind: &[u8]) -> bool {
    let Some(padded) = behind.strip_prefix(b"\"},\"p\":\"") else { return behind == b"\"}}" };
    padded.strip_suffix(b"\"}").is_some_and(|padding| padding.iter().all(u8::is_ascii_alphanumeric))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::BlockGrows;
    use proptest::prelude::*;

    /// Returns the event as read by the parser, if it is only text.
    fn parsed(payload: &[u8]) -> Option<(u64, String)> {
        let event: BlockGrows = serde_json::from_slice(payload).ok()?;
        Some((event.content_block_index, event.delta.text?))
    }

    fn payload(at: u64, text: &str, padding: Option<&str>) -> String {
        let text = serde_json::to_string(text).unwrap();
        let padding = padding.map_or(String::new(), |padding| format!(",\"p\":\"{padding}\""));
        format!("{{\"contentBlockIndex\":{at},\"delta\":{{\"text\":{text}}}{padding}}}")
    }

    #[test]
    fn plain_text_is_read_and_the_rest_is_left_to_the_parser() {
        assert_eq!(text_delta(payload(0, "é", Some("abC9")).as_bytes()), Some((0, "é")));
        assert_eq!(text_delta(payload(12, "", None).as_bytes()), Some((12, "")));
        for other in [
            payload(0, "a\nb", None),
            payload(0, "a\"b", Some("x")),
            payload(1_000_000_000, "a", None),
            payload(0, "a", Some("x\\\"")),
            payload(0, "a", None).replace('0', "00"),
            payload(0, "a", None).replace('0', ""),
            format!("{} ", payload(0, "a", None)),
            "{\"contentBlockIndex\":0,\"delta\":{\"text\":\"a\",\"toolUse\":{}}}".to_owned(),
            "{\"contentBlockIndex\":0,\"delta\":{\"text\":\"a".to_owned(),
            String::new(),
        ] {
            assert_eq!(text_delta(other.as_bytes()), None, "{other}");
        }
        let mut broken = payload(0, "é", None).into_bytes();
        broken[40] = 0xff;
        assert_eq!(text_delta(&broken), None);
    }

    proptest! {
        #[test]
        fn what_is_read_is_what_the_parser_reads(
            at in 0_u64..300,
            text in prop_oneof![any::<String>(), "[ -~é]{0,20}"],
            padding in prop::option::of("[a-zA-Z0-9]{0,9}"),
            change in any::<(usize, u8)>(),
        ) {
            let mut bytes = payload(at, &text, padding.as_deref()).into_bytes();
            for _ in 0..2 {
                if let Some((at, text)) = text_delta(&bytes) {
                    prop_assert_eq!(parsed(&bytes), Some((at, text.to_owned())));
                }
                let place = change.0 % bytes.len();
                bytes[place] = change.1;
            }
        }
    }
}
