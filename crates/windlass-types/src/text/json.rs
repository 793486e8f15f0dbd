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
