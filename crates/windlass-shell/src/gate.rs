//! The first gate: characters that must not be in a text which runs without a question.

use windlass_types::text::hidden;

/// Returns `true` if a person can see the character and a terminal shows it unchanged: no control characters but tab
/// and line end, no unusual blanks, no zero-width, bidirectional or tag characters.
pub(crate) fn is_plain(c: char) -> bool {
    matches!(c, '\t' | '\n' | ' '..='~') || (!c.is_ascii() && c != char::REPLACEMENT_CHARACTER && hidden(c).is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hides_is_not_plain() {
        let ascii = (0..128).filter_map(char::from_u32).filter(|c| is_plain(*c)).count();
        assert_eq!(ascii, 97, "95 that are seen, tab and line end");
        for c in "\u{80}\u{a0}\u{ad}\u{34f}\u{61c}\u{6dd}\u{890}\u{115f}\u{180b}\u{200b}\u{200e}\u{2028}\u{202e}\u{202f}\u{205f}\u{2066}\u{2800}\u{3000}\u{3164}\u{e000}\u{fe0f}\u{feff}\u{ffa0}\u{fffc}\u{fffd}\u{110bd}\u{1bca0}\u{1d173}\u{e0041}\u{e0100}\u{10fffd}".chars() {
            assert!(!is_plain(c), "{c:?}");
        }
        assert!("é漢ü🚀ß".chars().all(is_plain));
    }
}
