//! Git branch of a directory, without running git.

#[cfg(test)]
mod tests;

use crate::open;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Maximum number of parent directories in which a repository is searched.
const MAX_PARENTS: usize = 64;
/// Maximum number of bytes read of a git file.
const MAX_FILE_BYTES: u64 = 4096;

/// Returns the branch that is checked out in the repository around a directory, `HEAD` when there is none (detached).
/// `None` outside a repository or when git's files cannot be parsed. Reads at most two small files; follows worktrees
/// and submodules.
pub fn git_branch(directory: &Path) -> Option<String> {
    let dot_git = directory.ancestors().take(MAX_PARENTS).map(|dir| dir.join(".git")).find(|path| path.exists())?;
    let git_dir = if dot_git.is_dir() { dot_git } else { git_file_target(&dot_git)? };
    let head = read(&git_dir.join("HEAD"))?;
    match head.strip_prefix("ref:") {
        Some(reference) => {
            let reference = reference.trim();
            Some(reference.strip_prefix("refs/heads/").unwrap_or(reference).to_owned()).filter(|name| !name.is_empty())
        }
        None if head.len() >= 40 && head.bytes().all(|byte| byte.is_ascii_hexdigit()) => Some("HEAD".to_owned()),
        None => None,
    }
}

/// `true` if a directory is in a worktree of the repository at `root`. Both must refer to each other.
pub(crate) fn is_worktree_of(directory: &Path, root: &Path) -> bool {
    let check = || {
        let file = directory.ancestors().take(MAX_PARENTS).map(|dir| dir.join(".git")).find(|path| path.exists())?;
        let git_dir = git_file_target(&file)?.canonicalize().ok()?;
        let linked_file = PathBuf::from(read(&git_dir.join("gitdir"))?).canonicalize().ok()?;
        let worktrees = root.join(".git/worktrees").canonicalize().ok()?;
        Some(git_dir.parent() == Some(worktrees.as_path()) && linked_file == file.canonicalize().ok()?)
    };
    check().unwrap_or(false)
}

/// Returns the target of a `.git` file.
fn git_file_target(file: &Path) -> Option<PathBuf> {
    let text = read(file)?;
    let target = Path::new(text.strip_prefix("gitdir:")?.trim());
    Some(file.parent()?.join(target))
}

fn read(path: &Path) -> Option<String> {
    let mut text = String::new();
    open::read_named(path).ok()?.take(MAX_FILE_BYTES).read_to_string(&mut text).ok()?;
    Some(text.trim().to_owned())
}
