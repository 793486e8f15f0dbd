//! Commands of the small grammar: the allow side's view.

use crate::{Classification, Word, classify, environment};

/// How a command is joined to the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Connector {
    /// The first command of the text.
    First,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `;` or a line end
    Sequence,
    /// `|` or `|&`
    Pipe,
}

/// A literal `NAME=value` before a command.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Assignment {
    /// The variable's name.
    pub name: String,
    /// The value, quotes removed.
    pub value: String,
}

/// What a redirection does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RedirectKind {
    /// `<`: reads the target.
    Read,
    /// `>`, `>|`, `&>`: replaces the target.
    Write,
    /// `>>`, `&>>`: extends the target.
    Append,
    /// `2>&1` and the like: touches no file.
    Duplicate,
    /// `<<`, `<<<`: the target is the delimiter or the text. Only on the deny side.
    Inline,
}

/// A redirection of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Redirect {
    /// What is done with the target.
    pub kind: RedirectKind,
    /// File name, or the descriptor's number for [`RedirectKind::Duplicate`].
    pub target: Word,
}

impl Redirect {
    pub(crate) fn new(kind: RedirectKind, target: Word) -> Self {
        Self { kind, target }
    }

    /// Whether the redirection can be ignored: a descriptor duplication or `/dev/null`.
    #[must_use]
    pub fn is_harmless(&self) -> bool {
        match self.kind {
            RedirectKind::Duplicate => true,
            RedirectKind::Inline => false,
            RedirectKind::Read | RedirectKind::Write | RedirectKind::Append => {
                self.target.as_literal() == Some("/dev/null")
            }
        }
    }
}

/// A command whose meaning is completely known: literal words, file name patterns, literal assignments
/// and literal redirections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimpleCommand {
    pub(crate) connector: Connector,
    pub(crate) assignments: Vec<Assignment>,
    pub(crate) words: Vec<Word>,
    pub(crate) redirects: Vec<Redirect>,
    pub(crate) source: String,
}

impl SimpleCommand {
    /// How the command is joined to the one before it.
    #[must_use]
    pub fn connector(&self) -> Connector {
        self.connector
    }

    /// The assignments before the program.
    #[must_use]
    pub fn assignments(&self) -> &[Assignment] {
        &self.assignments
    }

    /// The program and its arguments. Empty if there are only assignments or redirections. The first word is
    /// always a literal.
    #[must_use]
    pub fn words(&self) -> &[Word] {
        &self.words
    }

    /// The redirections, in order.
    #[must_use]
    pub fn redirects(&self) -> &[Redirect] {
        &self.redirects
    }

    /// The exact text of the command, from its first to its last character, assignments and redirections
    /// included.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The program as written (not reduced to its base name).
    #[must_use]
    pub fn program(&self) -> Option<&str> {
        self.words.first().and_then(Word::as_literal)
    }

    /// What the command does, and to which paths.
    #[must_use]
    pub fn classify(&self) -> Classification {
        classify::classify(self)
    }

    /// Whether there is no assignment but of variables that are known to change only how a program
    /// reports, with values that name no file.
    #[must_use]
    pub fn has_only_safe_assignments(&self) -> bool {
        self.assignments.iter().all(environment::is_safe)
    }
}

/// Where the commands of an understood text run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum DirectoryChange {
    /// No command changes the directory.
    None,
    /// The first command is `cd` with one literal directory, and no other command changes it.
    Leading {
        /// The directory as written, relative to the directory the text starts in.
        directory: String,
        /// Whether all later commands run only if the change worked. If not, judge their paths in both
        /// directories.
        certain: bool,
    },
    /// Anything else: ask.
    Unclear,
}

/// A text that the small grammar covers completely.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Understood {
    pub(crate) commands: Vec<SimpleCommand>,
}

impl Understood {
    /// The commands in the order of the text; at least one.
    #[must_use]
    pub fn commands(&self) -> &[SimpleCommand] {
        &self.commands
    }

    /// What becomes of the working directory.
    #[must_use]
    pub fn directory_change(&self) -> DirectoryChange {
        let changes = |c: &SimpleCommand| {
            let program = c.words.iter().map(Word::text).find(|w| !matches!(*w, "command" | "builtin" | "time"));
            matches!(program, Some("cd" | "pushd" | "popd"))
        };
        let mut later = self.commands.iter().skip(1);
        if later.any(changes) {
            return DirectoryChange::Unclear;
        }
        let Some(first) = self.commands.first().filter(|c| changes(c)) else {
            return DirectoryChange::None;
        };
        let Some(directory) = classify::literal_cd(first) else {
            return DirectoryChange::Unclear;
        };
        let mut rest = self.commands.iter().skip(1).map(SimpleCommand::connector);
        match self.commands.get(1).map(SimpleCommand::connector) {
            Some(Connector::Pipe) => DirectoryChange::Unclear,
            _ => DirectoryChange::Leading {
                directory,
                certain: rest.all(|c| matches!(c, Connector::And | Connector::Pipe)),
            },
        }
    }
}
