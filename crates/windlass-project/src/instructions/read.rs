//! Reading the files that instructions are in.

use crate::file::{ReadError, read_text, read_text_through};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass_tool::{EntryKind, Workspace, WorkspaceErrorKind};

/// Maximum number of bytes of a file.
const MAX_BYTES: u64 = 256 * 1024;

/// Predicate: `true` if a path, as it is written and as it resolves, may be read.
pub(super) type MayRead = Arc<dyn Fn(&Path, &Path) -> bool + Send + Sync>;

/// Maximum number of names in a folder of rules.
const MAX_NAMES: usize = 1_024;

/// A file that was read.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) resolved: PathBuf,
    pub(super) text: String,
}

/// Workspace of the files and the predicate for readable paths.
pub(super) struct Files {
    pub(super) workspace: Arc<dyn Workspace>,
    pub(super) may_read: MayRead,
}

impl Files {
    /// Returns a file of this machine. `None` if there is none of this name.
    pub(super) fn of_machine(&self, path: &Path) -> Result<Option<Found>, String> {
        let text = match read_text(path, MAX_BYTES) {
            Ok(Some(text)) => text,
            Ok(None) => return Ok(None),
            Err(ReadError::Io(_)) if path.is_dir() => return Ok(None),
            Err(ReadError::TooBig) => return Err(too_big()),
            Err(ReadError::Io(error)) => return Err(format!("it cannot be read: {error}")),
        };
        Ok(Some(Found { resolved: path.canonicalize().unwrap_or_else(|_| path.to_path_buf()), text }))
    }

    /// Returns a file of the workspace, which must lie in a folder whatever links there are. `None` if there is none of
    /// this name.
    pub(super) async fn of_workspace(&self, path: &Path, within: &Path) -> Result<Option<Found>, String> {
        let resolved = match self.workspace.resolve(path).await {
            Ok(resolved) if resolved.kind == EntryKind::File => resolved.path,
            Ok(resolved) if resolved.kind == EntryKind::Special => return Err("it is not a regular file".to_owned()),
            Ok(_) => return Ok(None),
            Err(error) if error.kind == WorkspaceErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.to_string()),
        };
        if !resolved.starts_with(within) {
            return Err("it leads out of the project".to_owned());
        }
        self.of_resolved(path, resolved).await
    }

    /// Returns a file of the workspace that a folder listed as a regular file, so that its path has no links. Should it
    /// have become one, it is not opened.
    pub(super) async fn of_listed(&self, path: &Path) -> Result<Option<Found>, String> {
        self.of_resolved(path, path.to_path_buf()).await
    }

    async fn of_resolved(&self, path: &Path, resolved: PathBuf) -> Result<Option<Found>, String> {
        if !(self.may_read)(path, &resolved) {
            return Err("a rule forbids to read it".to_owned());
        }
        let text = read_text_through(&*self.workspace, path, &resolved, MAX_BYTES).await;
        let text = text.map_err(|error| match error {
            ReadError::TooBig => too_big(),
            ReadError::Io(error) => error.to_string(),
        })?;
        Ok(Some(Found { resolved, text }))
    }

    /// Returns `true` if an entry of this name exists in the workspace.
    pub(super) async fn is_there(&self, path: &Path) -> bool {
        self.workspace.resolve(path).await.is_ok_and(|found| found.kind != EntryKind::Missing)
    }

    /// Returns `true` if an entry of this name may exist in the workspace: a failed check may hide it.
    pub(super) async fn may_be_there(&self, path: &Path) -> bool {
        match self.workspace.resolve(path).await {
            Ok(found) => found.kind != EntryKind::Missing,
            Err(error) => error.kind != WorkspaceErrorKind::NotFound,
        }
    }

    /// Returns the Markdown files below a folder of the workspace, sorted; folders in it first to a depth of four.
    /// Links are not followed, but the folder itself may be one.
    pub(super) async fn rules_of_workspace(&self, folder: &Path, within: &Path) -> Vec<PathBuf> {
        let Ok(resolved) = self.workspace.resolve(folder).await else { return Vec::new() };
        if resolved.kind != EntryKind::Directory || !resolved.path.starts_with(within) {
            return Vec::new();
        }
        let (mut found, mut remaining, mut pending) = (Vec::new(), MAX_NAMES, vec![(resolved.path, 4_u8)]);
        while let Some((folder, depth)) = pending.pop() {
            let entries = self.workspace.entries(&folder, remaining).await.unwrap_or_default();
            remaining = remaining.saturating_sub(entries.len());
            for entry in entries {
                let path = folder.join(&entry.name);
                match entry.kind {
                    EntryKind::File if is_rule(&path) => found.push(path),
                    EntryKind::Directory if depth > 0 => pending.push((path, depth.saturating_sub(1))),
                    _ => {}
                }
            }
        }
        found.sort();
        found
    }

    /// Returns the Markdown files below a folder of this machine.
    pub(super) fn rules_of_machine(&self, folder: &Path) -> Vec<PathBuf> {
        let (mut found, mut remaining, mut pending) = (Vec::new(), MAX_NAMES, vec![(folder.to_path_buf(), 4_u8)]);
        while let Some((folder, depth)) = pending.pop() {
            let Ok(entries) = std::fs::read_dir(&folder) else { continue };
            for entry in entries.take(remaining).flatten() {
                remaining = remaining.saturating_sub(1);
                let (path, kind) = (entry.path(), entry.file_type());
                match kind {
                    Ok(kind) if kind.is_file() && is_rule(&path) => found.push(path),
                    Ok(kind) if kind.is_dir() && depth > 0 => pending.push((path, depth.saturating_sub(1))),
                    _ => {}
                }
            }
        }
        found.sort();
        found
    }
}

fn is_rule(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("md"))
}

fn too_big() -> String {
    format!("it is larger than {MAX_BYTES} bytes")
}
