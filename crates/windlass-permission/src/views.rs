//! File contents that commands of version control print or copy: from the history, the index or the working tree.

mod git_command;
mod pathspec;

use self::git_command::{GitCommand, is_named};
use self::pathspec::Origin;
use crate::facts::Standing;
use crate::path::{as_written, normalize};
use std::path::{Path, PathBuf};
use windlass_shell::Word;
use windlass_types::secret::is_secret;

/// A path whose content a git command may show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) path: PathBuf,
    /// `true` if the contents of entries below the path are shown, too.
    pub(crate) tree: bool,
    /// `true` if only files that git tracks now are shown.
    pub(crate) tracked: bool,
}

/// Returns the paths whose content a git command may show, from the directories it may run in. `end` returns the entry
/// at a path as written: git takes a word for a path if that path exists.
pub(crate) fn shown(
    words: &[Word],
    bases: &[PathBuf],
    roots: &[PathBuf],
    end: &dyn Fn(&Path) -> Standing,
) -> Vec<Shown> {
    let Some(command) = GitCommand::parse(words) else { return shown_by_others(words, bases, roots) };
    let mut paths = Vec::new();
    for base in bases {
        let base = command.directories.iter().fold(base.clone(), |base, next| as_written(&base, Path::new(next)));
        let ends = |word: &str| end(&as_written(&base, Path::new(word)));
        let view = command.view(&|word| matches!(ends(word), Standing::Directory | Standing::Leaf));
        // These commands print the names in a directory, not the contents below it, or accept only files.
        let names_only = matches!(command.name, "annotate" | "blame" | "cat-file" | "log" | "show");
        view.paths(&normalize(Path::new("/"), &base), roots, &mut |path, origin| {
            let tree = match origin {
                Origin::Blob => !names_only,
                Origin::Named(word) => ends(word) != Standing::Leaf,
                Origin::Tree => true,
            };
            // A place of secrets is one itself, even while nothing is there.
            if tree && is_secret(&path) {
                paths.push(Shown { path: path.clone(), tree: false, tracked: view.tracked });
            }
            paths.push(Shown { path, tree, tracked: view.tracked });
        });
    }
    paths
}

/// Programs of version control beside git.
const OTHERS: &[&str] = &["bzr", "brz", "darcs", "fossil", "gh", "glab", "hg", "jj", "pijul", "sl", "svn", "tig"];

/// Their sub-commands that show content, whatever their options.
const SHOWING: &[&str] = &[
    "annotate",
    "archive",
    "blame",
    "bundle",
    "cat",
    "clone",
    "diff",
    "export",
    "extdiff",
    "file",
    "grep",
    "interdiff",
    "obslog",
    "praise",
    "print",
    "show",
];

/// Contents that a version control program other than git may show: everything, if it shows content at all. Paths among
/// its words are judged as such.
fn shown_by_others(words: &[Word], bases: &[PathBuf], roots: &[PathBuf]) -> Vec<Shown> {
    let mut texts = words.iter().map(Word::text);
    let program = texts.next().and_then(|program| program.rsplit('/').next()).unwrap_or_default();
    let shows =
        |word: &str| SHOWING.contains(&word) || is_named(word, "patch", 'p', &[]) || is_named(word, "diff", '\0', &[]);
    if !OTHERS.contains(&program) || !texts.any(shows) {
        return Vec::new();
    }
    let top = |base: &PathBuf| {
        base.ancestors()
            .take_while(|above| roots.iter().any(|root| above.starts_with(root)))
            .last()
            .map(Path::to_path_buf)
    };
    bases
        .iter()
        .map(|base| Shown { path: top(base).unwrap_or_else(|| base.clone()), tree: true, tracked: false })
        .collect()
}

/// Returns the sub-command of a git command.
pub(crate) fn subcommand(words: &[Word]) -> Option<&str> {
    GitCommand::parse(words).map(|command| command.name)
}

#[cfg(all(test, target_os = "linux"))]
mod patches;
#[cfg(test)]
mod tests;
