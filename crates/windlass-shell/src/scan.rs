//! The deny side: every command that might run.
//!
//! A tolerant reader of the whole shell language. It never refuses; where it cannot follow it says so
//! ([`Undecided`]). All work is paid from a budget that is linear in the length of the text.

mod carried;
mod emit;
mod reader;
mod script;
mod variables;
mod word;
mod wrappers;

use crate::{Redirect, Undecided, Word};

/// Longer texts are scanned up to here and then undecided.
const MAX_SCANNED_CHARS: usize = 200_000;
const MAX_DEPTH: usize = 40;
const MAX_WORDS: usize = 60_000;

/// A command that might run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundCommand {
    words: Vec<Word>,
    redirects: Vec<Redirect>,
}

impl FoundCommand {
    /// The program's base name (`rm` for `/bin/rm`). `None` if it comes from an expansion, or if there are only
    /// redirections.
    #[must_use]
    pub fn program(&self) -> Option<&str> {
        self.words.first()?.as_literal().map(base_name)
    }

    /// The program and its arguments as far as they are known; the program is as written. Arguments may be missing
    /// where another program supplies them (`xargs`).
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

pub(crate) use carried::has_code;
pub(crate) use wrappers::{SHELLS, is_wrapper};

pub(crate) fn base_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// The result of a scan.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    pub(crate) found: Vec<FoundCommand>,
    pub(crate) undecided: Option<Undecided>,
    pub(crate) fork_bomb: bool,
}

/// Finds the commands of a text.
pub(crate) fn scan(text: &str) -> Scan {
    let chars: Vec<char> = text.chars().take(MAX_SCANNED_CHARS).collect();
    let mut sink = Sink::new(chars.len());
    if text.chars().nth(MAX_SCANNED_CHARS).is_some() {
        sink.undecided(Undecided::TooLarge);
    }
    if text.contains(['\0', '\r']) {
        // bash drops the one and keeps the other; terminals and people see neither.
        sink.undecided(Undecided::Malformed);
    }
    reader::Reader::new(&chars, 0, &mut sink).whole_script();
    sink.scan
}

/// Where findings are collected, with the budget that bounds the work.
struct Sink {
    scan: Scan,
    char_fuel: usize,
    word_fuel: usize,
    /// Functions whose bodies are being read.
    functions: Vec<String>,
}

impl Sink {
    fn new(chars: usize) -> Self {
        Self {
            scan: Scan::default(),
            char_fuel: chars.saturating_mul(24).saturating_add(4096),
            word_fuel: MAX_WORDS,
            functions: Vec::new(),
        }
    }

    fn undecided(&mut self, reason: Undecided) {
        self.scan.undecided.get_or_insert(reason);
    }

    /// Pays for reading `chars` characters.
    fn pay(&mut self, chars: usize) -> bool {
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

    /// Notes a command; false if the budget is spent.
    fn push(&mut self, words: &[Word], redirects: Vec<Redirect>) -> bool {
        match self.word_fuel.checked_sub(words.len().saturating_add(1)).filter(|_| self.char_fuel > 0) {
            Some(rest) => {
                self.word_fuel = rest;
                self.scan.found.push(FoundCommand { words: words.to_vec(), redirects });
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

#[cfg(test)]
mod tests;
