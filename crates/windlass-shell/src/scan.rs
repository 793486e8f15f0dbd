//! The deny side: every command that might run.

use crate::{Redirect, Undecided, Word};

/// A command that might run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundCommand {
    pub(crate) words: Vec<Word>,
    pub(crate) redirects: Vec<Redirect>,
}

impl FoundCommand {
    /// The program's base name (`rm` for `/bin/rm`); `None` if it comes from an expansion.
    #[must_use]
    pub fn program(&self) -> Option<&str> {
        let text = self.words.first()?.as_literal()?;
        Some(text.rsplit('/').next().unwrap_or(text))
    }

    /// The program and its arguments as far as they are known. Arguments may be missing where another program
    /// supplies them (`xargs`).
    #[must_use]
    pub fn words(&self) -> &[Word] {
        &self.words
    }

    /// The redirections; targets may be unknown.
    #[must_use]
    pub fn redirects(&self) -> &[Redirect] {
        &self.redirects
    }

    /// Base name and arguments, joined by single blanks, quotes removed.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        if let Some(first) = self.words.first() {
            text.push_str(self.program().unwrap_or(first.text()));
        }
        for word in self.words.iter().skip(1) {
            text.push(' ');
            text.push_str(word.text());
        }
        text
    }
}

#[derive(Debug, Default)]
pub(crate) struct Scan {
    pub(crate) found: Vec<FoundCommand>,
    pub(crate) undecided: Option<Undecided>,
    pub(crate) fork_bomb: bool,
}

pub(crate) fn scan(_text: &str) -> Scan {
    Scan { undecided: Some(Undecided::TooLarge), ..Scan::default() }
}
