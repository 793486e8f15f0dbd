//! A command of the deny side.

use crate::command::Redirect;
use crate::word::{Word, base_name};

/// A command that might run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundCommand {
    pub(super) words: Vec<Word>,
    pub(super) redirects: Vec<Redirect>,
    /// The pipeline that it belongs to, in [`Pipelines`](super::Pipelines).
    pub(super) pipeline: usize,
}

impl FoundCommand {
    /// Returns the program's base name (`rm` for `/bin/rm`). `None` if it comes from an expansion, or if there are only
    /// redirections.
    #[must_use]
    pub fn program(&self) -> Option<&str> {
        self.words.first()?.as_literal().map(base_name)
    }

    /// Returns the program and its arguments as far as they are known; the program is as written. Arguments may be
    /// missing where another program supplies them (`xargs`).
    #[must_use]
    pub fn words(&self) -> &[Word] {
        &self.words
    }

    /// Returns the redirections; targets may be unknown.
    #[must_use]
    pub fn redirects(&self) -> &[Redirect] {
        &self.redirects
    }

    /// Index of the command's pipeline.
    pub(crate) fn pipeline(&self) -> usize {
        self.pipeline
    }

    /// Returns the base name and arguments, joined by single blanks, quotes removed.
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
