//! Patterns that cover less than they seem to.

use super::matching::PatternShape;
use crate::grammar;
use crate::reason::NotUnderstood;

/// Reason why a pattern covers no command, or another set than its writer may think.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PatternProblem {
    /// The pattern names no command, so it covers none.
    Empty,
    /// The pattern has a wildcard and begins with an assignment. Assignments are not compared, so it covers no command.
    Assignment,
    /// The prefix is more than one command, or contains a redirection. Commands are compared one by one, without their
    /// redirections, so the pattern covers none.
    NotOneCommand,
    /// The pattern covers exactly its text, in which a `*` stands in quotes or behind a backslash and is no wildcard.
    QuotedStar,
}

/// Returns the problem of a pattern of this shape; `body` is its text without a leading `!`.
pub(super) fn of(shape: &PatternShape, body: &str) -> Option<PatternProblem> {
    match shape {
        PatternShape::Nothing => Some(PatternProblem::Empty),
        PatternShape::Words(_) | PatternShape::Wildcard(_) if begins_with_assignment(body) => {
            Some(PatternProblem::Assignment)
        }
        PatternShape::Words(_) => {
            let prefix = body.strip_suffix(":*").or_else(|| body.strip_suffix(" *")).unwrap_or(body);
            (!is_one_command(prefix)).then_some(PatternProblem::NotOneCommand)
        }
        PatternShape::Exact(_) if body.contains('*') => Some(PatternProblem::QuotedStar),
        PatternShape::Any | PatternShape::Exact(_) | PatternShape::Wildcard(_) => None,
    }
}

fn begins_with_assignment(text: &str) -> bool {
    let Some((name, _)) = text.split_once('=') else { return false };
    let name = name.strip_suffix('+').unwrap_or(name);
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Returns `true` if a prefix can be the beginning of one command. A prefix that is not understood may be one.
fn is_one_command(prefix: &str) -> bool {
    let chars: Vec<char> = prefix.chars().collect();
    match grammar::parse(&chars) {
        Ok(understood) => match understood.commands() {
            [command] => command.redirects().is_empty(),
            _ => false,
        },
        Err(reason) => {
            !matches!(reason, NotUnderstood::Operator | NotUnderstood::Redirection | NotUnderstood::Background)
        }
    }
}
