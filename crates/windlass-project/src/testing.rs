//! A folder with a home and a project in it, for tests.

use crate::Places;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A folder that is gone after its test.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Returns a path below it, without links.
    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn make(&self, name: impl AsRef<Path>) {
        fs::create_dir_all(self.path(name)).unwrap();
    }

    /// Writes a file, with the folders above it.
    pub(crate) fn write(&self, name: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// Returns the places of a session that starts in one of its folders, with a user in `home`.
    pub(crate) fn places(&self, start: impl AsRef<Path>) -> Places {
        let mut places = Places::new(self.path(start));
        places.user = vec![self.path("home/.windlass"), self.path("home/.claude")];
        places
    }
}

/// Makes a repository `work` with the start directory `work/sub`, and returns its places.
pub(crate) fn project() -> (Folder, Places) {
    let root = Folder::new();
    root.make("work/.git");
    root.make("work/sub");
    let places = root.places("work/sub");
    (root, places)
}
