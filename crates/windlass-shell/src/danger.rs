//! Commands that are never run.

mod code;
mod indirect;
mod target;

use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::{Analysis, Directories, FoundCommand, RedirectKind, Word, WordKind};
use target::{Bases, OperandTarget, TargetDirectories};

/// Reason why a command is catastrophic.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Catastrophe {
    /// Removes or moves a whole tree that matters, or changes its permissions.
    #[error("`{program}` on `{target}` would hit a whole system, home or working tree")]
    Tree {
        /// The program, for example `rm`.
        program: String,
        /// The operand as written.
        target: String,
    },
    /// Writes to a raw device or makes a file system.
    #[error("`{program}` would overwrite a raw device")]
    Device {
        /// The program or the redirection.
        program: String,
    },
    /// Starts copies of itself without end.
    #[error("a function that starts itself in the background or a pipe (fork bomb)")]
    ForkBomb,
}

/// Finds commands that must never run, at any nesting: removing or moving `/`, its direct entries, other system trees,
/// the home directory, the working directory or a parent of either; changing permissions of such trees (but the working
/// directory) as a whole; `"$VAR"/*`, and `"$VAR"/` of a variable that the text does not set; writing to raw devices; fork bombs.
///
/// `cwd` and `home` are absolute, with links resolved. `resolve` returns the target of a path as written, with each
/// `..` still in it, when all links are followed; `None` if the target is unknown: then only the text of the path is
/// judged. The answer never depends on whether the text was understood.
#[must_use]
pub fn catastrophic(
    analysis: &Analysis,
    cwd: &Path,
    home: &Path,
    resolve: &dyn Fn(&Path) -> Option<PathBuf>,
) -> Option<Catastrophe> {
    if analysis.has_fork_bomb() {
        return Some(Catastrophe::ForkBomb);
    }
    let places = TargetDirectories::new(analysis.text(), cwd, home, resolve);
    let bases = AllBases::new(analysis, &places);
    analysis.found().iter().find_map(|command| {
        device(command).or_else(|| tree(command, &CommandPlaces { places: &places, bases: bases.of(command) }))
    })
}

/// A command that may be catastrophic by what it is handed while it runs.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Suspicion {
    /// Names that one command prints are removed by another one.
    #[error("`{remover}` would remove what `{lister}` names")]
    Handed {
        /// The command that removes, for example `xargs rm -rf`.
        remover: String,
        /// The command or the text that names a whole tree, for example `ls /`.
        lister: String,
    },
    /// Code of an interpreter names a whole tree and something that removes.
    #[error("the code for `{program}` names `{target}` and something that removes")]
    Code {
        /// The interpreter, for example `python3`.
        program: String,
        /// The tree as the code names it.
        target: String,
    },
    /// A script is put together from a variable, and removes what the variable holds.
    #[error("`{program}` gets a script that removes what `{target}` holds, which is not known")]
    Script {
        /// The shell, for example `sh`.
        program: String,
        /// The operand as the script has it.
        target: String,
    },
}

/// Finds what may be as bad as [`catastrophic`] and depends on what a command is handed: names from a pipe or a substitution
/// (`ls / | xargs rm -rf`), readable code of interpreters, arguments of functions, scripts made of a variable.
///
/// The arguments are those of [`catastrophic`].
#[must_use]
pub fn suspicious(
    analysis: &Analysis,
    cwd: &Path,
    home: &Path,
    resolve: &dyn Fn(&Path) -> Option<PathBuf>,
) -> Option<Suspicion> {
    let places = TargetDirectories::new(analysis.text(), cwd, home, resolve);
    let bases = AllBases::new(analysis, &places);
    indirect::handed(analysis, &places, &bases)
        .or_else(|| code::code(analysis, &places))
        .or_else(|| indirect::made_script(analysis))
}

/// The bases of the commands of a text.
struct AllBases<'a> {
    /// For each understood command its words and its bases.
    of_commands: Vec<(&'a [Word], Bases)>,
    /// For a command that is none of these.
    any: Bases,
}

impl<'a> AllBases<'a> {
    fn new(analysis: &'a Analysis, places: &TargetDirectories<'_>) -> Self {
        let followed = match (analysis.directories(places.start()), analysis.understood()) {
            (Directories::Followed(followed), Ok(understood)) => followed.into_iter().zip(understood.commands()),
            _ => return Self { of_commands: Vec::new(), any: places.after(changes(analysis)) },
        };
        let of_commands: Vec<_> =
            followed.map(|(directories, command)| (command.words(), Bases::new(directories))).collect();
        let any = of_commands.iter().flat_map(|(_, bases)| bases.directories()).cloned().collect();
        Self { of_commands, any: Bases::new(any) }
    }

    /// Returns directories in which a found command may run: as one of the understood commands, or behind the wrapper
    /// of one.
    fn of(&self, command: &FoundCommand) -> &Bases {
        let ends = |words: &[Word]| {
            let tail = words.len().checked_sub(command.words().len()).and_then(|start| words.get(start..));
            tail.is_some_and(|tail| tail.iter().zip(command.words()).all(|(a, b)| a.text() == b.text()))
        };
        let mut fitting = self.of_commands.iter().filter(|(words, _)| ends(words)).map(|(_, bases)| bases);
        match (fitting.next(), fitting.next()) {
            (Some(only), None) => only,
            _ => &self.any,
        }
    }
}

/// Returns the operands of all changes of the directory: `None` for one that leads home.
fn changes(analysis: &Analysis) -> impl Iterator<Item = Option<&Word>> {
    analysis.found().iter().filter_map(|command| match (command.program(), operands(command).next()) {
        (Some("cd" | "pushd"), Some(operand)) => Some(Some(operand)),
        (Some("cd"), None) if command.words().len() == 1 => Some(None),
        _ => None,
    })
}

/// The places of a text, and those of one command in it.
struct CommandPlaces<'a> {
    places: &'a TargetDirectories<'a>,
    bases: &'a Bases,
}

impl CommandPlaces<'_> {
    /// Returns the paths that an operand may name. `follows`: whether the program goes through a link that the operand
    /// ends in.
    fn targets(&self, word: &Word, follows: bool) -> Vec<OperandTarget> {
        self.places.targets(word, self.bases, follows)
    }
}

fn operands(command: &FoundCommand) -> impl Iterator<Item = &Word> {
    command.words().iter().skip(1).filter(|w| !w.text().starts_with('-'))
}

fn has_flag(command: &FoundCommand, letters: [char; 2], long: &str) -> bool {
    command.words().iter().skip(1).map(Word::text).any(|text| {
        // Abbreviations match too.
        let is_long = text.strip_prefix("--").is_some_and(|name| !name.is_empty() && long.starts_with(name));
        is_long || (text.starts_with('-') && !text.starts_with("--") && text.contains(letters))
    })
}

fn tree(command: &FoundCommand, here: &CommandPlaces<'_>) -> Option<Catastrophe> {
    let program = command.program()?;
    let unclear = command.words().iter().any(|w| w.kind() == WordKind::Dynamic && w.literal_prefix().is_empty());
    let hit = |skip: usize, follows: bool, is_hit: &dyn Fn(&OperandTarget) -> bool| {
        let word = operands(command).skip(skip).find(|word| here.targets(word, follows).iter().any(is_hit))?;
        Some(Catastrophe::Tree { program: program.to_owned(), target: word.source().to_owned() })
    };
    match program {
        "rm" | "rmdir" | "unlink" | "shred" | "srm" | "trash" => {
            let recursive = unclear || has_flag(command, ['r', 'R'], "recursive");
            hit(0, false, &|target| target.is_vital() || (recursive && target.is_all_of_cwd()))
        }
        "mv" => {
            let sources = operands(command).count().saturating_sub(1);
            let word = operands(command)
                .take(sources)
                .find(|word| here.targets(word, false).iter().any(OperandTarget::is_vital))?;
            Some(Catastrophe::Tree { program: program.to_owned(), target: word.source().to_owned() })
        }
        "chmod" | "chown" | "chgrp" | "setfacl" | "chattr" if has_flag(command, ['R', 'R'], "recursive") => {
            hit(1, true, &|target| target.is_vital() && !target.is_cwd())
        }
        // Files that the source does not have are removed.
        "rsync" if command.words().iter().any(|word| word.text().starts_with("--del")) => {
            let target = operands(command).last()?;
            let is_hit = here.targets(target, true).iter().any(|target| target.is_vital() && !target.is_cwd());
            is_hit.then(|| Catastrophe::Tree { program: program.to_owned(), target: target.source().to_owned() })
        }
        "find" => find(command, here),
        _ => None,
    }
}

/// `find` without a filter, from a vital directory, with an action that removes.
fn find(command: &FoundCommand, here: &CommandPlaces<'_>) -> Option<Catastrophe> {
    let words = command.words().get(1..).unwrap_or_default();
    let filters = has_filter(words, FILTERS);
    let removes =
        words.iter().any(|w| matches!(w.text().rsplit('/').next(), Some("-delete" | "rm" | "shred" | "unlink")));
    if filters || !removes {
        return None;
    }
    let start = find_start(words, here, &|target| target.is_vital() && !target.is_cwd())?;
    Some(Catastrophe::Tree { program: "find".to_owned(), target: start.source().to_owned() })
}

/// Tests of `find` that choose among files by name.
const NAME_FILTERS: &[&str] =
    &["-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-lname", "-ilname", "-regex", "-iregex"];

/// Tests of `find` that choose among files.
const FILTERS: &[&str] = &[
    "-name", "-iname", "-path", "-ipath", "-regex", "-iregex", "-newer", "-size", "-mtime", "-mmin", "-empty", "-user",
];

/// `true` if one of these tests of `find` leaves files out: not one that every name passes, and none behind `!`.
fn has_filter(words: &[Word], tests: &[&str]) -> bool {
    let before = std::iter::once("").chain(words.iter().map(Word::text));
    let after = words.iter().skip(1).map(Word::text).chain(std::iter::once(""));
    before.zip(words).zip(after).any(|((before, test), value)| {
        let passes_all = || value.split('/').all(|part| part.is_empty() || target::is_everything(part) || part == ".*");
        tests.contains(&test.text()) && !matches!(before, "!" | "-not") && (test.text() == "-empty" || !passes_all())
    })
}

/// The first start of `find` that fits.
fn find_start(words: &[Word], here: &CommandPlaces<'_>, fits: &dyn Fn(&OperandTarget) -> bool) -> Option<Word> {
    let follows = words.iter().any(|word| matches!(word.text(), "-L" | "-H" | "-follow"));
    let starts = words.iter().skip_while(|w| matches!(w.text(), "-P" | "-L" | "-H"));
    let named: Vec<&Word> = starts.take_while(|w| !w.text().starts_with(['-', '(', '!'])).collect();
    // Without a start it begins where it runs.
    let here_itself = Word::literal(".");
    let mut starts = if named.is_empty() { vec![&here_itself] } else { named }.into_iter();
    starts.find(|w| here.targets(w, follows).iter().any(fits)).cloned()
}

fn device(command: &FoundCommand) -> Option<Catastrophe> {
    let writes = |kind| matches!(kind, RedirectKind::Write | RedirectKind::Append);
    if let Some(redirect) = command.redirects().iter().find(|r| writes(r.kind) && is_raw_device(r.target.text())) {
        return Some(Catastrophe::Device { program: format!("> {}", redirect.target.source()) });
    }
    let program = command.program()?;
    let makes_file_system = program == "mkfs" || program.starts_with("mkfs.") || matches!(program, "mke2fs" | "mkswap");
    let hits = match program {
        _ if makes_file_system => operands(command).next().is_some(),
        "dd" => operands(command).filter_map(|w| w.text().strip_prefix("of=")).any(is_raw_device),
        "cp" | "mv" | "install" => operands(command).last().is_some_and(|w| is_raw_device(w.text())),
        "tee" | "shred" | "wipefs" | "blkdiscard" | "truncate" | "sgdisk" | "parted" | "sfdisk" | "cryptsetup" => {
            operands(command).any(|w| is_raw_device(w.text()))
        }
        _ => false,
    };
    hits.then(|| Catastrophe::Device { program: program.to_owned() })
}

fn is_raw_device(path: &str) -> bool {
    let mut parts = path.split('/').filter(|part| !part.is_empty() && *part != ".");
    if !path.starts_with('/') || parts.next() != Some("dev") {
        return false;
    }
    let harmless = [
        "null", "zero", "full", "random", "urandom", "tty", "stdin", "stdout", "stderr", "fd", "shm", "pts", "ptmx",
        "tcp", "udp", "console",
    ];
    parts.next().is_some_and(|name| !harmless.contains(&name))
}

#[cfg(test)]
mod tests;
