//! Ignore files of this machine.
//!
//! Ignore files are untrusted, so this module opens them instead of the walking library. Only regular files are read,
//! and no link is followed out of the workspace.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock};

use windlass_tool::ignore_rules::{IgnoreFiles, IgnoreRules, IgnoreTexts, MAX_IGNORE_FILE};

use super::scope::Scope;
use crate::workspace::{dir, resolve};

/// Maximum size in bytes of a git file that contains only a path (`.git`, `commondir`).
const MAX_POINTER_BYTES: u64 = 64 * 1024;

/// Rules of the folders that a walk has entered.
#[derive(Debug, Default)]
pub(crate) struct WalkRules {
    files: IgnoreFiles,
    /// Rules by folder. The keys are strings, because comparing a `Path` by its components is slower.
    folders: RwLock<HashMap<OsString, IgnoreRules>>,
    /// `true` if there are any rules at all.
    has_rules: AtomicBool,
}

impl WalkRules {
    /// Number of unusable ignore files.
    pub(crate) fn unusable(&self) -> usize {
        self.files.unusable()
    }

    /// `true` if the rules of the folders above `folder` leave it out. Its parent must have been entered.
    pub(super) fn leave_out_folder(&self, folder: &Path) -> bool {
        let rules = || Some(self.rules_of(folder.parent()?));
        self.has_rules.load(Ordering::Relaxed) && rules().is_some_and(|rules| rules.leave_out(folder, true))
    }

    /// Reads the ignore files of a folder. Called before its entries are checked; for the root, the folders above are
    /// read too.
    pub(super) fn enter(&self, folder: &Path, scope: &Scope<'_>) {
        let above = match folder.parent() {
            _ if folder == scope.root => self.above(scope),
            Some(above) => self.rules_of(above),
            None => IgnoreRules::default(),
        };
        let rules = self.read_folder(folder, &above, scope);
        if !rules.is_empty() {
            self.has_rules.store(true, Ordering::Relaxed);
            // The key drops a trailing slash of the root, because the parents of its entries have none.
            let folder = folder.components().as_path().into();
            self.folders.write().unwrap_or_else(PoisonError::into_inner).insert(folder, rules);
        }
    }

    fn rules_of(&self, folder: &Path) -> IgnoreRules {
        let folders = self.folders.read().unwrap_or_else(PoisonError::into_inner);
        folders.get(folder.as_os_str()).cloned().unwrap_or_default()
    }

    /// Rules of the folders above the root.
    pub(crate) fn above(&self, scope: &Scope<'_>) -> IgnoreRules {
        let folders: Vec<&Path> = scope.root.ancestors().skip(1).collect();
        folders.into_iter().rev().fold(IgnoreRules::default(), |above, folder| self.read_folder(folder, &above, scope))
    }

    /// Reads the ignore files of a folder, and returns its rules joined with those `above`.
    pub(super) fn read_folder(&self, folder: &Path, above: &IgnoreRules, scope: &Scope<'_>) -> IgnoreRules {
        self.of_texts(folder, above, texts(folder, scope))
    }

    /// Rules of a folder from its ignore files, in order of precedence.
    pub(crate) fn of_texts(&self, folder: &Path, above: &IgnoreRules, texts: IgnoreTexts) -> IgnoreRules {
        self.files.rules(folder, above, texts)
    }
}

/// Reads the ignore files of a folder.
pub(crate) fn texts(folder: &Path, scope: &Scope<'_>) -> IgnoreTexts {
    let read_whole =
        |opened: io::Result<Option<File>>| opened?.map(|file| read_bounded(file, MAX_IGNORE_FILE)).transpose();
    [
        read_whole(open(&folder.join(".ignore"), folder, scope)),
        read_whole(open(&folder.join(".gitignore"), folder, scope)),
        read_whole(open_exclude(folder, scope)),
    ]
}

/// Fingerprint of ignore files: different contents have different fingerprints.
pub(crate) fn fingerprint(texts: &IgnoreTexts) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    for text in texts {
        match text {
            Ok(Some(bytes)) => hasher.update(b"+").update(&(bytes.len() as u64).to_le_bytes()).update(bytes),
            Ok(None) => hasher.update(b"-"),
            Err(error) => hasher.update(b"!").update(error.to_string().as_bytes()).update(b"\n"),
        };
    }
    *hasher.finalize().as_bytes()
}

/// Cache of one thread for the rules of its current folder, because it checks many files of one folder in sequence.
#[derive(Debug, Default)]
pub(super) struct FolderRules {
    folder: OsString,
    rules: IgnoreRules,
}

impl FolderRules {
    /// `true` if the rules of the folders above `file` leave it out. Its folder must have been entered.
    pub(super) fn leave_out(&mut self, file: &Path, walk_rules: &WalkRules) -> bool {
        let Some(folder) = file.parent().filter(|_| walk_rules.has_rules.load(Ordering::Relaxed)) else { return false };
        if self.folder != folder.as_os_str() {
            *self = Self { folder: folder.into(), rules: walk_rules.rules_of(folder) };
        }
        self.rules.leave_out(file, false)
    }
}

/// Opens an ignore file of a folder. A link is followed if it leads into the workspace or below the folder.
fn open(path: &Path, folder: &Path, scope: &Scope<'_>) -> io::Result<Option<File>> {
    match dir::open_file(path) {
        Err(error) if dir::is_link_error(&error) => {
            let target = resolve(path)?.path;
            let mut allowed_roots = scope.workspace.iter().map(PathBuf::as_path).chain([scope.root, folder]);
            if !allowed_roots.any(|root| target.starts_with(root)) {
                return Err(io::Error::other("it leads out of the workspace"));
            }
            open_resolved(&target, scope)
        }
        opened => if_present(opened),
    }
}

/// Opens git's `info/exclude` of a folder. `.git` may be a link or, in a linked working tree, a file that contains the
/// path of the git directory.
fn open_exclude(folder: &Path, scope: &Scope<'_>) -> io::Result<Option<File>> {
    let git = folder.join(".git");
    let path = git.join("info").join("exclude");
    match dir::open_file(&path) {
        Err(error) if dir::is_link_error(&error) => open_resolved(&resolve(&path)?.path, scope),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            let Some(git_dir) = read_pointer(&git, b"gitdir: ", scope)? else { return Ok(None) };
            let git_dir = folder.join(git_dir);
            let Some(common_dir) = read_pointer(&git_dir.join("commondir"), b"", scope)? else { return Ok(None) };
            open_resolved(&resolve(&git_dir.join(common_dir).join("info").join("exclude"))?.path, scope)
        }
        opened => if_present(opened),
    }
}

/// Reads the path in the first line of a file, after `prefix`.
fn read_pointer(path: &Path, prefix: &[u8], scope: &Scope<'_>) -> io::Result<Option<PathBuf>> {
    let Some(file) = open_resolved(&resolve(path)?.path, scope)? else { return Ok(None) };
    let bytes = read_bounded(file, MAX_POINTER_BYTES)?;
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = line.strip_prefix(prefix).map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    Ok(line.and_then(|line| std::str::from_utf8(line).ok()).filter(|line| !line.is_empty()).map(PathBuf::from))
}

fn open_resolved(path: &Path, scope: &Scope<'_>) -> io::Result<Option<File>> {
    if (scope.allowed)(path) { if_present(dir::open_file(path)) } else { Err(io::ErrorKind::PermissionDenied.into()) }
}

/// Turns a missing file into `None`, because most folders have no ignore files.
fn if_present(opened: io::Result<File>) -> io::Result<Option<File>> {
    match opened {
        Ok(file) => Ok(Some(file)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Reads a regular file of at most `max_bytes` bytes.
fn read_bounded(file: File, max_bytes: u64) -> io::Result<Vec<u8>> {
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    // The file may grow meanwhile.
    file.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_bytes {
        return Err(io::Error::other("it is too large"));
    }
    Ok(bytes)
}

#[cfg(all(test, unix))]
mod tests;
