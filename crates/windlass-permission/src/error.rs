//! Errors in rules, modes and updates, each with a correction.

use std::fmt;
use std::path::PathBuf;
use thiserror::Error;
use windlass_types::text::visible_line;

/// A rule that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("permission rule `{rule}` {problem}")]
#[non_exhaustive]
pub struct RuleError {
    /// The rule as it was written, control characters made visible.
    pub rule: String,
    /// Problem and correction.
    pub problem: String,
}

impl RuleError {
    pub(crate) fn new(rule: &str, problem: impl Into<String>) -> Self {
        Self { rule: shown(rule), problem: problem.into() }
    }
}

/// Returns a text for people: one line of limited length, with invisible characters made visible.
pub(crate) fn shown(text: &str) -> String {
    const MOST: usize = 2_000;
    let beginning: String = text.chars().take(MOST).collect();
    let more = if text.chars().nth(MOST).is_some() { "…" } else { "" };
    visible_line(&beginning) + more
}

/// A rule that has no effect, or less than its writer may think. The other rules apply.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuleWarning {
    /// The rule as it was written, control characters made visible.
    pub rule: String,
    /// Peculiarity of the rule, and a correction.
    pub problem: String,
    /// `true` if the rule is ignored altogether.
    pub ignored: bool,
}

impl RuleWarning {
    pub(crate) fn ignored(error: RuleError) -> Self {
        Self { rule: error.rule, problem: error.problem, ignored: true }
    }

    pub(crate) fn kept(rule: &str, problem: impl Into<String>) -> Self {
        let RuleError { rule, problem } = RuleError::new(rule, problem);
        Self { rule, problem, ignored: false }
    }
}

impl fmt::Display for RuleWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fate = if self.ignored { " (ignored)" } else { "" };
        write!(f, "permission rule `{}` {}{fate}", self.rule, self.problem)
    }
}

/// A mode that cannot be entered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ModeError {
    /// bypassPermissions was not allowed when the session started.
    #[error("mode bypassPermissions is off: allow it when the session starts, nothing later can turn it on")]
    BypassNotAllowed,
    /// auto is forbidden by settings, or was when the session started.
    #[error("mode auto is off: settings forbid it (`permissions.disableAutoMode`)")]
    AutoNotAllowed,
}

/// An update of permissions that is refused. No part of it took effect.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum UpdateError {
    /// One of its rules cannot be used.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// The mode of the update cannot be entered.
    #[error(transparent)]
    Mode(#[from] ModeError),
    /// A directory is not absolute.
    #[error("directory {} is not an absolute path without `..`: give the whole path", .0.display())]
    Directory(PathBuf),
    /// The update is of a kind that this version does not know.
    #[error("this kind of permission update is not known")]
    Unknown,
}
