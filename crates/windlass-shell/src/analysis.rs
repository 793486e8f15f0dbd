//! The entry point and its result.

use crate::command::Understood;
use crate::directory::{Directories, changes_directory, is_change};
use crate::reason::{MAX_CHARS, NotUnderstood, Undecided};
use crate::scan::{self, FoundCommand, Pipelines};
use crate::{gate, grammar};
use std::path::Path;

/// Analysis of a command text, made by [`analyse`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Analysis {
    text: String,
    understood: Result<Understood, NotUnderstood>,
    found: Vec<FoundCommand>,
    undecided: Option<Undecided>,
    fork_bomb: bool,
    pipelines: Pipelines,
    functions: Vec<String>,
    assigned_from: Vec<(String, usize)>,
}

impl Analysis {
    /// Returns the text that was analysed, unchanged.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the allow side: the commands, if the text's meaning is completely known.
    ///
    /// # Errors
    /// The first reason why it is not. Then only a rule for exactly this text may allow it.
    pub fn understood(&self) -> Result<&Understood, NotUnderstood> {
        self.understood.as_ref().map_err(|reason| *reason)
    }

    /// Returns the deny side: every command that might run, at any nesting and behind any wrapper. For an understood
    /// text each of its commands is among them.
    #[must_use]
    pub fn found(&self) -> &[FoundCommand] {
        &self.found
    }

    /// Returns the reason why more commands might run than [`found`](Self::found) lists. If a scoped deny or ask rule
    /// exists, such a text asks.
    #[must_use]
    pub fn undecided(&self) -> Option<Undecided> {
        self.undecided
    }

    /// Returns the directories in which each understood command may run, for a text that starts in `start`.
    ///
    /// [`Directories::Unknown`] for a text that is not understood, or that changes the directory inside of a script
    /// too.
    #[must_use]
    pub fn directories(&self, start: &Path) -> Directories {
        let Ok(understood) = &self.understood else { return Directories::Unknown };
        let found = self.found.iter().filter(|command| command.program().is_some_and(is_change)).count();
        if found > understood.commands().iter().filter(|command| changes_directory(command)).count() {
            return Directories::Unknown;
        }
        understood.directories(start)
    }

    /// The pipelines that the found commands belong to.
    pub(crate) fn pipelines(&self) -> &Pipelines {
        &self.pipelines
    }

    /// Names of the functions that the text defines.
    pub(crate) fn functions(&self) -> &[String] {
        &self.functions
    }

    /// Variables that get the output of commands, each with the pipeline that holds these.
    pub(crate) fn assigned_from(&self) -> &[(String, usize)] {
        &self.assigned_from
    }

    pub(crate) fn has_fork_bomb(&self) -> bool {
        self.fork_bomb
    }
}

/// Analyses a text as bash (non-interactive, without start-up files) would read it.
///
/// Total: any text gives an answer. Time and memory are bounded by the length of the text.
#[must_use]
pub fn analyse(text: &str) -> Analysis {
    let scan = scan::scan(text);
    Analysis {
        text: text.to_owned(),
        understood: understand(text),
        found: scan.found,
        undecided: scan.undecided,
        fork_bomb: scan.fork_bomb,
        pipelines: scan.pipelines,
        functions: scan.functions,
        assigned_from: scan.assigned_from,
    }
}

fn understand(text: &str) -> Result<Understood, NotUnderstood> {
    let chars: Vec<char> = text.chars().take(MAX_CHARS.saturating_add(1)).collect();
    if chars.len() > MAX_CHARS {
        return Err(NotUnderstood::TooLong);
    }
    if let Some(c) = chars.iter().find(|c| !gate::is_plain(**c)) {
        return Err(NotUnderstood::Character(*c));
    }
    grammar::parse(&chars)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_text_and_refuses_one_that_is_too_long() {
        let longest = format!("echo {}", "é".repeat(MAX_CHARS - 5));
        let longer = format!("{longest}x");
        for (text, expected) in [
            ("ls  -l # all", Ok(1)),
            (longest.as_str(), Ok(1)),
            (longer.as_str(), Err(NotUnderstood::TooLong)),
            ("ls\0", Err(NotUnderstood::Character('\0'))),
        ] {
            let analysis = analyse(text);
            assert_eq!(analysis.text(), text);
            assert_eq!(analysis.understood().map(|understood| understood.commands().len()), expected, "{text}");
        }
    }
}
