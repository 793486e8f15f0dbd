//! Restoring the directory of a log when its session is opened again. Any program that can write a file can write a
//! log, so no entry may widen the permissions of this opening: the machine checks permission modes, this module
//! directories.

use std::path::{Path, PathBuf};
use windlass_tool::{Clock, Ids, Workspace};
use windlass_types::{Entry, EntryId, EntryKind};

/// Directory in which calls start when a session is opened again.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum LoggedDirectory {
    /// The directory that the log ends in, or that of this opening if the log names none.
    AsLogged,
    /// The directory that the log ends in, under its name below a directory of the workspace.
    Renamed(PathBuf),
    /// The directory of this opening: the one that the log ends in is not in the workspace.
    Refused(PathBuf),
}

impl LoggedDirectory {
    /// Checks the directory that a log ends in. It is used if it is in one of these directories, links followed.
    pub(crate) async fn of(entries: &[Entry], directories: &[PathBuf], workspace: &dyn Workspace) -> Self {
        let logged = entries.iter().rev().find_map(|entry| match &entry.kind {
            EntryKind::Cwd(cwd) => Some(PathBuf::from(cwd)),
            _ => None,
        });
        let Some(logged) = logged else { return Self::AsLogged };
        match below(&logged, directories, workspace).await {
            Some(directory) if directory == logged => Self::AsLogged,
            Some(directory) => Self::Renamed(directory),
            None => Self::Refused(logged),
        }
    }

    /// Returns the entry that corrects the directory of the log, and the notice for the host.
    pub(crate) fn restated(self, own: &Path, clock: &dyn Clock, ids: &dyn Ids) -> Option<(Entry, Option<String>)> {
        let (directory, notice) = match self {
            Self::AsLogged => return None,
            Self::Renamed(directory) => (directory, None),
            Self::Refused(logged) => {
                let notice = format!(
                    "The log of this session says that it works in {logged:?}, which is not in its workspace: it \
                     works in {own:?}."
                );
                (own.to_owned(), Some(notice))
            }
        };
        let kind = EntryKind::Cwd(directory.to_string_lossy().into_owned());
        Some((Entry::new(EntryId::from_bits(ids.bits()), None, clock.now(), kind), notice))
    }
}

/// Returns the name of a path below the first of these directories that it is in, links followed.
async fn below(path: &Path, directories: &[PathBuf], workspace: &dyn Workspace) -> Option<PathBuf> {
    if !path.is_absolute() {
        return None;
    }
    let resolved = workspace.resolve(path).await.ok()?.path;
    for directory in directories {
        let Ok(root) = workspace.resolve(directory).await else { continue };
        if let Ok(below) = resolved.strip_prefix(&root.path) {
            let is_root = below.as_os_str().is_empty();
            return Some(if is_root { directory.clone() } else { directory.join(below) });
        }
    }
    None
}
