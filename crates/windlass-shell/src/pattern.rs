//! Rule patterns for commands.

use crate::{FoundCommand, SimpleCommand, grammar};

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

/// A parsed specifier of a `Bash(...)` rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BashPattern {
    text: String,
    shape: Shape,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Shape {
    /// `*`
    Any,
    /// No wildcard: exactly this text.
    Exact,
    /// `PREFIX:*` or `PREFIX *`: these words, then any.
    Words(Vec<String>),
    /// A `*` anywhere else: the text between the wildcards.
    Wildcard(Vec<String>),
}

/// Parses the text inside `Bash( )`, its parentheses already unescaped.
///
/// * `PREFIX:*` and `PREFIX *` cover commands that begin with the words of PREFIX (also PREFIX alone);
/// * a `*` elsewhere stands for any characters, blanks included; `npm*` also covers `npmx`;
/// * `*` and the empty text cover every command;
/// * anything else covers exactly that text.
#[must_use]
pub fn parse_rule_pattern(pattern: &str) -> BashPattern {
    let text = pattern.trim();
    let shape = if text.is_empty() || text == "*" || text == ":*" {
        Shape::Any
    } else if let Some(prefix) =
        text.strip_suffix(":*").or_else(|| text.strip_suffix(" *")).filter(|p| !p.contains('*'))
    {
        Shape::Words(words(prefix))
    } else if text.contains('*') {
        Shape::Wildcard(text.split('*').map(str::to_owned).collect())
    } else {
        Shape::Exact
    };
    BashPattern { text: text.to_owned(), shape }
}

fn words(prefix: &str) -> Vec<String> {
    grammar::literal_words(prefix).unwrap_or_else(|| prefix.split_whitespace().map(str::to_owned).collect())
}

impl BashPattern {
    /// The pattern as written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it covers every command, like a bare `Bash`.
    #[must_use]
    pub fn is_any(&self) -> bool {
        self.shape == Shape::Any
    }

    /// Whether it has no wildcard.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.shape == Shape::Exact
    }

    /// For allow rules: whether this is an exact pattern and `text` is that text, blanks around it aside. It
    /// covers also texts that are not understood: what was approved is what runs.
    #[must_use]
    pub fn matches_whole(&self, text: &str) -> bool {
        self.is_exact() && text.trim_matches([' ', '\t', '\n']) == self.text
    }

    /// For allow rules: whether the pattern covers one command of an understood text.
    #[must_use]
    pub fn matches_allow(&self, command: &SimpleCommand) -> bool {
        let _ = command;
        false
    }

    /// For deny and ask rules: whether the pattern applies to a command that might run.
    #[must_use]
    pub fn matches_deny(&self, command: &FoundCommand) -> DenyMatch {
        let _ = command;
        DenyMatch::Possible
    }
}

/// The prefix pattern to offer for "always allow" (`npm test *` for `npm test`); `None` if the text is not
/// fully understood, has more than one command to ask about, or runs a program for which a prefix would allow too
/// much (removal, shells, programs that run their arguments).
#[must_use]
pub fn suggest_prefix(analysis: &crate::Analysis) -> Option<String> {
    let _ = analysis;
    None
}
