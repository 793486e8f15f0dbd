//! The first gate: characters that must not be in a text which runs without a question.

/// Whether the character is one a person can see and a terminal shows as it is: no control characters
/// but tab and line end, no unusual blanks, no zero-width, bidirectional or tag characters.
pub(crate) fn is_plain(c: char) -> bool {
    if c.is_ascii() {
        return matches!(c, '\t' | '\n' | ' '..='~');
    }
    !(c.is_control() || c.is_whitespace() || is_invisible(c))
}

fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{00ad}' | '\u{034f}' | '\u{061c}' | '\u{0600}'..='\u{0605}' | '\u{06dd}' | '\u{070f}'
        | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202f}' | '\u{2060}'..='\u{206f}' | '\u{2800}'
        | '\u{3164}' | '\u{e000}'..='\u{f8ff}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fdd0}'..='\u{fdef}' | '\u{fff0}'..='\u{ffff}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..)
}
