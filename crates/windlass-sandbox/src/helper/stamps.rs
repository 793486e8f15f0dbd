//! Stamps of directories and mounts, by which changes are noticed.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Directories, with the state of each when it was read, and the mounts before that.
#[derive(Debug)]
pub(crate) struct Stamps {
    /// List of mounts: a mount takes the place of a name without a change of its directory.
    mounts: Option<Vec<u8>>,
    directories: Vec<(PathBuf, Option<Stamp>)>,
}

/// Identity of a directory and, if that matters, the time of the last change of its names.
#[derive(Debug, PartialEq)]
struct Stamp {
    place: (u64, u64),
    changed: Option<[(i64, i64); 2]>,
}

impl Stamps {
    /// Reads the mounts. Must be called before anything else is read, so that changes in between are noticed.
    pub(crate) fn new() -> Self {
        Self { mounts: mounts(), directories: Vec::new() }
    }

    /// Adds a directory whose names do not matter.
    pub(crate) fn add_place(&mut self, path: &Path) {
        self.directories.push((path.to_owned(), Stamp::of(path, false)));
    }

    /// Adds a directory whose names are read. Must be called before they are read.
    pub(crate) fn add_names(&mut self, path: &Path) {
        self.directories.push((path.to_owned(), Stamp::of(path, true)));
    }

    /// `true` if every directory and the mounts are unchanged.
    pub(crate) fn are_current(&self) -> bool {
        let is_current = |path: &Path, stamp: &Stamp| Stamp::of(path, stamp.changed.is_some()).as_ref() == Some(stamp);
        let mut directories = self.directories.iter();
        self.mounts.is_some()
            && self.mounts == mounts()
            && directories.all(|(path, stamp)| stamp.as_ref().is_some_and(|stamp| is_current(path, stamp)))
    }
}

/// Returns the mounts of this process, as the kernel lists them.
fn mounts() -> Option<Vec<u8>> {
    fs::read("/proc/self/mountinfo").ok()
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

#[cfg(test)]
mod tests {
    use super::*;

    type Add = fn(&mut Stamps, &Path);

    #[test]
    fn what_is_made_removed_or_replaced_is_noticed_and_content_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().join("place");
        let with = |add: Add, change: &dyn Fn()| {
            fs::create_dir_all(at.join("old")).unwrap();
            fs::write(at.join("file"), "").unwrap();
            // The clock of a file system may stand still for some milliseconds, so the last change is backdated.
            fs::File::open(&at).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
            let mut stamps = Stamps::new();
            add(&mut stamps, &at);
            assert!(stamps.are_current());
            change();
            let are_current = stamps.are_current();
            fs::remove_dir_all(&at).unwrap();
            are_current
        };
        let (names, place): (Add, Add) = (Stamps::add_names, Stamps::add_place);
        let make = || fs::write(at.join("new"), "").unwrap();
        let remove = || fs::remove_dir(at.join("old")).unwrap();
        let write = || fs::write(at.join("file"), "more").unwrap();
        let replace = || {
            fs::rename(&at, folder.path().join("kept")).unwrap();
            fs::create_dir(&at).unwrap();
        };
        assert!(!with(names, &make) && !with(names, &remove) && with(names, &write));
        assert!(with(place, &make) && with(place, &remove) && with(place, &write) && !with(place, &replace));
    }

    #[test]
    fn without_a_list_of_mounts_nothing_is_known() {
        let unknown = Stamps { mounts: None, directories: Vec::new() };
        let other = Stamps { mounts: Some(b"another list".to_vec()), directories: Vec::new() };
        assert!(!unknown.are_current() && !other.are_current() && Stamps::new().are_current());
    }
}
