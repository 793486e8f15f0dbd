//! Data that people may look at.

use super::hidden;
use std::borrow::Cow;
use std::fmt::Write;

/// JSON text of the same meaning in which nothing is hidden: hidden characters beyond ASCII, which stand only inside of
/// strings, become `\uXXXX`. So does DEL.
#[must_use]
pub fn visible_json(json: &str) -> Cow<'_, str> {
    let is_raw = |c: char| c > '~' && hidden(c).is_some();
    if !json.contains(is_raw) {
        return Cow::Borrowed(json);
    }
    let mut shown = String::with_capacity(json.len());
    for c in json.chars() {
        if is_raw(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _ = write!(shown, "\\u{unit:04x}");
            }
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// JSON text with every escape of half a surrogate pair replaced by that of
/// U+FFFD: such escapes are valid JSON, yet no Unicode.
#[must_use]
pub fn lone_surrogates_replaced(json: &str) -> Cow<'_, str> {
    if !json.contains("\\ud") && !json.contains("\\uD") {
        return Cow::Borrowed(json);
    }
    let bytes = json.as_bytes();
    // The code unit of the escape at `at`, if there is one.
    let unit = |at: usize| -> Option<u16> {
        let hex = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok()
    };
    let mut out = String::new();
    let (mut copied, mut at) = (0, 0);
    while let Some(found) = bytes.get(at..).and_then(|rest| rest.iter().position(|byte| *byte == b'\\')) {
        at += found;
        at += match (unit(at), unit(at + 6)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) => {
                out.push_str(json.get(copied..at).unwrap_or_default());
                out.push_str("\\ufffd");
                copied = at + 6;
                6
            }
            (Some(_), _) => 6,
            (None, _) => 2,
        };
    }
    if copied == 0 {
        return Cow::Borrowed(json);
    }
    out.push_str(json.get(copied..).unwrap_or_default());
    Cow::Owned(out)
}
