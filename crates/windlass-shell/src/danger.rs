//! Commands that are never run.

mod target;

use std::path::Path;

use thiserror::Error;

use crate::{Analysis, DirectoryChange, FoundCommand, RedirectKind, Word, WordKind};
use target::{Places, Target};

/// Why a command is catastrophic.
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

/// Finds what must never run, at any nesting: removing or moving `/`, what lies directly in it, other system
/// trees, the home directory, the working directory or a parent of either; changing permissions of such trees (but
/// the working directory) as a whole; `"$VAR"/*`; writing to raw devices; fork bombs.
///
/// `cwd` and `home` are absolute; links are not followed, so give the resolved forms. The answer never depends on
/// whether the text was understood.
#[must_use]
pub fn catastrophic(analysis: &Analysis, cwd: &Path, home: &Path) -> Option<Catastrophe> {
    if analysis.has_fork_bomb() {
        return Some(Catastrophe::ForkBomb);
    }
    let mut places = Places::new(cwd, home);
    for command in analysis.found().iter().filter(|c| matches!(c.program(), Some("cd" | "pushd"))) {
        if let Some(directory) = operands(command).next() {
            places.enter(directory);
        }
    }
    if let Ok(DirectoryChange::Leading { certain: true, .. }) =
        analysis.understood().map(crate::Understood::directory_change)
    {
        places.leave_start();
    }
    analysis.found().iter().find_map(|command| device(command).or_else(|| tree(command, &places)))
}

fn operands(command: &FoundCommand) -> impl Iterator<Item = &Word> {
    command.words().iter().skip(1).filter(|w| !w.text().starts_with('-'))
}

fn has_flag(command: &FoundCommand, letters: [char; 2], long: &str) -> bool {
    command.words().iter().skip(1).map(Word::text).any(|text| {
        // Abbreviations count.
        let is_long = text.strip_prefix("--").is_some_and(|name| !name.is_empty() && long.starts_with(name));
        is_long || (text.starts_with('-') && !text.starts_with("--") && text.contains(letters))
    })
}

fn tree(command: &FoundCommand, places: &Places) -> Option<Catastrophe> {
    let program = command.program()?;
    let unclear = command.words().iter().any(|w| w.kind() == WordKind::Dynamic && w.literal_prefix().is_empty());
    let hit = |skip: usize, is_hit: &dyn Fn(&Target) -> bool| {
        let word = operands(command).skip(skip).find(|word| places.targets(word).iter().any(is_hit))?;
        Some(Catastrophe::Tree { program: program.to_owned(), target: word.source().to_owned() })
    };
    match program {
        "rm" | "rmdir" | "unlink" | "shred" | "srm" | "trash" => {
            let recursive = unclear || has_flag(command, ['r', 'R'], "recursive");
            hit(0, &|target| target.is_vital() || (recursive && target.is_all_of_cwd()))
        }
        "mv" => {
            let sources = operands(command).count().saturating_sub(1);
            let word =
                operands(command).take(sources).find(|word| places.targets(word).iter().any(Target::is_vital))?;
            Some(Catastrophe::Tree { program: program.to_owned(), target: word.source().to_owned() })
        }
        "chmod" | "chown" | "chgrp" | "setfacl" | "chattr" if has_flag(command, ['R', 'R'], "recursive") => {
            hit(1, &|target| target.is_vital() && !target.is_cwd())
        }
        "find" => find(command, places),
        _ => None,
    }
}

/// `find` without a filter, from a vital directory, with an action that removes.
fn find(command: &FoundCommand, places: &Places) -> Option<Catastrophe> {
    let words = command.words().get(1..).unwrap_or_default();
    let filters = words.iter().map(Word::text).any(|test| {
        [
            "-name", "-iname", "-path", "-ipath", "-regex", "-iregex", "-newer", "-size", "-mtime", "-mmin", "-empty",
            "-user",
        ]
        .contains(&test)
    });
    let removes =
        words.iter().any(|w| matches!(w.text().rsplit('/').next(), Some("-delete" | "rm" | "shred" | "unlink")));
    if filters || !removes {
        return None;
    }
    let starts = words.iter().skip_while(|w| matches!(w.text(), "-P" | "-L" | "-H"));
    let mut starts = starts.take_while(|w| !w.text().starts_with(['-', '(', '!']));
    let start = starts.find(|w| places.targets(w).iter().any(|t| t.is_vital() && !t.is_cwd()))?;
    Some(Catastrophe::Tree { program: "find".to_owned(), target: start.source().to_owned() })
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
