//! Regular expressions of schemas, which are written in the dialect of ECMAScript.

use regex_automata::meta::{Config, Regex};
use std::fmt::Write;

/// Maximum number of bytes that one compiled pattern may take. The default of the engine is five times this.
const LARGEST: usize = 2 * 1024 * 1024;

/// A pattern, compiled if the engine can match it.
#[derive(Debug)]
pub(crate) struct Pattern {
    written: String,
    regex: Option<Regex>,
}

impl Pattern {
    pub(crate) fn new(written: &str) -> Self {
        let config = Config::new().nfa_size_limit(Some(LARGEST));
        let regex = Regex::builder().configure(config).build(&translated(written)).ok();
        Self { written: written.to_owned(), regex }
    }

    pub(crate) fn written(&self) -> &str {
        &self.written
    }

    pub(crate) fn is_usable(&self) -> bool {
        self.regex.is_some()
    }

    /// `true` if the text has a match anywhere; `None` if the pattern cannot be matched.
    pub(crate) fn matches(&self, text: &str) -> Option<bool> {
        Some(self.regex.as_ref()?.is_match(text))
    }
}

/// Translates the pattern into the engine's dialect. Syntax that the engine does not support stays unchanged, and fails
/// there.
fn translated(written: &str) -> String {
    let mut text = String::with_capacity(written.len());
    let mut chars = written.chars();
    // Index at which the text of the open class begins.
    let mut class: Option<usize> = None;
    while let Some(char) = chars.next() {
        match (char, class) {
            ('\\', _) => escaped(chars.next(), &mut chars, class.is_some(), &mut text),
            ('[', None) => {
                text.push('[');
                class = Some(text.len());
            }
            (']', Some(begin)) => {
                close(begin, &mut text);
                class = None;
            }
            // Operators on sets in the engine, plain characters in ECMAScript.
            ('[' | '&' | '~', Some(_)) => text.extend(['\\', char]),
            ('-', Some(_)) if text.ends_with('-') => text.push_str(r"\-"),
            _ => text.push(char),
        }
    }
    text
}

/// Ends a class. In ECMAScript an empty class matches nothing, and its opposite everything; the engine can write
/// neither.
fn close(begin: usize, text: &mut String) {
    let written = match text.get(begin..) {
        Some("") => r"[^\x{0}-\x{10FFFF}]",
        Some("^") => "(?s:.)",
        _ => {
            text.push(']');
            return;
        }
    };
    text.truncate(begin.saturating_sub(1));
    text.push_str(written);
}

/// Translates the text after a backslash.
fn escaped(char: Option<char>, rest: &mut std::str::Chars<'_>, in_class: bool, text: &mut String) {
    let Some(char) = char else {
        text.push('\\');
        return;
    };
    match char {
        // ASCII in ECMAScript, Unicode in the engine.
        'd' => text.push_str(if in_class { "0-9" } else { "[0-9]" }),
        'D' => text.push_str("[^0-9]"),
        'w' => text.push_str(if in_class { "A-Za-z0-9_" } else { "[A-Za-z0-9_]" }),
        'W' => text.push_str("[^A-Za-z0-9_]"),
        'b' if in_class => text.push_str(r"\x08"),
        'b' => text.push_str(r"(?-u:\b)"),
        's' => text.push_str(r"[\s\x{FEFF}]"),
        'S' => text.push_str(r"[^\s\x{FEFF}]"),
        '0' => text.push_str(r"\x00"),
        'c' => match rest.next() {
            Some(letter) if letter.is_ascii_alphabetic() => {
                // Writing to a string cannot fail.
                let _ = write!(text, r"\x{:02x}", u32::from(letter) % 32);
            }
            other => {
                text.push_str(r"\c");
                text.extend(other);
            }
        },
        // Positions in a text in the engine, plain characters in ECMAScript; and characters that need no escape.
        '<' | '>' | '/' | ' ' | '"' | '\'' | ',' | '%' | '@' | '!' | ':' | ';' | '=' | '_' | '`' => text.push(char),
        _ => text.extend(['\\', char]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_mean_what_they_mean_in_ecmascript() {
        for (pattern, fits, unfit) in [
            ("^[a-z]+$", "abc", "aBc"),
            ("b", "abc", "ac"),
            (r"^\d+$", "12", "١٢"),
            (r"^[\d-]+$", "1-2", "x"),
            (r"^\w+$", "a_1", "é"),
            (r"^[^\w]$", "é", "a"),
            (r"^\S+\s$", "a\u{FEFF}", "a"),
            (r"^[[a]$", "[", "b"),
            (r"^[a&&b]$", "&", "c"),
            (r"^\/x\-$", "/x-", "x"),
            (r"^\u00e9$", "é", "e"),
            (r"^\cJ$", "\n", "J"),
            (r"^[\b]$", "\u{8}", "b"),
            (r"^a\<b$", "a<b", "ab"),
            ("^a$", "a", "a\n"),
            ("^a[^]$", "a\n", "a"),
            (r"^\p{Lu}$", "É", "é"),
            ("^.{2}$", "éé", "é"),
            ("^[^^]$", "a", "^"),
            ("^[+--]$", ",", "."),
        ] {
            let pattern = Pattern::new(pattern);
            assert_eq!(pattern.matches(fits), Some(true), "{}", pattern.written());
            assert_eq!(pattern.matches(unfit), Some(false), "{}", pattern.written());
        }
        assert_eq!(Pattern::new("a[]").matches("a"), Some(false));
    }

    #[test]
    fn what_needs_backtracking_or_too_much_memory_is_not_usable() {
        for pattern in
            ["(?=a)b", "(?!a)b", "(?<=a)b", r"(a)\1", "(", "[", r"a\", r"\p{Strange}", "((a{1000}){1000}){9}"]
        {
            assert_eq!(Pattern::new(pattern).matches("a"), None, "{pattern}");
        }
    }
}
