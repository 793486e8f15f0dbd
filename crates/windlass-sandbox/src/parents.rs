//! Directories with all links followed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Where directories really are, each asked for once. Many protected names share one directory, and each question asks the system
/// about every part of the path. Valid for as long as no program changes what is there.
#[derive(Debug, Default)]
pub(crate) struct Parents(BTreeMap<PathBuf, Option<PathBuf>>);

impl Parents {
    /// A directory with all links followed. `None` if there is none.
    pub(crate) fn really(&mut self, directory: &Path) -> Option<&Path> {
        if !self.0.contains_key(directory) {
            self.0.insert(directory.to_owned(), fs::canonicalize(directory).ok());
        }
        self.0.get(directory)?.as_deref()
    }

    /// Whether a directory is where its path says, with no link in it.
    pub(crate) fn is_plain(&mut self, directory: &Path) -> bool {
        self.really(directory) == Some(directory)
    }

    /// Has all asked for anew, because something was moved.
    pub(crate) fn forget(&mut self) {
        self.0.clear();
    }
}
