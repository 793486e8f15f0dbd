//! Sanitisation of untrusted text for the terminal.
//!
//! Text on the screen comes from models, tools, servers, repositories and file names. Each [`Span`](super::Span) is
//! made here, so a span contains no escape code, no control, invisible or direction character, and no line break.

use super::width::TAB_WIDTH;
use std::borrow::Cow;
use windlass_types::text::clean;

/// Returns a text as one safe line. A line end becomes one blank, a tab becomes four. Escape codes, control, invisible
/// and direction characters are removed.
#[must_use]
pub fn safe_line(text: &str) -> Cow<'_, str> {
    if is_printable_ascii(text) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(clean(text).replace('\n', " ").replace('\t', &" ".repeat(TAB_WIDTH)))
}

/// Returns the lines of a text, each safe to show. Tabs extend to the next multiple of four columns, and a final line
/// end adds no empty line.
pub fn safe_lines(text: &str) -> Vec<String> {
    clean(text).lines().map(expand_tabs).collect()
}

fn is_printable_ascii(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

fn expand_tabs(line: &str) -> String {
    if !line.contains('\t') {
        return line.to_owned();
    }
    let mut expanded = String::with_capacity(line.len() + TAB_WIDTH);
    let mut column = 0;
    for (cluster, width) in super::clusters(line) {
        if cluster == "\t" {
            let blanks = TAB_WIDTH - column % TAB_WIDTH;
            expanded.extend(std::iter::repeat_n(' ', blanks));
            column += blanks;
        } else {
            expanded.push_str(cluster);
            column += width;
        }
    }
    expanded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_hidden_and_no_code_is_left() {
        for (raw, shown) in [
            ("plain", "plain"),
            ("\u{1b}[2J\u{1b}]0;title\u{7}text", "text"),
            ("a\u{9b}31mb", "ab"),
            ("name\nof\r\na file", "name of a file"),
            ("abc\u{202e}fed", "abcfed"),
            ("zero\u{200b}width", "zerowidth"),
            ("a\tb", "a    b"),
            ("👨\u{200d}👩\u{200d}👧", "👨\u{200d}👩\u{200d}👧"),
        ] {
            assert_eq!(safe_line(raw), shown, "{raw:?}");
        }
    }

    #[test]
    fn lines_keep_their_columns() {
        assert_eq!(safe_lines("a\tb\n\tc\n日\td\n"), ["a   b", "    c", "日  d"]);
        assert_eq!(safe_lines(""), Vec::<String>::new());
        assert_eq!(safe_lines("\n\nx"), ["", "", "x"]);
    }
}
