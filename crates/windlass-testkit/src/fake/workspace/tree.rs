//! Tree of a [`MemoryWorkspace`](super::MemoryWorkspace).

use std::collections::{BTreeMap, VecDeque};
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use windlass_tool::{EntryKind, WorkspaceErrorKind, WriteOptions};

/// Maximum number of links that are followed before a path counts as a loop.
const MAX_LINKS: usize = 40;

/// Entries by path. Every ancestor of a path is a directory, except roots, which are not listed.
#[derive(Debug, Default)]
pub(super) struct FakeTree {
    nodes: BTreeMap<PathBuf, TreeNode>,
    changes: u64,
}

#[derive(Debug, Clone)]
pub(super) struct TreeNode {
    pub(super) stored: Stored,
    pub(super) changed: u64,
}

#[derive(Debug, Clone)]
pub(super) enum Stored {
    File { content: Arc<[u8]>, executable: bool },
    Directory,
    Link(PathBuf),
    Special,
}

impl Stored {
    fn is_directory(&self) -> bool {
        matches!(self, Self::Directory)
    }
}

const ROOT: &TreeNode = &TreeNode { stored: Stored::Directory, changed: 0 };

impl FakeTree {
    pub(super) fn get(&self, path: &Path) -> Option<&TreeNode> {
        if path.parent().is_none() && path.has_root() { Some(ROOT) } else { self.nodes.get(path) }
    }

    pub(super) fn kind(&self, path: &Path) -> EntryKind {
        match self.get(path).map(|node| &node.stored) {
            None => EntryKind::Missing,
            Some(Stored::File { .. }) => EntryKind::File,
            Some(Stored::Directory) => EntryKind::Directory,
            Some(Stored::Special | Stored::Link(_)) => EntryKind::Special,
        }
    }

    pub(super) fn paths(&self) -> Vec<PathBuf> {
        self.nodes.keys().cloned().collect()
    }

    /// Returns the names in a directory, sorted.
    pub(super) fn names<'a>(&'a self, directory: &'a Path) -> impl Iterator<Item = &'a OsStr> {
        // Paths sort by component: the entries below a directory follow it without a gap.
        let below = self.nodes.range::<Path, _>((std::ops::Bound::Excluded(directory), std::ops::Bound::Unbounded));
        below
            .map(|(path, _)| path)
            .take_while(move |path| path.starts_with(directory))
            .filter(move |path| path.parent() == Some(directory))
            .filter_map(|path| path.file_name())
    }

    pub(super) fn put(&mut self, path: &Path, stored: Stored) {
        let Some(parent) = path.parent() else {
            return;
        };
        self.make_directory(parent);
        self.remove(path);
        self.insert(path, stored);
    }

    pub(super) fn make_directory(&mut self, path: &Path) {
        if self.get(path).is_some_and(|node| node.stored.is_directory()) {
            return;
        }
        self.put(path, Stored::Directory);
    }

    pub(super) fn remove(&mut self, path: &Path) {
        self.nodes.retain(|at, _| !at.starts_with(path));
    }

    pub(super) fn set_executable(&mut self, path: &Path, now: bool) {
        if let Some(TreeNode { stored: Stored::File { executable, .. }, .. }) = self.nodes.get_mut(path) {
            *executable = now;
        }
    }

    fn insert(&mut self, path: &Path, stored: Stored) {
        self.changes += 1;
        self.nodes.insert(path.to_owned(), TreeNode { stored, changed: self.changes });
    }

    /// Returns the node at a path that was free of links when it was judged.
    ///
    /// # Errors
    /// An ancestor is now a link or not a directory, or the path does not exist.
    pub(super) fn walk(&self, place: &Path) -> Result<&TreeNode, WorkspaceErrorKind> {
        self.check_above(place)?;
        self.get(place).ok_or(WorkspaceErrorKind::NotFound)
    }

    fn check_above(&self, place: &Path) -> Result<(), WorkspaceErrorKind> {
        let mut above: Vec<&Path> = place.ancestors().skip(1).collect();
        above.reverse();
        for ancestor in above {
            match self.get(ancestor).map(|node| &node.stored) {
                Some(Stored::Directory) => {}
                Some(Stored::Link(_)) => return Err(WorkspaceErrorKind::Changed),
                Some(_) => return Err(WorkspaceErrorKind::NotDirectory),
                None => return Err(WorkspaceErrorKind::NotFound),
            }
        }
        Ok(())
    }

    /// Replaces or creates the file at a path that was free of links when it was judged.
    pub(super) fn write(
        &mut self,
        place: &Path,
        content: &[u8],
        options: WriteOptions,
    ) -> Result<(), WorkspaceErrorKind> {
        let parent = place.parent().ok_or(WorkspaceErrorKind::IsDirectory)?;
        match self.check_above(place) {
            Err(WorkspaceErrorKind::NotFound) if options.create_directories => {}
            checked => checked?,
        }
        let executable = match self.get(place).map(|node| &node.stored) {
            Some(Stored::Link(_)) if !options.must_be_new => return Err(WorkspaceErrorKind::Changed),
            Some(_) if options.must_be_new => return Err(WorkspaceErrorKind::AlreadyExists),
            Some(Stored::Directory) => return Err(WorkspaceErrorKind::IsDirectory),
            Some(Stored::Special | Stored::Link(_)) => return Err(WorkspaceErrorKind::NotRegular),
            Some(Stored::File { executable, .. }) => *executable,
            None => false,
        };
        self.make_directory(parent);
        self.insert(place, Stored::File { content: content.into(), executable });
        Ok(())
    }

    /// Refuses unless the file at a path has this content.
    pub(super) fn compare(&self, place: &Path, expected: &[u8]) -> Result<(), WorkspaceErrorKind> {
        match self.walk(place).map(|node| &node.stored) {
            Ok(Stored::File { content, .. }) if **content == *expected => Ok(()),
            Ok(Stored::File { .. }) | Err(WorkspaceErrorKind::NotFound) => Err(WorkspaceErrorKind::ContentChanged),
            Ok(_) => self.regular(place),
            Err(kind) => Err(kind),
        }
    }

    /// Checks that the path, which was free of links when it was judged, is a regular file.
    fn regular(&self, place: &Path) -> Result<(), WorkspaceErrorKind> {
        match &self.walk(place)?.stored {
            Stored::File { .. } => Ok(()),
            Stored::Directory => Err(WorkspaceErrorKind::IsDirectory),
            Stored::Link(_) => Err(WorkspaceErrorKind::Changed),
            Stored::Special => Err(WorkspaceErrorKind::NotRegular),
        }
    }

    /// Removes the file at a path that was free of links when it was judged.
    pub(super) fn remove_file(&mut self, place: &Path) -> Result<(), WorkspaceErrorKind> {
        self.regular(place)?;
        self.nodes.remove(place);
        Ok(())
    }

    /// Renames the file at a path to a free path; both were free of links when they were judged.
    ///
    /// # Errors
    /// Kind of the error, and `true` if it is about the new name.
    pub(super) fn rename(
        &mut self,
        from: &Path,
        to: &Path,
        options: WriteOptions,
    ) -> Result<(), (bool, WorkspaceErrorKind)> {
        self.regular(from).map_err(|kind| (false, kind))?;
        match self.check_above(to) {
            Err(WorkspaceErrorKind::NotFound) if options.create_directories => {}
            checked => checked.map_err(|kind| (true, kind))?,
        }
        match self.get(to).map(|node| &node.stored) {
            None => {}
            Some(Stored::Link(_)) => return Err((true, WorkspaceErrorKind::Changed)),
            Some(_) => return Err((true, WorkspaceErrorKind::AlreadyExists)),
        }
        if let Some(parent) = to.parent() {
            self.make_directory(parent);
        }
        if let Some(node) = self.nodes.remove(from) {
            self.insert(to, node.stored);
        }
        Ok(())
    }

    /// Follows every link of a path. Missing components are taken as spelled, except `..` after them.
    pub(super) fn resolve(&self, path: &Path) -> Result<FollowedLinks, WorkspaceErrorKind> {
        if !path.has_root() {
            return Err(WorkspaceErrorKind::Other);
        }
        let mut todo: VecDeque<PathPart> = parts(path).collect();
        let mut at = PathBuf::new();
        let mut via = Vec::new();
        while let Some(part) = todo.pop_front() {
            match part {
                PathPart::Root(root) => at.push(root),
                PathPart::Up => {
                    if !self.get(&at).is_some_and(|node| node.stored.is_directory()) {
                        return Err(WorkspaceErrorKind::NotFound);
                    }
                    at.pop();
                }
                PathPart::Down(name) => {
                    at.push(name);
                    let Some(TreeNode { stored: Stored::Link(target), .. }) = self.get(&at) else {
                        continue;
                    };
                    at.pop();
                    let mut hop = at.join(target);
                    hop.extend(todo.iter().map(PathPart::name));
                    via.push(hop);
                    if via.len() > MAX_LINKS {
                        return Err(WorkspaceErrorKind::LinkCycle);
                    }
                    for part in parts(target).rev() {
                        todo.push_front(part);
                    }
                }
            }
        }
        via.retain(|hop| *hop != at);
        Ok(FollowedLinks { path: at, via })
    }
}

/// Target of a path, and the intermediate path after each link but the last.
pub(super) struct FollowedLinks {
    pub(super) path: PathBuf,
    pub(super) via: Vec<PathBuf>,
}

enum PathPart {
    Root(OsString),
    Up,
    Down(OsString),
}

impl PathPart {
    fn name(&self) -> &OsStr {
        match self {
            Self::Root(name) | Self::Down(name) => name,
            Self::Up => OsStr::new(".."),
        }
    }
}

fn parts(path: &Path) -> impl DoubleEndedIterator<Item = PathPart> + '_ {
    path.components().filter_map(|component| match component {
        Component::Prefix(_) | Component::RootDir => Some(PathPart::Root(component.as_os_str().to_owned())),
        Component::CurDir => None,
        Component::ParentDir => Some(PathPart::Up),
        Component::Normal(name) => Some(PathPart::Down(name.to_owned())),
    })
}
