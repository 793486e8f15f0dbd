//! Updates the table of a tree.
//!
//! The walk goes level by level, so that entries near the root come first when a limit is reached. A folder with
//! unchanged stamp and rules is not listed again; its folders are checked all the same.

use crate::Interrupted;
use crate::parallel::for_each;
use crate::tree::{Folder, Stamp, Tree};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use windlass_local::TreeReader;
use windlass_tool::EntryKind;
use windlass_tool::ignore_rules::IgnoreRules;
use windlass_types::Timestamp;

/// Limits of a walk.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) files: usize,
    pub(crate) folders: usize,
    /// Maximum number of entries of one folder.
    pub(crate) entries: usize,
    /// Maximum number of levels below the root.
    pub(crate) depth: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { files: 200_000, folders: 40_000, entries: 50_000, depth: 64 }
    }
}

/// Folders that hold foreign or generated files, even without an ignore file.
const GENERATED_FOLDERS: [&str; 11] = [
    "node_modules",
    "bower_components",
    "__pycache__",
    ".venv",
    ".tox",
    ".mypy_cache",
    ".pytest_cache",
    ".gradle",
    ".terraform",
    ".next",
    ".nuxt",
];
/// File that marks any other such folder (Cache Directory Tagging Specification).
const CACHE_TAG: &str = "CACHEDIR.TAG";

/// Configuration of a walk.
pub(crate) struct Walk<'a> {
    pub(crate) reader: &'a TreeReader<'a>,
    pub(crate) root: &'a Path,
    pub(crate) allowed: &'a (dyn Fn(&Path) -> bool + Sync),
    pub(crate) bounds: Bounds,
    pub(crate) now: Timestamp,
    pub(crate) stop: &'a (dyn Fn() -> bool + Sync),
}

/// A folder to be checked.
struct Pending {
    relative_path: String,
    path: PathBuf,
    parent_rules: IgnoreRules,
}

/// Result of checking a folder.
enum Look {
    /// The folder is unchanged.
    Same(IgnoreRules),
    Listed(Folder, IgnoreRules),
    Gone,
}

/// The new tree so far.
struct Growing {
    tree: Tree,
    /// Folders of the previous tree that were not visited yet.
    known: HashMap<String, Folder>,
    files: usize,
    differs: bool,
}

impl Growing {
    /// Adds a checked folder, if it exists.
    fn add(&mut self, pending: &Pending, look: Look) -> Option<(&Folder, IgnoreRules)> {
        let previous = self.known.remove(&pending.relative_path);
        let (folder, rules) = match look {
            Look::Gone => {
                self.differs = true;
                return None;
            }
            Look::Same(rules) => (previous?, rules),
            Look::Listed(folder, rules) => {
                self.differs |= previous.is_none_or(|previous| previous != folder);
                (folder, rules)
            }
        };
        self.files = self.files.saturating_add(folder.files.len());
        self.tree.is_complete &= !folder.is_cut;
        self.tree.folders.push(folder);
        self.tree.folders.last().map(|folder| (folder, rules))
    }
}

impl Walk<'_> {
    /// Returns the present tree, and `true` if it differs from the earlier one.
    pub(crate) fn run(&self, previous: Option<Tree>) -> Result<(Tree, bool), Interrupted> {
        let previous = previous.unwrap_or_default();
        let (was_complete, count_before) = (previous.is_complete, previous.folders.len());
        let known = previous.folders.into_iter().map(|folder| (folder.path.clone(), folder)).collect();
        let tree = Tree { folders: Vec::with_capacity(count_before), is_complete: true };
        let mut growing = Growing { tree, known, files: 0, differs: false };
        let root = Pending {
            relative_path: String::new(),
            path: self.root.to_owned(),
            parent_rules: self.reader.rules_above(),
        };
        let mut level = vec![root];
        let mut depth = 0_usize;
        while !level.is_empty() {
            let known = &growing.known;
            let looks = for_each(&level, self.stop, |pending| self.look(pending, known.get(&pending.relative_path)))?;
            let mut next = Vec::new();
            for (pending, look) in level.iter().zip(looks) {
                let Some((folder, rules)) = growing.add(pending, look) else { continue };
                next.extend(self.folders_to_enter(folder, &pending.path, &rules));
            }
            let max_folders = match growing.files < self.bounds.files && depth < self.bounds.depth {
                true => self.bounds.folders.saturating_sub(growing.tree.folders.len()),
                false => 0,
            };
            growing.tree.is_complete &= next.len() <= max_folders;
            next.truncate(max_folders);
            level = next;
            depth = depth.saturating_add(1);
        }
        let Growing { tree, differs, .. } = growing;
        let differs = differs || tree.folders.len() != count_before || tree.is_complete != was_complete;
        Ok((tree, differs))
    }

    /// Subfolders that may be entered.
    fn folders_to_enter(&self, folder: &Folder, path: &Path, rules: &IgnoreRules) -> Vec<Pending> {
        let pending = |name: &String| Pending {
            relative_path: folder.path_of(name),
            path: path.join(name),
            parent_rules: rules.clone(),
        };
        folder.folders.iter().map(pending).filter(|pending| (self.allowed)(&pending.path)).collect()
    }

    fn look(&self, pending: &Pending, previous: Option<&Folder>) -> Look {
        let Ok(metadata) = std::fs::symlink_metadata(&pending.path) else { return Look::Gone };
        if !metadata.is_dir() {
            return Look::Gone;
        }
        let stamp = Stamp::of(&metadata, self.now);
        if let Some(previous) = previous.filter(|previous| stamp.is_some() && previous.stamp == stamp) {
            let rules = self.rules(pending, previous.has_ignores);
            if rules.digest() == previous.rules {
                return Look::Same(rules);
            }
        }
        self.list(pending, stamp)
    }

    fn rules(&self, pending: &Pending, has_ignores: bool) -> IgnoreRules {
        if has_ignores {
            self.reader.rules_of(&pending.path, &pending.parent_rules)
        } else {
            pending.parent_rules.clone()
        }
    }

    fn list(&self, pending: &Pending, stamp: Option<Stamp>) -> Look {
        let max_entries = self.bounds.entries;
        // An unreadable folder has no entries, and is checked again.
        let (entries, stamp) = match self.reader.entries(&pending.path, max_entries.saturating_add(1)) {
            Ok(entries) => (entries, stamp),
            Err(_) => (Vec::new(), None),
        };
        let is_cut = entries.len() > max_entries;
        let (mut files, mut folders) = (Vec::new(), Vec::new());
        for entry in entries.into_iter().take(max_entries) {
            // A name that is not UTF-8 cannot be passed to a tool.
            let Ok(name) = entry.name.into_string() else { continue };
            match entry.kind {
                EntryKind::File => files.push(name),
                EntryKind::Directory => folders.push(name),
                _ => {}
            }
        }
        // The entries lack version control's own data, so `.git` is looked up separately.
        let has_ignores = pending.relative_path.is_empty()
            || files.iter().any(|name| matches!(name.as_str(), ".gitignore" | ".ignore"))
            || self.has_git(&pending.path);
        let rules = self.rules(pending, has_ignores);
        if pending.relative_path.is_empty() || !files.iter().any(|name| name == CACHE_TAG) {
            files.retain(|name| !self.leaves_out(&rules, pending, name, false));
        } else {
            files.clear();
            folders.clear();
        }
        files.sort_unstable();
        folders.sort_unstable();
        let (left_out, folders) = folders.into_iter().partition(|name| self.leaves_out(&rules, pending, name, true));
        let (path, digest) = (pending.relative_path.clone(), rules.digest());
        let folder = Folder { path, stamp, rules: digest, has_ignores, files, folders, left_out, is_cut };
        Look::Listed(folder, rules)
    }

    fn leaves_out(&self, rules: &IgnoreRules, pending: &Pending, name: &str, is_folder: bool) -> bool {
        if is_folder && GENERATED_FOLDERS.contains(&name) {
            return true;
        }
        !rules.is_empty() && rules.leave_out(&pending.path.join(name), is_folder)
    }

    /// `true` if a repository with its own rules begins here.
    fn has_git(&self, folder: &Path) -> bool {
        std::fs::symlink_metadata(folder.join(".git")).is_ok()
    }
}
