//! Detection of local settings files that came with their repository.

use crate::file::{ReadError, read_bytes, read_text};
use std::path::{Path, PathBuf};
use windlass_permission::git::index_names;

/// Maximum number of bytes of an index: about 300,000 files.
const MAX_INDEX_BYTES: u64 = 32 * 1024 * 1024;
/// Maximum number of bytes of a file that names a git directory.
const MAX_GIT_FILE_BYTES: u64 = 64 * 1024;
/// Lengths of the hashes in an index: SHA-1, SHA-256.
const HASH_LENGTHS: [usize; 2] = [20, 32];

/// Returns `true` if the repository at `root` contains a file below it, or a link leads to it, so that others may have
/// written it. If that cannot be found out, the result is `true`. Without a repository it is `false`.
pub(crate) fn is_shipped(root: &Path, file: &Path) -> bool {
    if !file.canonicalize().is_ok_and(|resolved| resolved == *file) {
        return true;
    }
    let Ok(below) = file.strip_prefix(root) else { return true };
    let name = below.components().map(|part| part.as_os_str().as_encoded_bytes()).collect::<Vec<_>>().join(&b'/');
    match read_index(root) {
        Ok(None) => false,
        Ok(Some(index)) => HASH_LENGTHS.into_iter().find_map(|hash| index_names(&index, hash, &name)).unwrap_or(true),
        Err(_) => true,
    }
}

/// Returns the bytes of the index of the repository at `root`, if there is one.
fn read_index(root: &Path) -> Result<Option<Vec<u8>>, ReadError> {
    let git = root.join(".git");
    let directory = if git.is_file() {
        // The file of a linked working tree names its git directory.
        let text = read_text(&git, MAX_GIT_FILE_BYTES)?.unwrap_or_default();
        let git_directory = text.strip_prefix("gitdir:").map(str::trim).map(PathBuf::from);
        root.join(git_directory.ok_or_else(|| std::io::Error::other("it names no git directory"))?)
    } else {
        git
    };
    read_bytes(&directory.join("index"), MAX_INDEX_BYTES)
}
