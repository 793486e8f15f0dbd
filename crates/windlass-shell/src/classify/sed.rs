//! `sed`: a script of addresses with `p`, `d`, `q`, `=` and substitutions without side effects.

use super::{
    Classification, Effect, Findings, PathOperand,
    options::{Operands, Spec, parse},
};
use crate::Word;

const SED: Spec = Spec::new("sed", "nErsuz", "el", Operands::Files(usize::MAX)).long(&[
    "debug",
    "expression=",
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
    // `-i` ends a bundle: what follows it is the suffix of a copy.
    let is_in_place = |w: &&Word| w.as_literal().is_some_and(|t| t == "-i" || t == "--in-place");
    let in_place = args.iter().take_while(|w| w.text() != "--").any(|w| is_in_place(&w));
    let rest: Vec<Word> = args.iter().filter(|w| !is_in_place(w)).cloned().collect();
    let parsed = parse(&SED, &rest)?;
    let mut scripts: Vec<&str> = parsed
        .options
        .iter()
        .filter(|(name, _)| name == "-e" || name == "--expression")
        .filter_map(|(_, v)| v.as_deref())
        .collect();
    let mut files = parsed.operands.as_slice();
    if scripts.is_empty() {
        let (script, operands) = files.split_first()?;
        scripts.push(script.as_literal()?);
        files = operands;
    }
    if !scripts.iter().all(|script| is_harmless(script)) {
        return None;
    }
    let operands: Vec<PathOperand> =
        files.iter().filter(|w| w.text() != "-").map(|w| PathOperand::operand(w, false)).collect();
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

/// Whether the script is covered by the small grammar.
pub(super) fn is_harmless(script: &str) -> bool {
    let mut script = Script { rest: script };
    loop {
        script.skip(|c| matches!(c, ' ' | '\t' | '\n' | ';'));
        if script.rest.is_empty() {
            return true;
        }
        if script.command().is_none() {
            return false;
        }
        script.skip(|c| matches!(c, ' ' | '\t'));
        if !(script.rest.is_empty() || script.rest.starts_with([';', '\n'])) {
            return false;
        }
    }
}

struct Script<'a> {
    rest: &'a str,
}

impl Script<'_> {
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

    fn command(&mut self) -> Option<()> {
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
            'p' | 'd' | '=' | 'P' | 'D' | 'h' | 'H' | 'g' | 'G' | 'x' | 'n' | 'N' => Some(()),
            'q' | 'Q' => {
                self.number();
                Some(())
            }
            's' => self.substitution(),
            'y' => {
                let delimiter = self.delimiter()?;
                self.until(delimiter)?;
                self.until(delimiter)
            }
            _ => None,
        }
    }

    /// True if there was an address, `None` if it is malformed.
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
        if self.eat('/') {
            self.until('/')?;
            self.skip(|c| matches!(c, 'I' | 'M'));
            return Some(true);
        }
        Some(false)
    }

    fn number(&mut self) -> bool {
        let before = self.rest.len();
        self.skip(|c| c.is_ascii_digit());
        self.rest.len() < before
    }

    fn delimiter(&mut self) -> Option<char> {
        self.next().filter(|c| c.is_ascii_punctuation() && *c != '\\')
    }

    fn substitution(&mut self) -> Option<()> {
        let delimiter = self.delimiter()?;
        self.until(delimiter)?;
        self.until(delimiter)?;
        // `e` runs the result, `w` writes it.
        self.skip(|c| matches!(c, 'g' | 'p' | 'i' | 'I' | 'm' | 'M') || c.is_ascii_digit());
        Some(())
    }

    /// Past the delimiter. A bracket that contains it would read differently among versions.
    fn until(&mut self, delimiter: char) -> Option<()> {
        let mut bracket = false;
        loop {
            match self.next()? {
                '\\' => {
                    self.next()?;
                }
                '\n' => return None,
                c if c == delimiter => return (!bracket || delimiter == ']' || delimiter == '[').then_some(()),
                '[' => bracket = true,
                ']' => bracket = false,
                _ => {}
            }
        }
    }
}
