//! Reasons why the effect of a text is unknown.

use thiserror::Error;

/// Texts with more characters than this are never understood.
pub const MAX_CHARS: usize = 10_000;

/// Reason why the small grammar does not cover a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub enum NotUnderstood {
    /// Nothing to run.
    #[error("the command is empty")]
    Empty,
    /// More than [`MAX_CHARS`] characters.
    #[error("the command is longer than {MAX_CHARS} characters")]
    TooLong,
    /// A control character, an unusual blank, or an invisible or direction-changing character.
    #[error("the command contains the character U+{code:04X}", code = u32::from(*.0))]
    Character(char),
    /// `$`, a backtick, or another expansion.
    #[error("the command uses shell expansion")]
    Expansion,
    /// A quote or an escape that does not end.
    #[error("the command has an unfinished quote")]
    UnfinishedQuote,
    /// `( )`, `{ }`, a keyword or a function.
    #[error("the command uses subshells, groups or control structures")]
    Structure,
    /// `&`
    #[error("the command runs something in the background")]
    Background,
    /// A here-document, a process substitution, or a redirection with an unusual target or descriptor.
    #[error("the command uses an unusual redirection")]
    Redirection,
    /// An operator without a command on one of its sides.
    #[error("the command has a misplaced operator")]
    Operator,
    /// An assignment or a program name that is not plain text.
    #[error("the command's program name or assignment is not plain text")]
    Program,
}

/// Reason why the commands of a text are unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub enum Undecided {
    /// A program's name comes from an expansion.
    #[error("the name of a program comes from an expansion")]
    Program,
    /// `eval`, `bash -c` or the like with a script that is not plain text.
    #[error("a script is made while the command runs")]
    Script,
    /// A shell reads its script from its input.
    #[error("a shell reads its commands from its input")]
    Input,
    /// Aliases or the like give names another meaning.
    #[error("the command changes the meaning of later commands")]
    Definition,
    /// `PATH=…`, `BASH_ENV=…` and the like let names find other programs, or run others before them.
    #[error("the command sets a variable that changes which programs run")]
    Variable,
    /// Quotes or brackets do not match up.
    #[error("the command is not well formed")]
    Malformed,
    /// Too long or too deeply nested.
    #[error("the command is too long or too deeply nested")]
    TooLarge,
}
