//! Reader of a tree for an index: folder entries, ignore rules and the beginnings of files. The limits of a walk apply.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use windlass_tool::EntryKind;
use windlass_tool::ignore_rules::IgnoreRules;

use super::ignore_files::WalkRules;
use super::scope::{Scope, is_version_control};
use crate::workspace::{Missing, dir, entry_kind};

/// Reads a tree folder by folder, in the order that its caller chooses. It never follows a link, opens regular files
/// only, and skips folders and files for which `allowed` is false.
pub struct TreeReader<'a> {
    scope: Scope<'a>,
    ignores: WalkRules,
}

impl std::fmt::Debug for TreeReader<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TreeReader").field("root", &self.scope.root).finish_non_exhaustive()
    }
}

/// An entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TreeEntry {
    /// Name of the entry.
    pub name: std::ffi::OsString,
    /// Kind of the entry; a link is not followed.
    pub kind: EntryKind,
}

impl<'a> TreeReader<'a> {
    /// Reads the tree below `root`, a path without links. Ignore files that are links are followed if they lead into
    /// `workspace` or the root.
    pub fn new(root: &'a Path, workspace: &'a [PathBuf], allowed: &'a (dyn Fn(&Path) -> bool + Sync)) -> Self {
        let scope = Scope { root, workspace, include_ignored: false, max_depth: None, allowed, interrupt: &|| None };
        Self { scope, ignores: WalkRules::default() }
    }

    /// Rules of the folders above the root.
    #[must_use]
    pub fn rules_above(&self) -> IgnoreRules {
        self.ignores.above(&self.scope)
    }

    /// Rules of a folder below others.
    #[must_use]
    pub fn rules_of(&self, folder: &Path, above: &IgnoreRules) -> IgnoreRules {
        self.ignores.read_folder(folder, above, &self.scope)
    }

    /// At most `limit` entries of a folder, in no order, without version control's own data.
    ///
    /// # Errors
    /// The folder may not be read, is no folder, or a link is in its path.
    pub fn entries(&self, folder: &Path, limit: usize) -> io::Result<Vec<TreeEntry>> {
        self.check(folder)?;
        let entries = dir::Dir::open(folder, Missing::Refuse)?.list(limit)?;
        Ok(entries
            .iter()
            .filter(|(name, _)| !is_version_control(name))
            .map(|(name, entry)| TreeEntry { name: name.to_owned(), kind: entry_kind(entry) })
            .collect())
    }

    /// At most `limit` bytes from the beginning of a regular file.
    ///
    /// # Errors
    /// The file may not be read, is no regular file, or a link is in its path.
    pub fn head(&self, file: &Path, limit: u64) -> io::Result<Vec<u8>> {
        self.check(file)?;
        let opened = dir::open_file(file)?;
        if !opened.metadata()?.is_file() {
            return Err(io::Error::other("it is not a regular file"));
        }
        let mut head = Vec::new();
        opened.take(limit).read_to_end(&mut head)?;
        Ok(head)
    }

    fn check(&self, path: &Path) -> io::Result<()> {
        if (self.scope.allowed)(path) { Ok(()) } else { Err(io::ErrorKind::PermissionDenied.into()) }
    }
}
