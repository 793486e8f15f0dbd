//! Whether directories are as they were.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Directories, with what each was when it was looked at.
#[derive(Debug, Default)]
pub(crate) struct Stamps(Vec<(PathBuf, Option<Stamp>)>);

/// Which directory it is, and when its names changed last, if that matters.
#[derive(Debug, PartialEq)]
struct Stamp {
    place: (u64, u64),
    changed: Option<[(i64, i64); 2]>,
}

impl Stamps {
    /// A directory whose names do not matter.
    pub(crate) fn add_place(&mut self, path: &Path) {
        self.0.push((path.to_owned(), Stamp::of(path, false)));
    }

    /// A directory whose names are read. To be added before they are, so that what changes meanwhile is noticed.
    pub(crate) fn add_names(&mut self, path: &Path) {
        self.0.push((path.to_owned(), Stamp::of(path, true)));
    }

    /// Whether each is as it was.
    pub(crate) fn are_current(&self) -> bool {
        let is_current = |path: &Path, stamp: &Stamp| Stamp::of(path, stamp.changed.is_some()).as_ref() == Some(stamp);
        self.0.iter().all(|(path, stamp)| stamp.as_ref().is_some_and(|stamp| is_current(path, stamp)))
    }
}

impl Stamp {
    fn of(path: &Path, with_names: bool) -> Option<Self> {
        let found = fs::symlink_metadata(path).ok()?;
        Some(Self {
            place: (found.dev(), found.ino()),
            changed: with_names.then(|| [(found.mtime(), found.mtime_nsec()), (found.ctime(), found.ctime_nsec())]),
        })
    }
}
