//! Names that a command line itself gives to commands of its program: `git -c alias.p=push p`.

use super::reader::ScriptReader;
use crate::{Undecided, Word, grammar};

/// The options of a program that set a value of its configuration, and the section of the names in it.
struct Naming {
    program: &'static str,
    options: &'static [&'static str],
    section: &'static str,
    /// Settings that let the program take its commands from other places, or correct mistyped ones; in lower case.
    other_names: &'static [&'static str],
}

const NAMINGS: &[Naming] = &[
    Naming {
        program: "git",
        options: &["-c"],
        section: "alias.",
        other_names: &["help.autocorrect", "include.path", "includeif."],
    },
    Naming { program: "cargo", options: &["--config"], section: "alias.", other_names: &["include"] },
    Naming { program: "hg", options: &["--config"], section: "alias.", other_names: &["extensions."] },
    Naming { program: "jj", options: &["--config", "--config-toml"], section: "aliases.", other_names: &[] },
];

/// A name that the line gives to a command.
struct Alias {
    name: String,
    value: String,
}

impl Naming {
    /// Returns the values of its options in a command line, each with the place behind it.
    fn settings<'w>(&self, words: &'w [Word]) -> Vec<(&'w Word, &'w str)> {
        let mut settings = Vec::new();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            for option in self.options {
                match word.text().strip_prefix(option) {
                    Some("") => settings.extend(words.next().map(|value| (value, value.text()))),
                    Some(rest) => settings.extend(rest.strip_prefix('=').map(|value| (word, value))),
                    None => {}
                }
            }
        }
        settings
    }

    /// Returns the alias of a setting. Programs that read a list of words get its words.
    fn alias(&self, setting: &str) -> Option<Alias> {
        let (key, value) = setting.split_once('=')?;
        let key = key.trim().to_ascii_lowercase();
        let name = key.strip_prefix(self.section)?.trim_matches(['"', '\'']);
        let name = name.strip_suffix(".command").filter(|_| self.program == "git").unwrap_or(name);
        let value = match self.program {
            "cargo" | "jj" => value.replace(['[', ']', ','], " ").replace(['"', '\''], ""),
            _ => value.to_owned(),
        };
        Some(Alias { name: name.to_owned(), value })
    }

    fn names_elsewhere(&self, setting: &str) -> bool {
        let key = setting.trim_start().to_ascii_lowercase();
        self.other_names.iter().any(|name| key.starts_with(name)) || (self.program != "git" && !setting.contains('='))
    }
}

impl ScriptReader<'_, '_> {
    /// Records the commands that a line runs by names which it gives itself.
    pub(super) fn aliased(&mut self, program: &str, words: &[Word], wrapped: usize) {
        let Some(naming) = NAMINGS.iter().find(|naming| naming.program == program) else { return };
        let mut aliases = Vec::new();
        for (word, setting) in naming.settings(words) {
            if naming.names_elsewhere(setting) || (!word.is_literal() && naming.program != "git") {
                self.undecided(Undecided::Script);
            }
            aliases.extend(naming.alias(setting));
        }
        for Alias { name, value } in aliases {
            let is_called = |word: &Word| word.as_literal().is_some_and(|text| text.eq_ignore_ascii_case(&name));
            let Some(at) = words.iter().skip(1).position(is_called).map(|at| at.saturating_add(1)) else { continue };
            let (before, call) = words.split_at_checked(at).unwrap_or((words, &[]));
            let rest = call.get(1..).unwrap_or_default();
            match value.trim_start().strip_prefix('!') {
                Some(script) => {
                    let rest: Vec<&str> = rest.iter().map(Word::source).collect();
                    self.nested_script(&format!("{script} {}", rest.join(" ")));
                }
                None => {
                    let named = grammar::literal_words(&value)
                        .unwrap_or_else(|| value.split_whitespace().map(str::to_owned).collect());
                    let named: Vec<Word> = named.iter().map(|word| Word::literal(word)).collect();
                    // The program refuses a name that is its own alias, or takes its own command.
                    if named.first().is_some_and(is_called) {
                        continue;
                    }
                    self.emit(&[before, &named, rest].concat(), Vec::new(), wrapped.saturating_add(1));
                }
            }
        }
    }
}
