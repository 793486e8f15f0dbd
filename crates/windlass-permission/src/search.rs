//! Searches of whole trees: the files below that a program reads.

use crate::transfer::program_behind;
use crate::wildcard::Wildcard;
use std::ffi::OsStr;
use std::path::Path;
use windlass_shell::Word;

/// A program that reads the content of all files below its operands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct TreeSearch {
    /// `true` if files and folders are read even if their names begin with a dot.
    hidden: bool,
    /// Patterns of names that files must have; empty for all.
    included: Vec<String>,
    /// Patterns of names of files and folders that are passed over.
    excluded: Vec<String>,
}

impl TreeSearch {
    /// Returns the search of a command, if it prints the contents of the files below its operands.
    pub(crate) fn by(words: &[Word]) -> Option<Self> {
        let texts: Vec<&str> = words.iter().map(Word::text).collect();
        let short = |letter: char| {
            let has = |text: &&str| text.starts_with('-') && !text.starts_with("--") && text.contains(letter);
            texts.iter().filter(|text| has(text)).map(|text| text.matches(letter).count()).sum::<usize>()
        };
        match program_behind(words) {
            "grep" | "egrep" | "fgrep" | "zgrep" | "diff" => Some(Self {
                hidden: true,
                included: values(&texts, &["--include"]),
                excluded: values(&texts, &["--exclude", "--exclude-dir"]),
            }),
            // They choose the files themselves.
            "rg" | "ag" if short('g') + short('t') + short('G') > 0 => None,
            "rg" | "ag" if texts.iter().any(|text| text.starts_with("--glob") || text.starts_with("--type")) => None,
            "rg" | "ag" => {
                let all = short('u') > 1 || short('.') > 0 || texts.contains(&"--hidden");
                Some(Self { hidden: all, ..Self::default() })
            }
            _ => None,
        }
    }

    /// Returns the search of a program that gets the names which another one lists, by the pattern of these names.
    pub(crate) fn of_listed(name: Option<&str>) -> Self {
        Self { hidden: true, included: name.into_iter().map(str::to_owned).collect(), excluded: Vec::new() }
    }

    /// Returns `true` if the search reads a file, by its path below the operand.
    pub(crate) fn reads(&self, below: &Path) -> bool {
        let names = || below.iter().map(OsStr::to_string_lossy);
        let Some(file) = names().next_back() else { return false };
        let is_hidden = names().any(|name| name.starts_with('.'));
        let fits = |pattern: &String, name: &str| Wildcard::new(pattern).matches(name);
        // Other pattern characters may match anything.
        let may_fit = |pattern: &String| pattern.contains(['?', '[', '\\']) || fits(pattern, &file);
        (self.hidden || !is_hidden)
            && (self.included.is_empty() || self.included.iter().any(may_fit))
            && !self.excluded.iter().any(|pattern| names().any(|name| fits(pattern, &name)))
    }
}

/// Returns the values of options that are written `--name=value` or as two words.
fn values(texts: &[&str], options: &[&str]) -> Vec<String> {
    let mut values = Vec::new();
    for (at, text) in texts.iter().enumerate() {
        for option in options {
            match text.strip_prefix(option) {
                Some("") => values.extend(texts.get(at.saturating_add(1)).map(|value| (*value).to_owned())),
                Some(rest) => values.extend(rest.strip_prefix('=').map(str::to_owned)),
                None => {}
            }
        }
    }
    values
}
