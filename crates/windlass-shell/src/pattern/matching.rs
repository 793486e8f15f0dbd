//! The shapes of patterns, and the answers of a comparison.

/// Whether a deny or ask pattern applies to a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "callers must handle every answer")]
pub enum DenyMatch {
    /// It cannot apply.
    No,
    /// It depends on the result of an expansion: ask.
    Possible,
    /// It applies.
    Yes,
}

/// What a pattern covers, by its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Shape {
    /// It names no command, and covers none.
    Nothing,
    /// `*`.
    Any,
    /// No wildcard: exactly these words.
    Exact(Vec<String>),
    /// `PREFIX:*` or `PREFIX *`: these words, then any.
    Words(Vec<String>),
    /// A `*` anywhere else: the texts between the wildcards, at least two. Several forms are alternatives.
    Wildcard(Vec<Vec<String>>),
}

/// Whether the text is made of the parts in order, with any text between them.
pub(super) fn glob(parts: &[String], text: &str) -> bool {
    let Some((first, rest)) = parts.split_first() else {
        return text.is_empty();
    };
    let Some(mut text) = text.strip_prefix(first.as_str()) else {
        return false;
    };
    let Some((last, middle)) = rest.split_last() else {
        return text.is_empty();
    };
    for part in middle {
        match text.split_once(part.as_str()) {
            Some((_, after)) => text = after,
            None => return false,
        }
    }
    text.ends_with(last.as_str())
}
