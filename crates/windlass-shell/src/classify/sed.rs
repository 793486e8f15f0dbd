//! `sed`: a script of addresses with `p`, `d`, `q`, `=` and substitutions without side effects.

use super::effect::{Classification, Effect, Findings, PathOperand};
use super::options::{OperandKind, ProgramSpec, parse};
use crate::Word;

// `-i` ends a bundle: the rest is the suffix of a copy.
pub(super) const SED: ProgramSpec =
    ProgramSpec::new("sed", "nErsuz", "el", OperandKind::Files(usize::MAX)).optional("i").long(&[
        "debug",
        "expression=",
        "in-place?",
        "line-length=",
        "null-data",
        "posix",
        "quiet",
        "regexp-extended",
        "sandbox",
        "separate",
        "silent",
        "unbuffered",
        "version",
    ]);

pub(super) fn classify(args: &[Word]) -> Findings {
    let parsed = parse(&SED, args)?;
    let in_place = parsed.has("-i") || parsed.has("--in-place");
    if parsed.values(&["-i", "--in-place"]).next().is_some() {
        return None;
    }
    let mut scripts: Vec<&str> = parsed.values(&["-e", "--expression"]).collect();
    let mut files = parsed.operands.as_slice();
    if scripts.is_empty() {
        let (script, operands) = files.split_first()?;
        scripts.push(script.as_literal()?);
        files = operands;
    }
    if !scripts.iter().all(|script| is_harmless(script)) {
        return None;
    }
    let operands: Vec<PathOperand> = files
        .iter()
        .filter(|w| w.text() != "-")
        .map(|w| parsed.operand(w, false))
        .chain(parsed.late_files())
        .chain(parsed.files.iter().cloned())
        .collect();
    if operands.iter().any(|o| o.path.is_empty()) {
        return None;
    }
    if !in_place {
        return Some(Classification::reading(operands));
    }
    let mut class = Classification::new(Effect::FileChange);
    class.reads.clone_from(&operands);
    class.writes = operands;
    (!class.writes.is_empty()).then_some(class)
}

/// Returns `true` if the script is covered by the small grammar.
pub(super) fn is_harmless(script: &str) -> bool {
    let mut script = SedScript { rest: script };
    let mut blocks = 0usize;
    loop {
        script.skip(|c| matches!(c, ' ' | '\t' | '\n' | ';'));
        if script.rest.is_empty() {
            return blocks == 0;
        }
        if script.eat('}') {
            match blocks.checked_sub(1) {
                Some(outer) => blocks = outer,
                None => return false,
            }
        } else {
            match script.command() {
                Some(SedEnd::Block) => {
                    blocks = blocks.saturating_add(1);
                    continue;
                }
                Some(SedEnd::Command) => {}
                None => return false,
            }
        }
        script.skip(|c| matches!(c, ' ' | '\t'));
        if !(script.rest.is_empty() || script.rest.starts_with([';', '\n', '}'])) {
            return false;
        }
    }
}

/// End of the part read so far.
enum SedEnd {
    /// A whole command.
    Command,
    /// The brace that begins a block.
    Block,
}

struct SedScript<'a> {
    rest: &'a str,
}

impl SedScript<'_> {
    fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let c = chars.next();
        self.rest = chars.as_str();
        c
    }

    fn eat(&mut self, c: char) -> bool {
        let found = self.rest.strip_prefix(c);
        self.rest = found.unwrap_or(self.rest);
        found.is_some()
    }

    fn skip(&mut self, what: impl Fn(char) -> bool) {
        self.rest = self.rest.trim_start_matches(what);
    }

    fn command(&mut self) -> Option<SedEnd> {
        if self.address()? {
            self.skip(|c| c == ' ');
            if self.eat(',') {
                self.skip(|c| c == ' ');
                if !(self.eat('+') || self.eat('~')) {
                    self.address()?.then_some(())?;
                } else if !self.number() {
                    return None;
                }
            }
        }
        self.skip(|c| c == ' ');
        if self.eat('!') {
            self.skip(|c| c == ' ');
        }
        match self.next()? {
            '{' => return Some(SedEnd::Block),
            'p' | 'd' | '=' | 'P' | 'D' | 'h' | 'H' | 'g' | 'G' | 'x' | 'n' | 'N' | 'F' => {}
            'q' | 'Q' | 'l' => {
                self.number();
            }
            'a' | 'i' | 'c' => self.inserted()?,
            ':' => self.label()?.then_some(())?,
            'b' | 't' => {
                self.skip(|c| c == ' ');
                self.label()?;
            }
            's' => self.substitution()?,
            'y' => {
                let delimiter = self.delimiter()?;
                self.plainly_until(delimiter)?;
                self.plainly_until(delimiter)?;
            }
            _ => return None,
        }
        Some(SedEnd::Command)
    }

    /// Reads one line of text. With a backslash in it, versions differ on where it ends.
    fn inserted(&mut self) -> Option<()> {
        self.skip(|c| c == ' ');
        if self.eat('\\') {
            self.eat('\n');
        }
        let (text, _) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
        self.rest = self.rest.strip_prefix(text)?;
        (!text.trim().is_empty() && !text.contains('\\')).then_some(())
    }

    /// Returns `true` if there was a label. To some versions it continues to the end of the line: then less is run.
    fn label(&mut self) -> Option<bool> {
        let before = self.rest.len();
        self.skip(|c| c.is_ascii_alphanumeric() || c == '_');
        Some(self.rest.len() < before)
    }

    /// Returns `true` if there was an address, `None` if it is malformed.
    fn address(&mut self) -> Option<bool> {
        if self.eat('$') {
            return Some(true);
        }
        if self.number() {
            if self.eat('~') && !self.number() {
                return None;
            }
            return Some(true);
        }
        let delimiter = if self.eat('/') {
            '/'
        } else if self.eat('\\') {
            self.delimiter()?
        } else {
            return Some(false);
        };
        self.until(delimiter)?;
        self.skip(|c| matches!(c, 'I' | 'M'));
        Some(true)
    }

    fn number(&mut self) -> bool {
        let before = self.rest.len();
        self.skip(|c| c.is_ascii_digit());
        self.rest.len() < before
    }

    fn delimiter(&mut self) -> Option<char> {
        self.next().filter(|c| c.is_ascii_punctuation() && !matches!(c, '\\' | '[' | ']'))
    }

    fn substitution(&mut self) -> Option<()> {
        let delimiter = self.delimiter()?;
        self.until(delimiter)?;
        self.plainly_until(delimiter)?;
        // `e` runs the result, `w` writes it.
        self.skip(|c| matches!(c, 'g' | 'p' | 'i' | 'I' | 'm' | 'M') || c.is_ascii_digit());
        Some(())
    }

    /// Moves past the delimiter, in a pattern.
    fn until(&mut self, delimiter: char) -> Option<()> {
        loop {
            match self.next()? {
                '\\' => {
                    self.next()?;
                }
                '\n' => return None,
                c if c == delimiter => return Some(()),
                '[' => self.bracket(delimiter)?,
                _ => {}
            }
        }
    }

    /// Moves past the end of a bracket. Some versions see no brackets when they look for the delimiter.
    fn bracket(&mut self, delimiter: char) -> Option<()> {
        self.eat('^');
        self.eat(']');
        loop {
            match self.next()? {
                ']' => return Some(()),
                '\\' => {
                    self.next().filter(|c| *c != '\n')?;
                }
                '[' if self.eat(':') => {
                    let (class, rest) = self.rest.split_once(":]")?;
                    class.chars().all(|c| c.is_ascii_lowercase()).then_some(())?;
                    self.rest = rest;
                }
                '[' if self.rest.starts_with(['.', '=']) => return None,
                c if c == delimiter || c == '\n' => return None,
                _ => {}
            }
        }
    }

    /// Moves past the delimiter; brackets have no meaning here.
    fn plainly_until(&mut self, delimiter: char) -> Option<()> {
        loop {
            match self.next()? {
                '\\' => {
                    self.next()?;
                }
                '\n' => return None,
                c if c == delimiter => return Some(()),
                _ => {}
            }
        }
    }
}
