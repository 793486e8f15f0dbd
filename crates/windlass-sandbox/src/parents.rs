//! Directories with all links followed, and their names.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// Maximum number of names of a directory that is read: in larger ones it is quicker to ask for each name.
const MOST_NAMES: usize = 300;

/// Effective paths of directories and their names, each read once. Many protected names share one directory, and each
/// question asks the system about every part of the path. Valid for as long as no program changes them.
#[derive(Debug, Default)]
pub(crate) struct Parents {
    places: BTreeMap<PathBuf, Option<PathBuf>>,
    names: BTreeMap<PathBuf, Names>,
}

/// Known names of a directory.
#[derive(Debug)]
enum Names {
    /// All names, in small letters.
    All(BTreeSet<OsString>),
    Unknown,
}

impl Parents {
    /// Returns a directory with all links followed. `None` if there is none.
    pub(crate) fn really(&mut self, directory: &Path) -> Option<&Path> {
        if !self.places.contains_key(directory) {
            self.places.insert(directory.to_owned(), fs::canonicalize(directory).ok());
        }
        self.places.get(directory)?.as_deref()
    }

    /// `true` if a directory's path has no link in it.
    pub(crate) fn is_plain(&mut self, directory: &Path) -> bool {
        self.really(directory) == Some(directory)
    }

    /// `true` if a name is certainly missing in its directory, which exists. Some file systems ignore the case of
    /// letters.
    pub(crate) fn lacks(&mut self, path: &Path) -> bool {
        let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else { return false };
        if !self.names.contains_key(directory) {
            self.names.insert(directory.to_owned(), Names::of(directory));
        }
        match self.names.get(directory) {
            Some(Names::All(names)) => name.is_ascii() && !names.contains(&name.to_ascii_lowercase()),
            _ => false,
        }
    }

    /// Discards everything that was read, because something was moved.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }
}

impl Names {
    fn of(directory: &Path) -> Self {
        let Ok(entries) = fs::read_dir(directory) else { return Self::Unknown };
        let mut names = BTreeSet::new();
        for entry in entries.take(MOST_NAMES.saturating_add(1)) {
            let Ok(entry) = entry else { return Self::Unknown };
            let name = entry.file_name();
            // Other names that a file system may treat as equal are not known here.
            if !name.is_ascii() || names.len() == MOST_NAMES {
                return Self::Unknown;
            }
            names.insert(name.to_ascii_lowercase());
        }
        Self::All(names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_lacking_only_where_all_names_are_known() {
        let folder = tempfile::tempdir().unwrap();
        let lacks = |path: &str| Parents::default().lacks(&folder.path().join(path));
        assert!(lacks(".git") && !lacks("none/.git"));
        fs::write(folder.path().join(".GIT"), "").unwrap();
        assert!(!lacks(".git") && !lacks(".Git") && lacks(".mcp.json") && !lacks(".m\u{e7}p"));
        fs::write(folder.path().join("\u{e4}"), "").unwrap();
        assert!(!lacks(".mcp.json"));
        fs::remove_file(folder.path().join("\u{e4}")).unwrap();
        for number in 1..MOST_NAMES {
            fs::write(folder.path().join(number.to_string()), "").unwrap();
        }
        assert!(lacks(".mcp.json"));
        fs::write(folder.path().join("one more"), "").unwrap();
        assert!(!lacks(".mcp.json"));
    }

    #[test]
    fn names_are_asked_for_anew_when_something_was_moved() {
        let folder = tempfile::tempdir().unwrap();
        let (path, mut parents) = (folder.path().join(".git"), Parents::default());
        assert!(parents.lacks(&path));
        fs::write(&path, "").unwrap();
        assert!(parents.lacks(&path));
        parents.forget();
        assert!(!parents.lacks(&path));
    }
}
