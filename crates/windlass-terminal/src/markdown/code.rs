//! Colours of code: comments, texts, numbers and keywords.
//!
//! A small scanner of lines rather than a library of grammars: it starts at once, holds nothing, and its worst mistake is
//! a colour. `syntect` 5.3 would bring `bincode` 1.3 (RUSTSEC-2025-0141) and `yaml-rust` 0.4 (RUSTSEC-2024-0320), both
//! unmaintained, and compiled grammars.

mod languages;

use crate::layout::Layout;
use crate::text::{Line, Span, Style, safe_lines};
use crate::theme::Role;
use languages::{Language, language};

/// Longest line that is coloured, in bytes.
const LONGEST: usize = 2_000;

/// Lines of a block of code, in the colours of its language; plain if that is not known.
pub(super) fn code_lines(code: &str, info: &str, layout: &Layout<'_>) -> Vec<Line> {
    let name = info.split([' ', ',', '{', ':']).next().unwrap_or_default().to_lowercase();
    let lines = safe_lines(code);
    if name == "diff" || name == "patch" {
        return lines.iter().map(|line| diff_line(line, layout)).collect();
    }
    let base = layout.style(Role::CodeBlock);
    let Some(language) = language(&name) else {
        return lines.iter().map(|line| Line::styled(line, base)).collect();
    };
    let mut scanner = Scanner { language, layout, base, open: None };
    lines.iter().map(|line| scanner.line(line)).collect()
}

fn diff_line(line: &str, layout: &Layout<'_>) -> Line {
    let role = match line.as_bytes().first() {
        Some(b'+') => Role::Added,
        Some(b'-') => Role::Removed,
        Some(b'@') => Role::CodeComment,
        _ => Role::CodeBlock,
    };
    layout.line(line, role)
}

/// Scanner of the lines of a block.
struct Scanner<'a> {
    language: &'static Language,
    layout: &'a Layout<'a>,
    base: Style,
    /// End of the comment or text that continues on the next line, and its role.
    open: Option<(&'static str, Role)>,
}

impl Scanner<'_> {
    fn line(&mut self, text: &str) -> Line {
        let mut line = Line::new();
        if text.len() > LONGEST {
            line.push(Span::new(text, self.base));
            return line;
        }
        let mut rest = text;
        // An identifier that ends with a digit is no number.
        let mut is_in_word = false;
        while !rest.is_empty() {
            let (length, role) = self.token(rest, is_in_word);
            let length = if rest.is_char_boundary(length) { length.max(1) } else { rest.len() };
            let (token, behind) = rest.split_at_checked(length).unwrap_or((rest, ""));
            is_in_word = token.ends_with(|c: char| c.is_alphanumeric() || c == '_');
            let style = role.map_or(self.base, |role| self.base.patched(self.layout.style(role)));
            line.push(Span::new(token, style));
            rest = behind;
        }
        line
    }

    /// Length of the token that a text begins with, and its role; `None` for plain code.
    fn token(&mut self, text: &str, is_in_word: bool) -> (usize, Option<Role>) {
        if let Some((end, role)) = self.open {
            return (self.until(text, 0, end, role), Some(role));
        }
        if self.language.line_comments.iter().any(|mark| text.starts_with(mark)) {
            return (text.len(), Some(Role::CodeComment));
        }
        for (start, end, role) in self.language.blocks {
            if text.starts_with(start) {
                return (self.until(text, start.len(), end, *role), Some(*role));
            }
        }
        let Some(first) = text.chars().next() else { return (0, None) };
        if self.language.quotes.contains(first)
            && let Some(length) = quoted(text, first)
        {
            return (length, Some(Role::CodeString));
        }
        let word = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
        match first {
            '0'..='9' if !is_in_word => (number(text), Some(Role::CodeNumber)),
            _ if first.is_alphabetic() || first == '_' => {
                let name = text.get(..word).unwrap_or_default();
                let is_keyword = if self.language.ignores_case {
                    self.language.keywords.contains(&name.to_lowercase().as_str())
                } else {
                    self.language.keywords.contains(&name)
                };
                (word, is_keyword.then_some(Role::CodeKeyword))
            }
            _ => (first.len_utf8(), None),
        }
    }

    /// Length up to the end of a comment or text, which may be on a later line.
    fn until(&mut self, text: &str, from: usize, end: &'static str, role: Role) -> usize {
        match text.get(from..).and_then(|inside| inside.find(end)) {
            Some(at) => {
                self.open = None;
                from + at + end.len()
            }
            None => {
                self.open = Some((end, role));
                text.len()
            }
        }
    }
}

/// Length of the text in quotes that a line begins with; `None` if it has no end here, as a lifetime or an apostrophe.
fn quoted(text: &str, quote: char) -> Option<usize> {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            c if c == quote => return Some(at + c.len_utf8()),
            _ => {}
        }
    }
    None
}

fn number(text: &str) -> usize {
    let end = |(at, c): &(usize, char)| {
        // A range such as `0..10` is two numbers.
        let is_dot = *c == '.' && text.get(at + 1..).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        !(c.is_ascii_alphanumeric() || *c == '_' || is_dot)
    };
    text.char_indices().find(end).map_or(text.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Glyphs;
    use crate::theme::Theme;
    use proptest::prelude::*;

    /// Tokens of a role.
    fn tokens(code: &str, info: &str, role: Role) -> Vec<String> {
        let theme = Theme::named("dark").unwrap();
        let layout = Layout { columns: 80, theme: &theme, glyphs: Glyphs::UNICODE };
        let style = layout.style(Role::CodeBlock).patched(layout.style(role));
        let lines = code_lines(code, info, &layout);
        let spans = lines.iter().flat_map(|line| line.spans().to_vec());
        spans.filter(|span| span.style() == style).map(|span| span.text().to_owned()).collect()
    }

    #[test]
    fn comments_texts_numbers_and_keywords_are_told_apart() {
        let rust = "fn main() { // go\n    let x1 = 0x1f + 2..10; /* a\n b */ let s: &'a str = \"a // \\\" b\";\n}";
        assert_eq!(tokens(rust, "rust", Role::CodeComment), ["// go", "/* a", " b */"]);
        assert_eq!(tokens(rust, "rust,ignore", Role::CodeString), ["\"a // \\\" b\""]);
        assert_eq!(tokens(rust, "rs", Role::CodeNumber), ["0x1f", "2", "10"]);
        assert_eq!(tokens(rust, "rust", Role::CodeKeyword), ["fn", "let", "let", "str"]);
        let python = "def f():\n    \"\"\"A text\n    of two lines.\"\"\"\n    return 'x' # end";
        assert_eq!(tokens(python, "python", Role::CodeString), ["\"\"\"A text", "    of two lines.\"\"\"", "'x'"]);
        assert_eq!(tokens(python, "py", Role::CodeKeyword), ["def", "return"]);
        assert_eq!(tokens("SELECT a FROM b -- c", "sql", Role::CodeKeyword), ["SELECT", "FROM"]);
        assert_eq!(tokens("if [ -n \"$A\" ]; then # b", "bash", Role::CodeComment), ["# b"]);
    }

    #[test]
    fn an_unknown_language_is_plain() {
        assert!(tokens("fn main() // 1", "nonsense", Role::CodeComment).is_empty());
        assert!(tokens("fn main() // 1", "", Role::CodeKeyword).is_empty());
    }

    proptest! {
        #[test]
        fn no_text_is_lost(code in "[a-z\"'/*#\\\\ \n0-9äß🦀-]{0,200}", at in 0_usize..6) {
            let info = ["rust", "python", "js", "bash", "yaml", "html"][at];
            let theme = Theme::named("dark").unwrap();
            let layout = Layout { columns: 80, theme: &theme, glyphs: Glyphs::UNICODE };
            let texts: Vec<String> = code_lines(&code, info, &layout).iter().map(Line::text).collect();
            prop_assert_eq!(texts, safe_lines(&code));
        }
    }
}
