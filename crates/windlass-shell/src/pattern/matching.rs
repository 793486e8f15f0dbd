//! The shapes of patterns, and the answers of a comparison.

/// Match of a deny or ask pattern with a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "callers must handle every answer")]
pub enum DenyMatch {
    /// The pattern cannot apply.
    No,
    /// The match depends on the result of an expansion: ask.
    Possible,
    /// The pattern applies.
    Yes,
}

/// Commands that a pattern covers, by its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PatternShape {
    /// The pattern names no command, and covers none.
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

/// Returns `true` if the text is made of the parts in order, with any text between them.
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
