//! Folder for tests of walks.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "only tests use it"
)]

use std::fs;
use std::path::{Path, PathBuf};

use super::scope::Scope;

/// A temporary folder, its path free of links.
pub(super) struct Tree {
    _dir: tempfile::TempDir,
    pub(super) root: PathBuf,
}

impl Tree {
    pub(super) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        Self { _dir: dir, root }
    }

    pub(super) fn with(files: &[(&str, &str)]) -> Self {
        let tree = Self::new();
        for (path, content) in files {
            tree.write(path, content);
        }
        tree
    }

    pub(super) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
    }

    pub(super) fn relative(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap().to_str().unwrap().to_owned()
    }

    /// Scope that permits the whole tree.
    pub(super) fn scope(&self) -> Scope<'_> {
        Scope {
            root: &self.root,
            workspace: std::slice::from_ref(&self.root),
            include_ignored: false,
            max_depth: None,
            allowed: &|_| true,
            interrupt: &|| None,
        }
    }
}
