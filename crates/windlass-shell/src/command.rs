//! Commands of the small grammar: the allow side's view.

use crate::word::Word;

/// Operator that joins a command to the one before it.
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

/// Kind of a redirection.
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
    /// `<<`, `<<<`: the target is the text. On the deny side expansions stand in it as written.
    Inline,
}

/// A redirection of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Redirect {
    /// Kind of the redirection.
    pub kind: RedirectKind,
    /// File name, or the descriptor's number for [`RedirectKind::Duplicate`].
    pub target: Word,
}

impl Redirect {
    pub(crate) fn new(kind: RedirectKind, target: Word) -> Self {
        Self { kind, target }
    }

    /// Returns `true` if the redirection can be ignored: a descriptor duplication, `/dev/null`, or a literal text as
    /// input, which is equal to `printf` behind a pipe.
    #[must_use]
    pub fn is_harmless(&self) -> bool {
        match self.kind {
            RedirectKind::Duplicate => true,
            RedirectKind::Inline => self.target.is_literal(),
            RedirectKind::Read | RedirectKind::Write | RedirectKind::Append => {
                self.target.as_literal() == Some("/dev/null")
            }
        }
    }
}

/// A command whose meaning is completely known: literal words, file name patterns, literal assignments
/// and literal redirections.
///
/// In the place of values that only the running shell has stand words that mean the same to the program: `0` for `$?`,
/// `.` for `"$PWD"`, `/dev/null` for `<(…)`, and the words of a loop for its variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimpleCommand {
    pub(crate) connector: Connector,
    /// `true` behind `!`, which turns the exit status of the pipeline around.
    pub(crate) negated: bool,
    pub(crate) assignments: Vec<Assignment>,
    pub(crate) words: Vec<Word>,
    pub(crate) redirects: Vec<Redirect>,
    pub(crate) source: String,
}

impl SimpleCommand {
    /// Returns the operator that joins the command to the one before it.
    #[must_use]
    pub fn connector(&self) -> Connector {
        self.connector
    }

    /// Returns the assignments before the program.
    #[must_use]
    pub fn assignments(&self) -> &[Assignment] {
        &self.assignments
    }

    /// Returns the program and its arguments. Empty if there are only assignments or redirections. The first word is
    /// always a literal.
    #[must_use]
    pub fn words(&self) -> &[Word] {
        &self.words
    }

    /// Returns the redirections, in order.
    #[must_use]
    pub fn redirects(&self) -> &[Redirect] {
        &self.redirects
    }

    /// Returns the exact text of the command, from its first to its last character, assignments and redirections
    /// included, without the lines of here-documents.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns the program as written (not reduced to its base name).
    #[must_use]
    pub fn program(&self) -> Option<&str> {
        self.words.first().and_then(Word::as_literal)
    }
}

/// A text that the small grammar covers completely. Loops and conditions are the commands that they run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Understood {
    pub(crate) commands: Vec<SimpleCommand>,
}

impl Understood {
    /// Returns the commands in the order of the text; at least one.
    #[must_use]
    pub fn commands(&self) -> &[SimpleCommand] {
        &self.commands
    }
}

#[cfg(test)]
mod tests {
    use crate::analyse;

    #[test]
    fn the_program_of_a_command_is_as_written() {
        for (text, expected) in
            [("/usr/bin/ls -l", Some("/usr/bin/ls")), ("X=1 'git' log", Some("git")), ("> x", None), ("X=1", None)]
        {
            let analysis = analyse(text);
            let programs: Vec<_> =
                analysis.understood().iter().flat_map(|u| u.commands()).map(|c| c.program()).collect();
            assert_eq!(programs, [expected], "{text}");
        }
    }
}
