//! Texts that are kept for later sessions, each in a private file that is named by a digest of its key.

use crate::file::read_text;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use windlass_tool::private_file::AtomicFile;

/// Maximum number of bytes of a text.
const MAX_BYTES: u64 = 8 * 1024 * 1024;

/// Texts that are kept from one session to the next, in a directory of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptTexts(PathBuf);

impl KeptTexts {
    /// Creates a store in this directory, which is made when the first value is stored.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self(directory.into())
    }

    /// Returns the value stored under a key; `None` if there is none or it cannot be read. Links are followed: the
    /// directory is the user's.
    #[must_use]
    pub fn load(&self, key: &str) -> Option<String> {
        read_text(&self.file(key), MAX_BYTES).ok().flatten()
    }

    /// Stores a text under a key, in a file that only the user can read, and replaces the former text.
    ///
    /// # Errors
    /// The directory or the file cannot be written.
    pub fn store(&self, key: &str, text: &str) -> io::Result<()> {
        fs::create_dir_all(&self.0)?;
        let file = self.file(key);
        let mut new = AtomicFile::create(&file)?;
        new.file().write_all(text.as_bytes())?;
        new.replace()
    }

    /// Returns the directory.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.0
    }

    /// Returns the file of a key. The name reveals nothing of the key, which may contain secrets.
    fn file(&self, key: &str) -> PathBuf {
        self.0.join(format!("{}.json", blake3::hash(key.as_bytes()).to_hex()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Folder;

    #[test]
    fn a_text_is_kept_under_its_key_alone() {
        let root = Folder::new();
        let kept = KeptTexts::new(root.path("home/lists"));
        assert_eq!(kept.load("a"), None);
        for (key, text) in [("a", "1"), ("b/../c", "2"), ("a", "3")] {
            kept.store(key, text).unwrap();
        }
        assert_eq!((kept.load("a").as_deref(), kept.load("b/../c").as_deref()), (Some("3"), Some("2")));
        assert_eq!(fs::read_dir(kept.directory()).unwrap().count(), 2);
    }

    #[cfg(unix)]
    #[test]
    fn others_do_not_read_it() {
        use std::os::unix::fs::PermissionsExt;
        let root = Folder::new();
        let kept = KeptTexts::new(root.path("lists"));
        kept.store("a", "1").unwrap();
        assert_eq!(kept.file("a").metadata().unwrap().permissions().mode() & 0o077, 0);
    }
}
