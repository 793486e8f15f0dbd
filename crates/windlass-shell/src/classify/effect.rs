//! Effect of a command, and the paths that it touches.

use crate::word::Word;

/// Effect of a command, without its redirections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Effect {
    /// Reads [`Classification::reads`] at most and prints. It changes, contacts and starts nothing, unless a match of a
    /// pattern is an option: see [`PathOperand::option`].
    ReadOnly,
    /// `cd` to one literal directory, which is the only path in [`Classification::reads`].
    ChangeDirectory,
    /// A reading sub-command of git. Configuration and attributes of the repository can make even these run
    /// programs: allow it only in the workspace root, with a clean configuration and a hardened environment.
    Git,
    /// One of `mkdir touch rm rmdir mv cp sed -i` with known options: it changes exactly
    /// [`Classification::writes`].
    FileChange,
    /// A program whose purpose is to contact other machines.
    Network,
    /// Anything else.
    Unknown,
}

/// Role of a path in a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PathRole {
    /// Named as an argument.
    Operand,
    /// The target of a redirection.
    Redirect,
    /// Not named: the working directory, which the program takes by default.
    Implied,
}

/// A path that a command reads or writes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PathOperand {
    /// The path as the program gets it, relative to its working directory. If `glob`, the pattern.
    pub path: String,
    /// `true` if `path` is a file name pattern that the shell expands.
    pub glob: bool,
    /// `true` if the program would take a match that begins with a dash for an option. Such a match makes the command
    /// another one than was classified.
    pub option: bool,
    /// `true` if everything below the path is touched too.
    pub recursive: bool,
    /// Role of the path in the command.
    pub role: PathRole,
}

/// Effect and paths of a command, made by [`SimpleCommand::classify`](crate::SimpleCommand::classify).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Classification {
    /// Effect of the program, without redirections.
    pub effect: Effect,
    /// Paths that are read, input redirections included. Complete only for effects other than `Network` and
    /// `Unknown`; for these, every argument that could be a path (for deny rules).
    pub reads: Vec<PathOperand>,
    /// Paths that are created, changed or removed, output redirections included (not `/dev/null`). Complete in
    /// the same cases.
    pub writes: Vec<PathOperand>,
}

impl Classification {
    /// Returns `true` if the command changes nothing, whatever files there are: [`Effect::ReadOnly`] without an output
    /// redirection, and without a pattern of which a match may be an option.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.effect == Effect::ReadOnly && self.writes.is_empty() && !self.reads.iter().any(|path| path.option)
    }
}

/// Classification of a command, before redirections are added. `None` means unknown.
pub(super) type Findings = Option<Classification>;

impl PathOperand {
    pub(super) fn operand(word: &Word, recursive: bool) -> Self {
        let glob = !word.is_literal();
        let option = glob && !word.cannot_be_option();
        Self { path: word.text().to_owned(), glob, option, recursive, role: PathRole::Operand }
    }

    pub(super) fn literal(path: impl Into<String>) -> Self {
        Self { path: path.into(), glob: false, option: false, recursive: false, role: PathRole::Operand }
    }

    pub(super) fn working_directory(recursive: bool) -> Self {
        Self { path: ".".to_owned(), glob: false, option: false, recursive, role: PathRole::Implied }
    }
}

impl Classification {
    pub(super) fn new(effect: Effect) -> Self {
        Self { effect, reads: Vec::new(), writes: Vec::new() }
    }

    pub(super) fn reading(reads: Vec<PathOperand>) -> Self {
        Self { effect: Effect::ReadOnly, reads, writes: Vec::new() }
    }
}
