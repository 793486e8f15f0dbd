//! Texts of limited length.

/// Returns a text in one line: without control characters, and cut after a number of characters.
pub(crate) fn one_line(text: &str, most: usize) -> String {
    // Later characters would be cut anyway, whatever the blanks.
    let prefix: String = text.chars().take(most.saturating_mul(4)).collect();
    let plain: String = prefix.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let line = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default().trim_end()),
        None => line,
    }
}

/// Returns the beginning of a text, in at most a number of bytes, and `true` if the text is cut.
pub(crate) fn beginning(text: &str, most: usize) -> (&str, bool) {
    let end = (0..=most.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
    (text.get(..end).unwrap_or(text), end < text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_short_and_plain() {
        for (text, line) in [
            ("", ""),
            (" a\n\tb  \u{1b}[0m ", "a b [0m"),
            ("abcdefgh", "abcdefgh"),
            ("abcdefghi", "abcdefgh…"),
            ("éééééééééé", "éééééééé…"),
            ("abcdefg hij", "abcdefg…"),
        ] {
            assert_eq!(one_line(text, 8), line, "{text:?}");
        }
    }

    #[test]
    fn a_cut_is_between_characters() {
        assert_eq!(beginning("aéb", 2), ("a", true));
        assert_eq!(beginning("aéb", 3), ("aé", true));
        assert_eq!(beginning("aéb", 4), ("aéb", false));
    }
}
