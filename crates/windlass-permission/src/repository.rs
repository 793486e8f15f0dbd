//! Version control runs programs that the repository around it configures: the owner of the repository decides if a
//! rule covers it.

use crate::places::Places;
use std::path::{Path, PathBuf};
use windlass_shell::{Analysis, Word};

/// Programs that look for a repository around the current directory and obey its configuration.
const PROGRAMS: &[&str] = &[
    "bzr", "brz", "darcs", "fossil", "gh", "git", "gitk", "gitui", "glab", "hg", "hub", "jj", "lazygit", "pijul", "sl",
    "svn", "tig",
];

/// Programs that a rule is looked through, to the command behind them.
const WRAPPERS: &[&str] = &["builtin", "command", "nice", "nohup", "stdbuf", "time", "timeout", "xargs"];

/// Names that make a repository of the directory they stand in. `HEAD` is in those without a working tree.
pub const REPOSITORY_NAMES: &[&str] =
    &[".git", "HEAD", ".hg", ".jj", ".sl", ".svn", ".bzr", "_darcs", ".pijul", ".fslckout", "_FOSSIL_"];

/// Returns `true` if a command runs version control.
pub(crate) fn is_version_control(words: &[Word]) -> bool {
    let name = |word: &Word| word.text().rsplit('/').next().map(str::to_ascii_lowercase).unwrap_or_default();
    let is_one = |name: &str| PROGRAMS.contains(&name) || name.starts_with("git-");
    let Some(first) = words.first().map(name) else { return false };
    is_one(&first) || (WRAPPERS.contains(&first.as_str()) && words.iter().skip(1).any(|word| is_one(&name(word))))
}

/// Returns the directories in which a text may run version control, as written; none if it does not. A driver looks
/// there for [`REPOSITORY_NAMES`], see [`CommandFacts::in_own_repository`](crate::CommandFacts::in_own_repository).
#[must_use]
pub fn version_control_places(analysis: &Analysis, cwd: &Path) -> Vec<PathBuf> {
    match analysis.found().iter().any(|command| is_version_control(command.words())) {
        true => Places::new(analysis, cwd, None).bases,
        false => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_control_is_found_where_it_runs() {
        let places = |text: &str| version_control_places(&windlass_shell::analyse(text), Path::new("/w"));
        assert_eq!(places("git status"), [Path::new("/w")]);
        for text in ["cd sub && git status", "cd sub; timeout -s KILL 5 /usr/bin/git log", "cd sub && xargs -r hg st"] {
            assert_eq!(places(text), [Path::new("/w"), Path::new("/w/sub")], "{text}");
        }
        assert_eq!(places("cd sub && git-lfs ls-files").len(), 2);
        for text in ["cd sub && ls", "cd sub && grep git README.md", "npm test"] {
            assert!(places(text).is_empty(), "{text}");
        }
    }
}
