//! Where the commands of an understood text run.

use crate::command::{Connector, SimpleCommand, Understood};
use crate::word::Word;

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

impl Understood {
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
        let Some(directory) = literal_cd(first) else {
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

/// The only operand of a `cd` without options.
pub(crate) fn cd_operand(args: &[Word]) -> Option<&str> {
    let directory = match args {
        [directory] => directory,
        [end, directory] if end.text() == "--" => directory,
        _ => return None,
    };
    directory.as_literal().filter(|d| !d.is_empty() && !d.starts_with('-'))
}

/// The directory of a `cd` that can be followed: one literal operand, no option.
fn literal_cd(command: &SimpleCommand) -> Option<String> {
    let (cd, args) = command.words().split_first()?;
    if cd.text() != "cd" || !command.assignments().is_empty() {
        return None;
    }
    cd_operand(args).map(str::to_owned)
}
