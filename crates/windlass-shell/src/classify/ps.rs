//! `ps`: some spellings of `e` print the environment of every process, as do some columns.

use super::effect::{Classification, Findings};
use crate::Word;

const COLUMNS: &[&str] = &[
    "%cpu", "%mem", "args", "cmd", "comm", "command", "cputime", "etime", "etimes", "euser", "gid", "group", "lstart",
    "ni", "nlwp", "pcpu", "pgid", "pid", "pmem", "ppid", "pri", "psr", "rss", "s", "sid", "start", "stat", "state",
    "time", "tid", "tty", "uid", "user", "vsz", "wchan",
];

/// Options with a dash that may stand in one word; `-e` beside them.
pub(super) const FORMATS: &str = "fFjlL";
pub(super) const CHOICES: &str = "AadHw";
/// Options with a dash and a word behind them. `-u` may also stand alone.
pub(super) const VALUED: &str = "opuC";
pub(super) const LONG: &[&str] = &["forest", "no-headers", "headers"];
pub(super) const LONG_VALUED: &[&str] = &["sort", "pid", "ppid"];

/// Combined meaning of the options seen so far.
#[derive(Default)]
struct PsOptions {
    /// `-e`, which among options without a dash, or read as one of them, is the environment.
    every: bool,
    /// Options without a dash.
    undashed: bool,
    /// A choice that may fail: then all options are read again as if they had no dash.
    chosen: bool,
    /// Number of formats requested: two that do not go together fail too.
    formats: usize,
}

pub(super) fn classify(args: &[Word]) -> Findings {
    let args: Option<Vec<&str>> = args.iter().map(Word::as_literal).collect();
    let args = args?;
    let mut args = args.iter().copied();
    let mut seen = PsOptions::default();
    while let Some(arg) = args.next() {
        if arg == "-aux" {
            // The word means `aux`, but with `-e` each letter has its own meaning.
            seen.undashed = true;
        } else if let Some(long) = arg.strip_prefix("--") {
            seen.long(long, &mut args)?;
        } else if let Some(letters) = arg.strip_prefix('-') {
            seen.dashed(letters, &mut args)?;
        } else {
            seen.undashed(arg, &mut args)?;
        }
    }
    let environment = seen.every && (seen.undashed || seen.chosen || seen.formats > 1);
    (!environment).then(|| Classification::reading(Vec::new()))
}

impl PsOptions {
    fn long<'a>(&mut self, long: &str, args: &mut impl Iterator<Item = &'a str>) -> Option<()> {
        match long {
            long if LONG.contains(&long) => Some(()),
            "sort" => is_order(args.next()?).then_some(()),
            long if LONG_VALUED.contains(&long) => {
                self.chosen = true;
                is_ids(args.next()?).then_some(())
            }
            _ => is_order(long.strip_prefix("sort=")?).then_some(()),
        }
    }

    fn dashed<'a>(&mut self, letters: &str, args: &mut impl Iterator<Item = &'a str>) -> Option<()> {
        let mut letters = letters.chars();
        while let Some(letter) = letters.next() {
            match letter {
                'e' => self.every = true,
                letter if CHOICES.contains(letter) => {}
                letter if FORMATS.contains(letter) => self.formats = self.formats.saturating_add(1),
                letter if VALUED.contains(letter) && letters.as_str().is_empty() => return self.valued(letter, args),
                _ => return None,
            }
        }
        Some(())
    }

    fn valued<'a>(&mut self, letter: char, args: &mut impl Iterator<Item = &'a str>) -> Option<()> {
        if letter == 'o' {
            self.formats = self.formats.saturating_add(1);
            return is_columns(args.next()?).then_some(());
        }
        self.chosen = true;
        let name = |text: &str| {
            let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ',' | '.');
            !text.is_empty() && !text.starts_with('-') && text.chars().all(plain)
        };
        match (letter, args.next()) {
            ('p', ids) => is_ids(ids?).then_some(()),
            // Alone it is a format.
            ('u', None) => Some(()),
            (_, value) => name(value?).then_some(()),
        }
    }

    fn undashed<'a>(&mut self, word: &str, args: &mut impl Iterator<Item = &'a str>) -> Option<()> {
        self.undashed = true;
        let letters = word.strip_suffix('o');
        if !letters.unwrap_or(word).chars().all(|c| "afjlruwx".contains(c)) {
            return None;
        }
        letters.map_or(Some(()), |_| is_columns(args.next()?).then_some(()))
    }
}

fn is_columns(text: &str) -> bool {
    text.split(',').all(|name| COLUMNS.contains(&name.trim_end_matches('=')))
}

fn is_order(text: &str) -> bool {
    text.split(',').all(|name| COLUMNS.contains(&name.trim_start_matches(['+', '-'])))
}

fn is_ids(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || c == ',')
}
