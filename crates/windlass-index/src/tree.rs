//! Table of a tree: the files of each folder.

use serde::{Deserialize, Serialize};
use std::fs::Metadata;
use windlass_types::Timestamp;

/// Minimum age of a folder's last change for a stable stamp, in milliseconds: a later change can have the same time.
const MIN_STABLE_AGE_MS: u64 = 2_000;

/// Stamp that detects changes of a folder or file: times, size and place on its disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stamp {
    /// Time of the last change of content, and of anything, in nanoseconds since 1970.
    modified: i64,
    changed: i64,
    size: u64,
    inode: u64,
    device: u64,
}

impl Stamp {
    /// Stamp at `now`. `None` after a change so recent that a further change might go unnoticed.
    #[cfg(unix)]
    pub(crate) fn of(metadata: &Metadata, now: Timestamp) -> Option<Self> {
        use std::os::unix::fs::MetadataExt as _;
        let time = |seconds: i64, nanos: i64| seconds.saturating_mul(1_000_000_000).saturating_add(nanos);
        let (modified, changed) =
            (time(metadata.mtime(), metadata.mtime_nsec()), time(metadata.ctime(), metadata.ctime_nsec()));
        let stamp = Self { modified, changed, size: metadata.size(), inode: metadata.ino(), device: metadata.dev() };
        stamp.if_stable(now)
    }

    /// Stamp at `now`. `None` after a change so recent that a further change might go unnoticed.
    #[cfg(not(unix))]
    pub(crate) fn of(metadata: &Metadata, now: Timestamp) -> Option<Self> {
        let since_epoch = metadata.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
        let modified = i64::try_from(since_epoch.as_nanos()).ok()?;
        Self { modified, changed: modified, size: metadata.len(), inode: 0, device: 0 }.if_stable(now)
    }

    fn if_stable(self, now: Timestamp) -> Option<Self> {
        let limit =
            i64::try_from(now.millis().saturating_sub(MIN_STABLE_AGE_MS)).unwrap_or(i64::MAX).saturating_mul(1_000_000);
        (self.modified.max(self.changed) < limit).then_some(self)
    }
}

/// A folder of the tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Folder {
    /// Path below the root, with parts between slashes; empty for the root.
    pub(crate) path: String,
    /// Stamp at its listing. `None`: it is listed again.
    pub(crate) stamp: Option<Stamp>,
    /// Digest of the ignore rules in effect.
    pub(crate) rules: u64,
    /// `true` if it may contain ignore files.
    pub(crate) has_ignores: bool,
    /// Names of its files that are not left out, in order.
    pub(crate) files: Vec<String>,
    /// Names of its folders that are not left out, in order.
    pub(crate) folders: Vec<String>,
    /// Names of its folders that are left out, in order.
    pub(crate) left_out: Vec<String>,
    /// `true` if it has more entries than were listed.
    pub(crate) is_cut: bool,
}

impl Folder {
    /// The root with these files, and nothing else known.
    pub(crate) fn of_names(files: Vec<String>) -> Self {
        let (path, folders, left_out) = (String::new(), Vec::new(), Vec::new());
        Self { path, stamp: None, rules: 0, has_ignores: true, files, folders, left_out, is_cut: false }
    }

    /// Path of an entry below the root.
    pub(crate) fn path_of(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}/{name}", self.path) }
    }
}

/// Table of a tree: folders level by level, those of a level in the order of their paths.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tree {
    pub(crate) folders: Vec<Folder>,
    /// `true` if the table has the whole tree.
    pub(crate) is_complete: bool,
}

impl Tree {
    /// All files, as folder and name.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&Folder, &str)> {
        self.folders.iter().flat_map(|folder| folder.files.iter().map(move |name| (folder, name.as_str())))
    }

    pub(crate) fn count(&self) -> usize {
        self.folders.iter().map(|folder| folder.files.len()).sum()
    }
}
