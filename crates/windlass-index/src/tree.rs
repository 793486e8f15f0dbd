//! The table of a tree: which files each folder has.

use serde::{Deserialize, Serialize};
use std::fs::Metadata;
use windlass_types::Timestamp;

/// How long before a look a folder must have been changed last, in milliseconds: a later change can have the same time.
const SETTLED: u64 = 2_000;

/// What says whether a folder or file is as it was: times, size and place on its disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stamp {
    /// Nanoseconds since 1970 of the last change of content, and of anything.
    modified: i64,
    changed: i64,
    size: u64,
    inode: u64,
    device: u64,
}

impl Stamp {
    /// The stamp at `now`. `None` if it has changed so lately that a further change could not be seen.
    #[cfg(unix)]
    pub(crate) fn of(found: &Metadata, now: Timestamp) -> Option<Self> {
        use std::os::unix::fs::MetadataExt as _;
        let time = |seconds: i64, nanos: i64| seconds.saturating_mul(1_000_000_000).saturating_add(nanos);
        let (modified, changed) = (time(found.mtime(), found.mtime_nsec()), time(found.ctime(), found.ctime_nsec()));
        let stamp = Self { modified, changed, size: found.size(), inode: found.ino(), device: found.dev() };
        stamp.settled(now)
    }

    /// The stamp at `now`. `None` if it has changed so lately that a further change could not be seen.
    #[cfg(not(unix))]
    pub(crate) fn of(found: &Metadata, now: Timestamp) -> Option<Self> {
        let since = found.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
        let modified = i64::try_from(since.as_nanos()).ok()?;
        Self { modified, changed: modified, size: found.len(), inode: 0, device: 0 }.settled(now)
    }

    fn settled(self, now: Timestamp) -> Option<Self> {
        let limit = i64::try_from(now.millis().saturating_sub(SETTLED)).unwrap_or(i64::MAX).saturating_mul(1_000_000);
        (self.modified.max(self.changed) < limit).then_some(self)
    }
}

/// A folder of the tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Folder {
    /// Its path below the root, parts between slashes; empty for the root.
    pub(crate) path: String,
    /// As it was when it was listed. `None`: it is listed again.
    pub(crate) stamp: Option<Stamp>,
    /// The digest of the ignore rules that held.
    pub(crate) rules: u64,
    /// Whether ignore files may be in it.
    pub(crate) has_ignores: bool,
    /// The names of its files that are not left out, in order.
    pub(crate) files: Vec<String>,
    /// The names of its folders that are not left out, in order.
    pub(crate) folders: Vec<String>,
    /// The names of its folders that are left out, in order.
    pub(crate) left_out: Vec<String>,
    /// Whether it has more entries than were listed.
    pub(crate) is_cut: bool,
}

impl Folder {
    /// The root with these files, of which no more is known.
    pub(crate) fn of_names(files: Vec<String>) -> Self {
        let (path, folders, left_out) = (String::new(), Vec::new(), Vec::new());
        Self { path, stamp: None, rules: 0, has_ignores: true, files, folders, left_out, is_cut: false }
    }

    /// The path of an entry below the root.
    pub(crate) fn path_of(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}/{name}", self.path) }
    }
}

/// The table: folders level by level, those of a level in the order of their paths.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tree {
    pub(crate) folders: Vec<Folder>,
    /// Whether all of the tree is in it.
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
