//! Writing of frames as lines.

use serde::Serialize;

/// Maximum length of a line in bytes, with its line end. It stays below the 1 MiB that hosts accept.
pub const MAX_LINE: usize = 900_000;

/// Appends a frame as one line. Returns `true` if it fits; if it does not, the buffer stays unchanged.
pub(crate) fn push(out: &mut Vec<u8>, frame: &impl Serialize) -> bool {
    push_within(out, frame, MAX_LINE)
}

/// Like [`push`], with the limit `max_line` instead of [`MAX_LINE`].
pub(crate) fn push_within(out: &mut Vec<u8>, frame: &impl Serialize, max_line: usize) -> bool {
    let start = out.len();
    // Frames hold strings, numbers and JSON text, which always serialise.
    if serde_json::to_writer(&mut *out, frame).is_err() {
        out.truncate(start);
        return false;
    }
    if may_break_line(out.get(start..).unwrap_or_default()) {
        let frame_text = out.split_off(start);
        push_on_one_line(out, &frame_text);
    }
    end_within(out, start, max_line)
}

/// Appends JSON text. Characters that would break the line are replaced or escaped.
pub(crate) fn push_json(out: &mut Vec<u8>, json: &str) {
    if may_break_line(json.as_bytes()) {
        push_on_one_line(out, json.as_bytes())
    } else {
        out.extend_from_slice(json.as_bytes())
    }
}

/// Ends the line that begins at `start`. A line over the limit is removed, and the result is `false`.
pub(crate) fn end(out: &mut Vec<u8>, start: usize) -> bool {
    end_within(out, start, MAX_LINE)
}

fn end_within(out: &mut Vec<u8>, start: usize, max_line: usize) -> bool {
    out.push(b'\n');
    let fits = out.len() - start <= max_line;
    if !fits {
        out.truncate(start);
    }
    fits
}

/// `true` if the text may contain a character that breaks the line; 0xe2 is the first byte of U+2028 and U+2029. The
/// loop has no early exit, so that the compiler can vectorize it.
fn may_break_line(json: &[u8]) -> bool {
    json.iter().fold(false, |found, byte| found | matches!(byte, b'\n' | b'\r' | 0xe2))
}

/// Appends JSON text on one line. Line breaks between tokens become blanks; U+2028 and U+2029 in strings are escaped,
/// because some readers break lines there.
fn push_on_one_line(out: &mut Vec<u8>, json: &[u8]) {
    let mut rest = json;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        match (byte, after) {
            (b'\n' | b'\r', _) => out.push(b' '),
            (0xe2, [0x80, last @ (0xa8 | 0xa9), after @ ..]) => {
                out.extend_from_slice(if *last == 0xa8 { b"\\u2028" } else { b"\\u2029" });
                rest = after;
            }
            _ => out.push(*byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_types::JsonText;

    #[test]
    fn a_frame_stays_on_its_line() {
        let json = JsonText::parse("{\"a\":\n1,\r\n\"b\":\"x\u{2028}y\u{2029}é€\"}").unwrap();
        let mut out = b"before\n".to_vec();
        assert!(push(&mut out, &json));
        assert_eq!(String::from_utf8(out).unwrap(), "before\n{\"a\": 1,  \"b\":\"x\\u2028y\\u2029é€\"}\n");
    }

    #[test]
    fn what_is_too_long_is_not_written() {
        let mut out = b"before\n".to_vec();
        assert!(!push(&mut out, &"x".repeat(MAX_LINE)));
        assert_eq!(out, b"before\n");
        assert!(push(&mut out, &"x".repeat(MAX_LINE - 3)));
    }
}
