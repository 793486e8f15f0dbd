//! Variables that change which programs run.

use super::{carried::has_input_as_file, reader::ScriptReader, wrappers};
use crate::reason::Undecided;
use crate::word::{Word, WordPiece, base_name};
use windlass_types::locale::{CharacterSet, VARIABLES, character_set};

/// Variables whose value some program runs, also with something before the name.
const COMMANDS: &[&str] = &["PAGER", "EDITOR", "VISUAL", "BROWSER", "LESSOPEN", "LESSCLOSE", "_ASKPASS", "_RSH"];

/// The same, by their whole names.
const COMMAND_NAMES: &[&str] = &[
    "AR",
    "AS",
    "CARGO_BUILD_RUSTC",
    "CARGO_BUILD_RUSTC_WRAPPER",
    "CARGO_BUILD_RUSTC_WORKSPACE_WRAPPER",
    "CARGO_BUILD_RUSTDOC",
    "CC",
    "CONFIG_SHELL",
    "CPP",
    "CXX",
    "FC",
    "FZF_DEFAULT_COMMAND",
    "LD",
    "PROMPT_COMMAND",
    "PS0",
    "PS4",
    "RUSTC",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTC_WRAPPER",
    "RUSTDOC",
    "SHELL",
    "npm_config_script_shell",
];

/// Variables that let programs be found elsewhere, or run another program before them.
const LOOKUPS: &[&str] = &[
    "BASHOPTS",
    "BASH_ALIASES",
    "BASH_CMDS",
    "BASH_ENV",
    "GCONV_PATH",
    "GIT_ALLOW_PROTOCOL",
    "GIT_EXEC_PATH",
    "GIT_TEMPLATE_DIR",
    "GNUMAKEFLAGS",
    "HGRCPATH",
    "LD_AUDIT",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "LOCALE_ARCHIVE",
    "LOCPATH",
    "MAKEFLAGS",
    "MFLAGS",
    "PATH",
    "PERL5DB",
    "PERL5OPT",
    "RIPGREP_CONFIG_PATH",
    "RUBYOPT",
    "SHELLOPTS",
    "TAR_OPTIONS",
];

const SYSTEM_DIRECTORIES: &[&str] = &["/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"];

fn changes_lookup(name: &str) -> bool {
    LOOKUPS.contains(&name)
        || ["BASH_FUNC_", "CARGO_ALIAS_", "DYLD_"].iter().any(|start| name.starts_with(start))
        || (name.starts_with("GIT_CONFIG_") && name != "GIT_CONFIG_NOSYSTEM")
}

/// Returns `true` for values with which a variable leaves programs as they are.
fn is_without_effect(name: &str, value: &str) -> bool {
    name.starts_with("GIT_CONFIG_") && matches!(value, "" | "/dev/null")
}

/// Returns `true` for the variables that choose the character set in which shells and programs read the rest of the
/// text.
fn chooses_character_set(name: &str) -> bool {
    VARIABLES.contains(&name)
}

/// Returns `true` if an assignment leaves the character set one in which the text is analysed.
fn keeps_character_set(word: &Word, target: &str, value: &str) -> bool {
    let known = value.is_empty() || character_set(value) != CharacterSet::Unknown;
    word.is_literal() && known && !target.ends_with(['+', ']'])
}

fn names_command(name: &str) -> bool {
    COMMANDS.iter().any(|ending| name.ends_with(ending))
        || COMMAND_NAMES.contains(&name)
        || (name.starts_with("GIT_") && ["_COMMAND", "_DIFF", "_SSH"].iter().any(|ending| name.ends_with(ending)))
        || name.starts_with("GIT_CONFIG_VALUE_")
        || (name.starts_with("CARGO_") && ["_LINKER", "_RUNNER"].iter().any(|ending| name.ends_with(ending)))
}

impl ScriptReader<'_, '_> {
    /// Handles `NAME=value`, `NAME+=value` or `NAME[…]=value` in the place of an assignment.
    pub(super) fn assigned(&mut self, word: &Word) {
        let Some((target, value)) = word.text().split_once('=') else { return };
        let name = target.trim_end_matches('+').split('[').next().unwrap_or_default();
        let loads = name == "NODE_OPTIONS" && ["--import", "loader"].iter().any(|option| value.contains(option));
        let misread = chooses_character_set(name) && !keeps_character_set(word, target, value);
        let keeps =
            (name == "PATH" && keeps_programs(word, value)) || (word.is_literal() && is_without_effect(name, value));
        // `go -toolexec`, `-exec` and the like for every command.
        let loads = loads || (name == "GOFLAGS" && (value.contains("exec") || value.contains("vettool")));
        if loads || misread || (changes_lookup(name) && !keeps) {
            self.undecided(Undecided::Variable);
        }
        if names_command(name) {
            self.command_value(value);
        }
    }

    /// Handles the arguments of `export`, `declare` and their kin.
    pub(super) fn declared(&mut self, args: &[Word]) {
        for arg in args {
            self.assigned(arg);
            self.note_assignment(arg);
            // A name that is not known, or a reference to another variable.
            let unknown = !arg.is_literal() && !arg.literal_prefix().contains('=');
            let decides = |value: &str| changes_lookup(value) || chooses_character_set(value);
            let refers = arg.text().split_once('=').is_some_and(|(_, value)| decides(value));
            if unknown || refers {
                self.undecided(Undecided::Variable);
            }
        }
    }

    /// Handles words of which each may be the name of a variable that is set.
    pub(super) fn named(&mut self, words: &[Word]) {
        self.decided_by(words, |name| changes_lookup(name) || chooses_character_set(name));
    }

    /// Handles the arguments of `unset`. A character set that is no longer chosen is the one that programs were started
    /// with.
    pub(super) fn removed(&mut self, words: &[Word]) {
        self.decided_by(words, changes_lookup);
    }

    fn decided_by(&mut self, words: &[Word], decides: fn(&str) -> bool) {
        let name = |word: &Word| word.text().trim_start_matches("-v").split('[').next().is_some_and(decides);
        if words.iter().any(|word| !word.is_literal() || name(word)) {
            self.undecided(Undecided::Variable);
        }
    }

    /// Handles `make SHELL=…`, `make --eval=…`.
    pub(super) fn make(&mut self, args: &[Word]) {
        if has_input_as_file(args) {
            self.undecided(Undecided::Script);
        }
        for arg in args {
            let text = arg.text();
            let long = text.strip_prefix("--").map(|long| long.split_once('=').map_or(long, |(name, _)| name));
            let evaluates = long.is_some_and(|name| !name.is_empty() && "eval".starts_with(name));
            // Bundled with other letters too, before one whose value is the rest.
            let mut letters = text.strip_prefix('-').unwrap_or_default().chars();
            let bundled = letters.find(|c| "ECIWfo-".contains(*c)) == Some('E');
            if evaluates || bundled {
                self.undecided(Undecided::Script);
            } else if let Some((target, value)) = text.split_once('=').filter(|_| !text.starts_with('-')) {
                let name = target.trim_end_matches([':', '+', '?', '!', ' ']);
                if names_command(name) {
                    self.command_value(value.trim_start());
                } else if changes_lookup(name) || chooses_character_set(name) || name == ".SHELLFLAGS" {
                    self.undecided(Undecided::Variable);
                }
            }
        }
    }

    /// Handles a command line. The input of a shell by itself is known.
    fn command_value(&mut self, value: &str) {
        let command = value.trim_start_matches(['|', '!', ' ']);
        if wrappers::SHELLS.contains(&base_name(command)) {
            self.sink.push(&[Word::literal(command)], Vec::new());
        } else {
            self.nested_script(command);
        }
    }
}

/// Returns `true` if a new PATH finds the same programs as the old one: it appends to the old one, or has system
/// directories alone.
fn keeps_programs(word: &Word, value: &str) -> bool {
    let text = |piece: &WordPiece| match piece {
        WordPiece::Text { text, .. } => Some(text.clone()),
        _ => None,
    };
    let head: String = word.pieces().iter().map_while(text).collect();
    let mut tail = word.pieces().iter().skip_while(|piece| text(piece).is_some());
    let old = matches!(tail.next(), Some(WordPiece::Param(name)) if name == "PATH");
    let mut after = tail.skip_while(|piece| text(piece).is_some_and(|text| text.is_empty()));
    let continues =
        head == "PATH=" && old && after.next().is_none_or(|piece| text(piece).is_some_and(|t| t.starts_with(':')));
    let appends = word.text().starts_with("PATH+=:");
    continues || appends || (word.is_literal() && value.split(':').all(|part| SYSTEM_DIRECTORIES.contains(&part)))
}
