//! Collector of a scan's findings, with the budget that bounds its work.

use super::found::FoundCommand;
use super::handed::Handed;
use super::pipelines::Pipelines;
use super::values::NamedValue;
use crate::command::Redirect;
use crate::reason::Undecided;
use crate::word::Word;

/// Maximum number of words that are read again, behind wrappers and in scripts, beside those of the text itself. A
/// command that needs more is not judged.
const MORE_WORDS: usize = 2_000;

/// The result of a scan.
#[derive(Debug, Default)]
pub(crate) struct ScanResult {
    pub(crate) found: Vec<FoundCommand>,
    pub(crate) undecided: Option<Undecided>,
    pub(crate) fork_bomb: bool,
    pub(crate) pipelines: Pipelines,
    /// Names of the functions that the text defines.
    pub(crate) functions: Vec<String>,
    /// Variables that get the output of commands, each with the pipeline that holds these.
    pub(crate) assigned_from: Vec<(String, usize)>,
}

/// Collector of findings, with the budget that bounds the work.
pub(super) struct FindingSink {
    pub(super) scan: ScanResult,
    pub(super) char_fuel: usize,
    pub(super) word_fuel: usize,
    /// Words that a program puts into the current command.
    pub(super) handed: Option<Handed>,
    /// Functions whose bodies are being read.
    pub(super) functions: Vec<String>,
    /// Values that the text gives to variables.
    pub(super) values: Vec<NamedValue>,
}

impl FindingSink {
    pub(super) fn new(chars: usize) -> Self {
        Self {
            scan: ScanResult::default(),
            char_fuel: chars.saturating_mul(24).saturating_add(4096),
            // A word has a character, and another one before the next word.
            word_fuel: (chars / 2).saturating_add(MORE_WORDS),
            handed: None,
            functions: Vec::new(),
            values: Vec::new(),
        }
    }

    pub(super) fn undecided(&mut self, reason: Undecided) {
        self.scan.undecided.get_or_insert(reason);
    }

    /// Gives the redirection of a here-document its text.
    pub(super) fn set_body(&mut self, (command, redirect): (usize, usize), body: &str) {
        let command = self.scan.found.get_mut(command);
        if let Some(redirect) = command.and_then(|command| command.redirects.get_mut(redirect)) {
            redirect.target = Word::literal(body);
        }
    }

    /// Pays for reading `chars` characters.
    pub(super) fn pay(&mut self, chars: usize) -> bool {
        match self.char_fuel.checked_sub(chars) {
            Some(rest) => {
                self.char_fuel = rest;
                true
            }
            None => {
                self.char_fuel = 0;
                self.undecided(Undecided::TooLarge);
                false
            }
        }
    }

    /// Records a command. Returns false if the budget is spent.
    pub(super) fn push(&mut self, words: &[Word], redirects: Vec<Redirect>) -> bool {
        match self.word_fuel.checked_sub(words.len().saturating_add(1)).filter(|_| self.char_fuel > 0) {
            Some(rest) => {
                self.word_fuel = rest;
                self.scan.found.push(FoundCommand {
                    words: words.to_vec(),
                    redirects,
                    pipeline: self.scan.pipelines.current(),
                });
                true
            }
            None => {
                self.word_fuel = 0;
                self.undecided(Undecided::TooLarge);
                false
            }
        }
    }
}
