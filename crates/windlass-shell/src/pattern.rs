//! Rule patterns for commands.

mod allow;
mod deny;
mod matching;
mod problem;
mod suggest;

pub use matching::DenyMatch;
pub use problem::PatternProblem;
pub use suggest::suggest_rule;

use crate::command::{RedirectKind, SimpleCommand};
use crate::grammar;
use crate::scan::FoundCommand;
use matching::PatternShape;

/// A parsed specifier of a `Bash(...)` rule. Made by [`parse_rule_pattern`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BashPattern {
    text: String,
    shape: PatternShape,
}

/// Parses the text inside `Bash( )`, its parentheses already unescaped.
///
/// * `PREFIX:*` and `PREFIX *` cover commands that begin with the words of PREFIX (also PREFIX alone);
/// * a `*` elsewhere stands for any characters, blanks included; `npm*` also covers `npmx`;
/// * `*` alone covers every command; a text without a command, such as `*:*`, covers none;
/// * anything else covers exactly that text. A `*` in quotes or behind a backslash is part of it.
///
/// A leading `!` makes no difference. [`BashPattern::problem`] reports a pattern that covers less than it seems to.
#[must_use]
pub fn parse_rule_pattern(pattern: &str) -> BashPattern {
    let text = pattern.trim();
    let body = text.strip_prefix("! ").map_or(text, str::trim_start);
    let prefix = body.strip_suffix(":*").or_else(|| body.strip_suffix(" *")).map(str::trim_end);
    let shape = match prefix {
        _ if text == "*" => PatternShape::Any,
        _ if body.chars().all(|c| matches!(c, '*' | ':' | '!') || c.is_whitespace()) => PatternShape::Nothing,
        Some("" | "!") => PatternShape::Nothing,
        Some(prefix) if !has_open_star(prefix) => PatternShape::Words(words(prefix)),
        Some(prefix) => PatternShape::Wildcard(vec![parts(prefix), parts(&format!("{prefix} *"))]),
        None if has_open_star(body) => PatternShape::Wildcard(vec![parts(body)]),
        None => PatternShape::Exact(words(body)),
    };
    BashPattern { text: text.to_owned(), shape }
}

fn words(prefix: &str) -> Vec<String> {
    grammar::literal_words(prefix).unwrap_or_else(|| prefix.split_whitespace().map(str::to_owned).collect())
}

fn parts(pattern: &str) -> Vec<String> {
    pattern.split('*').map(str::to_owned).collect()
}

/// Returns `true` if a `*` stands outside of quotes and without a backslash before it. In a text with unclosed quotes,
/// each `*` does.
fn has_open_star(text: &str) -> bool {
    let (mut quote, mut open) = (None, false);
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (None | Some('"'), '\\') => drop(chars.next()),
            (None, '\'' | '"') => quote = Some(c),
            (None, '*') => open = true,
            (Some(end), c) if c == end => quote = None,
            _ => {}
        }
    }
    open || (quote.is_some() && text.contains('*'))
}

impl BashPattern {
    /// Returns the pattern as written, blanks around it aside.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns `true` if the pattern covers every command, like a bare `Bash`.
    #[must_use]
    pub fn is_any(&self) -> bool {
        self.shape == PatternShape::Any
    }

    /// Returns `true` if the pattern has no wildcard.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        matches!(self.shape, PatternShape::Exact(_))
    }

    /// Returns the reason why the pattern covers no command, or another set than its writer may think. `None` if the
    /// pattern is plain.
    #[must_use]
    pub fn problem(&self) -> Option<PatternProblem> {
        problem::of(&self.shape, self.without_negation())
    }

    /// Returns `true` if this is an exact pattern and the command has exactly its text. A here-document has text of its
    /// own, so no pattern matches its command.
    #[must_use]
    pub fn matches_source(&self, command: &SimpleCommand) -> bool {
        let is_whole = command.redirects().iter().all(|redirect| redirect.kind != RedirectKind::Inline);
        self.is_exact() && is_whole && command.source() == self.without_negation()
    }

    /// Returns the text without a leading `!`, which no source of a command has.
    fn without_negation(&self) -> &str {
        self.text.strip_prefix("! ").map_or(self.text.as_str(), str::trim_start)
    }

    /// Returns `true` if this is an exact pattern and `text`, the whole text of the call, is that text (blanks around
    /// it aside). For allow rules this covers also texts that are not understood: the approved text is the one that
    /// runs. For deny and ask rules, use it beside [`matches_deny`](Self::matches_deny).
    #[must_use]
    pub fn matches_whole(&self, text: &str) -> bool {
        self.is_exact() && text.trim_matches([' ', '\t', '\n']) == self.text
    }

    /// For allow rules: returns `true` if the pattern covers one command of an understood text. A text is covered if
    /// each of its commands is (or is allowed otherwise).
    ///
    /// A prefix or wildcard covers neither redirections (but `/dev/null` and descriptor duplication), nor assignments
    /// (but of variables such as `NODE_ENV` that only change reporting), nor programs that run their arguments. It
    /// looks through `timeout`, `time`, `nice`, `nohup`, `stdbuf`, `command`, `builtin` and `xargs` without
    /// options. An exact pattern covers a command with exactly its text.
    #[must_use]
    pub fn matches_allow(&self, command: &SimpleCommand) -> bool {
        match &self.shape {
            PatternShape::Nothing => false,
            PatternShape::Any => true,
            PatternShape::Exact(_) => self.matches_source(command),
            PatternShape::Words(prefix) => allow::matches_words(prefix, command),
            PatternShape::Wildcard(forms) => forms.iter().any(|parts| allow::matches_wildcard(parts, command)),
        }
    }

    /// For deny and ask rules: returns the match of the pattern with a command that might run. Programs compare by base
    /// name; options before a sub-command are skipped (`git -C x push` is `git push`).
    #[must_use]
    pub fn matches_deny(&self, command: &FoundCommand) -> DenyMatch {
        match &self.shape {
            PatternShape::Nothing => DenyMatch::No,
            PatternShape::Any => DenyMatch::Yes,
            PatternShape::Exact(words) => deny::matches_words(words, command, true),
            PatternShape::Words(prefix) => deny::matches_words(prefix, command, false),
            PatternShape::Wildcard(forms) => {
                forms.iter().map(|parts| deny::matches_wildcard(parts, command)).max().unwrap_or(DenyMatch::No)
            }
        }
    }
}

#[cfg(test)]
mod tests;
