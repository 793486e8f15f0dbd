//! Moving through the characters, and here-documents.

use super::sink::FindingSink;
use crate::reason::Undecided;

const MAX_DEPTH: usize = 40;

pub(super) struct ScriptReader<'a, 's> {
    pub(super) chars: &'a [char],
    pub(super) pos: usize,
    pub(super) depth: usize,
    pub(super) heredocs: Vec<UnreadHeredoc>,
    pub(super) sink: &'s mut FindingSink,
}

/// A here-document whose body is still to come.
pub(super) struct UnreadHeredoc {
    pub(super) delimiter: String,
    pub(super) quoted: bool,
    pub(super) strip_tabs: bool,
    /// The body is the script of a shell.
    pub(super) script: bool,
    /// Place of its redirection: the index of the command in the scan, and that of the redirection in the command.
    pub(super) place: (usize, usize),
}

impl<'a, 's> ScriptReader<'a, 's> {
    pub(super) fn new(chars: &'a [char], depth: usize, sink: &'s mut FindingSink) -> Self {
        Self { chars, pos: 0, depth, heredocs: Vec::new(), sink }
    }

    pub(super) fn undecided(&mut self, reason: Undecided) {
        self.sink.undecided(reason);
    }

    /// Reads other text as a script: the contents of a quoted script or a backtick form.
    pub(super) fn nested_script(&mut self, text: &str) {
        self.nested(text, |reader| reader.whole_script());
    }

    /// Reads other text for expansions only, as in a here-document.
    pub(super) fn nested_expansions(&mut self, text: &str) {
        if text.contains(['$', '`']) {
            self.nested(text, |reader| reader.expansions());
        }
    }

    fn nested(&mut self, text: &str, read: impl FnOnce(&mut ScriptReader<'_, '_>)) {
        let chars: Vec<char> = text.chars().collect();
        if self.depth >= MAX_DEPTH || !self.sink.pay(chars.len()) {
            self.undecided(Undecided::TooLarge);
            return;
        }
        // Words are put only into the command that contains the text.
        let handed = self.sink.handed.take();
        read(&mut ScriptReader::new(&chars, self.depth.saturating_add(1), self.sink));
        self.sink.handed = handed;
    }

    /// Goes one level deeper; the caller subtracts one from `depth` afterwards.
    pub(super) fn enter(&mut self) -> bool {
        if self.depth >= MAX_DEPTH {
            // Nothing more is read: going back and trying again from every level would take for ever.
            self.undecided(Undecided::TooLarge);
            self.sink.char_fuel = 0;
            self.pos = self.chars.len();
            return false;
        }
        self.depth = self.depth.saturating_add(1);
        true
    }

    pub(super) fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Returns the next character, line continuations skipped. `None` also when the budget is spent.
    pub(super) fn peek(&mut self) -> Option<char> {
        while self.raw(0) == Some('\\') && self.raw(1) == Some('\n') {
            self.pos = self.pos.saturating_add(2);
        }
        if self.sink.char_fuel == 0 {
            self.pos = self.chars.len();
        }
        self.raw(0)
    }

    /// Returns the character `ahead` of the position, continuations not skipped.
    pub(super) fn raw(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.pos.saturating_add(ahead)).copied()
    }

    pub(super) fn bump(&mut self) {
        self.sink.pay(1);
        self.pos = self.pos.saturating_add(1);
    }

    /// Moves past the next character if it is `c`.
    pub(super) fn eat(&mut self, c: char) -> bool {
        let found = self.peek() == Some(c);
        if found {
            self.bump();
        }
        found
    }

    /// Returns the character after the next one, continuations skipped.
    pub(super) fn second(&mut self) -> Option<char> {
        self.peek()?;
        let pos = self.pos;
        self.bump();
        let second = self.peek();
        self.pos = pos;
        second
    }

    pub(super) fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(' ' | '\t')) {
            self.bump();
        }
    }

    /// Skips blanks, line ends and comments.
    pub(super) fn skip_lines(&mut self) {
        loop {
            match self.peek() {
                Some(' ' | '\t') => self.bump(),
                Some('\n') => self.line_end(),
                Some('#') => self.skip_comment(),
                _ => return,
            }
        }
    }

    pub(super) fn skip_comment(&mut self) {
        while self.raw(0).is_some_and(|c| c != '\n') {
            self.bump();
        }
    }

    pub(super) fn source(&self, start: usize) -> String {
        self.chars.get(start..self.pos).unwrap_or_default().iter().collect()
    }

    /// Moves past a line end and the bodies of the here-documents that begin there.
    pub(super) fn line_end(&mut self) {
        self.bump();
        for heredoc in std::mem::take(&mut self.heredocs) {
            let body = self.heredoc_body(&heredoc);
            if !heredoc.quoted {
                self.nested_expansions(&body);
            }
            if heredoc.script {
                self.nested_script(&body);
            }
            self.sink.set_body(heredoc.place, &body);
        }
    }

    fn heredoc_body(&mut self, heredoc: &UnreadHeredoc) -> String {
        let mut body = String::new();
        while self.pos < self.chars.len() && self.sink.char_fuel > 0 {
            let mut line = self.heredoc_line(heredoc.quoted);
            if heredoc.strip_tabs {
                line = line.trim_start_matches('\t').to_owned();
            }
            if line.strip_suffix('\n').unwrap_or(&line) == heredoc.delimiter {
                return body;
            }
            body.push_str(&line);
        }
        body
    }

    /// Reads one line with its line end; in an unquoted document a backslash joins it with the next.
    fn heredoc_line(&mut self, quoted: bool) -> String {
        let mut line = String::new();
        while let Some(c) = self.raw(0) {
            self.bump();
            if c == '\\' && !quoted {
                if self.raw(0) == Some('\n') {
                    self.bump();
                    continue;
                }
                line.push(c);
                if let Some(escaped) = self.raw(0) {
                    self.bump();
                    line.push(escaped);
                }
                continue;
            }
            line.push(c);
            if c == '\n' {
                break;
            }
        }
        line
    }
}
