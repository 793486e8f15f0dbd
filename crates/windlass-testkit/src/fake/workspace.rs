//! Files in memory.

mod tree;
mod whole;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use windlass_tool::{
    DirectoryEntry, EditOrder, EntryKind, FileInfo, JudgedPath, OpenFile, Permit, ResolvedPath, Workspace,
    WorkspaceError, WorkspaceErrorKind, WriteOptions,
};
use windlass_types::Timestamp;

use super::lock;
use crate::workspace::{Fixture, Item};
use tree::{FakeTree, Stored, TreeNode};

/// A file system in memory: files, directories, symbolic links, and special entries.
///
/// It keeps every promise of [`Workspace`], as the local one does: a permit is enforced, permitted files are reached by
/// their resolved path without following a link, and a link that appeared in the path since is
/// [`Changed`](WorkspaceErrorKind::Changed). Writes are whole or fail; no method waits. Times of change are 1, 2, 3 …
/// in the order of the changes.
///
/// The test works on the same tree from outside: it puts, links and removes entries without permits. Clones share the
/// tree.
///
/// ```
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(async {
/// use std::path::Path;
/// use windlass_testkit::fake::MemoryWorkspace;
/// use windlass_tool::{EntryKind, Workspace};
///
/// let files = MemoryWorkspace::new().with_file("/work/src/lib.rs", "mod a;").with_link("/work/lib.rs", "src/lib.rs");
/// let resolved = files.resolve(Path::new("/work/lib.rs")).await.unwrap();
/// assert_eq!((resolved.path.as_path(), resolved.kind), (Path::new("/work/src/lib.rs"), EntryKind::File));
/// assert_eq!(files.text("/work/src/lib.rs").as_deref(), Some("mod a;"));
/// # });
/// ```
#[derive(Debug, Clone, Default)]
pub struct MemoryWorkspace(Arc<Mutex<FakeTree>>, EditOrder);

impl MemoryWorkspace {
    /// Returns an empty tree with the directory `/work`, where a [`ToolBench`](crate::ToolBench) starts.
    pub fn new() -> Self {
        Self::default().with_directory("/work")
    }

    /// Adds a file; see [`MemoryWorkspace::put`].
    #[must_use]
    pub fn with_file(self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> Self {
        self.put(path, content);
        self
    }

    /// Adds a directory; see [`MemoryWorkspace::make_directory`].
    #[must_use]
    pub fn with_directory(self, path: impl AsRef<Path>) -> Self {
        self.make_directory(path);
        self
    }

    /// Adds a symbolic link; see [`MemoryWorkspace::link`].
    #[must_use]
    pub fn with_link(self, path: impl AsRef<Path>, target: impl AsRef<Path>) -> Self {
        self.link(path, target);
        self
    }

    /// Adds an entry that is not a regular file; see [`MemoryWorkspace::make_special`].
    #[must_use]
    pub fn with_special(self, path: impl AsRef<Path>) -> Self {
        self.make_special(path);
        self
    }

    /// Puts a file, replacing any entry at the path. Directories above it are created, also in place of entries that
    /// are not directories.
    pub fn put(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        lock(&self.0).put(path.as_ref(), Stored::File { content: content.as_ref().into(), executable: false });
    }

    /// Creates a directory and those above it. An existing one stays unchanged.
    pub fn make_directory(&self, path: impl AsRef<Path>) {
        lock(&self.0).make_directory(path.as_ref());
    }

    /// Puts a symbolic link, replacing any entry at the path. A relative target starts at the link's own directory; it
    /// need not exist.
    pub fn link(&self, path: impl AsRef<Path>, target: impl AsRef<Path>) {
        lock(&self.0).put(path.as_ref(), Stored::Link(target.as_ref().to_owned()));
    }

    /// Puts an entry that is not a regular file: a device, a pipe, a socket.
    pub fn make_special(&self, path: impl AsRef<Path>) {
        lock(&self.0).put(path.as_ref(), Stored::Special);
    }

    /// Makes a file executable, or no longer so. Has no effect if there is no file.
    pub fn set_executable(&self, path: impl AsRef<Path>, executable: bool) {
        lock(&self.0).set_executable(path.as_ref(), executable);
    }

    /// Removes the entry at a path and everything below it.
    pub fn remove(&self, path: impl AsRef<Path>) {
        lock(&self.0).remove(path.as_ref());
    }

    /// Returns the content of the file at exactly this path, without following links.
    pub fn content(&self, path: impl AsRef<Path>) -> Option<Vec<u8>> {
        match lock(&self.0).get(path.as_ref()) {
            Some(TreeNode { stored: Stored::File { content, .. }, .. }) => Some(content.to_vec()),
            _ => None,
        }
    }

    /// Returns the content of the file at exactly this path as text, with bytes that are not UTF-8 replaced.
    pub fn text(&self, path: impl AsRef<Path>) -> Option<String> {
        self.content(path).map(|content| String::from_utf8_lossy(&content).into_owned())
    }

    /// Returns all paths, sorted, except the root.
    pub fn paths(&self) -> Vec<PathBuf> {
        lock(&self.0).paths()
    }
}

#[async_trait]
impl Workspace for MemoryWorkspace {
    async fn resolve(&self, path: &Path) -> Result<ResolvedPath, WorkspaceError> {
        let tree = lock(&self.0);
        let resolved = tree.resolve(path).map_err(|kind| refused(kind, path))?;
        let kind = tree.kind(&resolved.path);
        Ok(ResolvedPath::new(resolved.path, kind).with_via(resolved.via))
    }

    async fn open(&self, permit: &Permit, path: &Path) -> Result<Box<dyn OpenFile>, WorkspaceError> {
        let tree = lock(&self.0);
        let place = readable(&tree, permit, path)?;
        let node = tree.walk(&place).map_err(|kind| refused(kind, path))?;
        match &node.stored {
            Stored::File { content, executable } => Ok(Box::new(MemoryFile {
                info: FileInfo::new(content.len() as u64, Some(Timestamp::from_millis(node.changed)), *executable),
                content: Arc::clone(content),
                at: 0,
            })),
            Stored::Directory => Err(refused(WorkspaceErrorKind::IsDirectory, path)),
            Stored::Link(_) => Err(refused(WorkspaceErrorKind::Changed, path)),
            Stored::Special => Err(refused(WorkspaceErrorKind::NotRegular, path)),
        }
    }

    async fn write(
        &self,
        permit: &Permit,
        path: &Path,
        content: &[u8],
        options: WriteOptions,
    ) -> Result<(), WorkspaceError> {
        let judged = permit.writable(path).ok_or_else(|| refused(WorkspaceErrorKind::NotPermitted, path))?;
        lock(&self.0).write(&judged.resolved, content, options).map_err(|kind| refused(kind, path))
    }

    async fn remove(&self, permit: &Permit, path: &Path) -> Result<(), WorkspaceError> {
        let judged = permit.writable(path).ok_or_else(|| refused(WorkspaceErrorKind::NotPermitted, path))?;
        lock(&self.0).remove_file(&judged.resolved).map_err(|kind| refused(kind, path))
    }

    async fn compare_and_write(
        &self,
        permit: &Permit,
        path: &Path,
        expected: &[u8],
        content: &[u8],
    ) -> Result<(), WorkspaceError> {
        let judged = permit.writable(path).ok_or_else(|| refused(WorkspaceErrorKind::NotPermitted, path))?;
        let mut tree = lock(&self.0);
        let compared = tree.compare(&judged.resolved, expected);
        let written = compared.and_then(|()| tree.write(&judged.resolved, content, WriteOptions::default()));
        written.map_err(|kind| refused(kind, path))
    }

    async fn compare_and_remove(&self, permit: &Permit, path: &Path, expected: &[u8]) -> Result<(), WorkspaceError> {
        let judged = permit.writable(path).ok_or_else(|| refused(WorkspaceErrorKind::NotPermitted, path))?;
        let mut tree = lock(&self.0);
        let removed = tree.compare(&judged.resolved, expected).and_then(|()| tree.remove_file(&judged.resolved));
        removed.map_err(|kind| refused(kind, path))
    }

    fn edit_order(&self) -> Option<&EditOrder> {
        Some(&self.1)
    }

    async fn rename(
        &self,
        permit: &Permit,
        from: &Path,
        to: &Path,
        options: WriteOptions,
    ) -> Result<(), WorkspaceError> {
        let judged = |path: &Path| {
            let judged = permit.writable(path).ok_or_else(|| refused(WorkspaceErrorKind::NotPermitted, path));
            judged.map(|judged| judged.resolved.clone())
        };
        let (old, new) = (judged(from)?, judged(to)?);
        let renamed = lock(&self.0).rename(&old, &new, options);
        renamed.map_err(|(is_new, kind)| refused(kind, if is_new { to } else { from }))
    }

    async fn list(&self, permit: &Permit, path: &Path, limit: usize) -> Result<Vec<String>, WorkspaceError> {
        let tree = lock(&self.0);
        let judged = permit.listable(path).ok_or_else(|| refused(WorkspaceErrorKind::NotPermitted, path))?;
        let place = place_of(&tree, judged, permit, path)?;
        let node = tree.walk(&place).map_err(|kind| refused(kind, path))?;
        match node.stored {
            Stored::Directory => {}
            Stored::Link(_) => return Err(refused(WorkspaceErrorKind::Changed, path)),
            Stored::File { .. } | Stored::Special => return Err(refused(WorkspaceErrorKind::NotDirectory, path)),
        }
        let names = tree.names(&place).filter(|name| permit.allows(&place.join(name)));
        Ok(names.take(limit).map(|name| name.to_string_lossy().into_owned()).collect())
    }

    async fn entries(&self, directory: &Path, limit: usize) -> Result<Vec<DirectoryEntry>, WorkspaceError> {
        let tree = lock(&self.0);
        match &tree.walk(directory).map_err(|kind| refused(kind, directory))?.stored {
            Stored::Directory => {}
            Stored::Link(_) => return Err(refused(WorkspaceErrorKind::Changed, directory)),
            Stored::File { .. } | Stored::Special => return Err(refused(WorkspaceErrorKind::NotDirectory, directory)),
        }
        let entry = |name: &std::ffi::OsStr| {
            let path = directory.join(name);
            let is_link = tree.get(&path).is_some_and(|node| matches!(node.stored, Stored::Link(_)));
            DirectoryEntry::new(name, if is_link { EntryKind::Link } else { tree.kind(&path) })
        };
        Ok(tree.names(directory).take(limit).map(entry).collect())
    }

    fn is_local(&self) -> bool {
        false
    }
}

/// Returns the resolved path that a permit lets a call read for `path`.
fn readable(tree: &FakeTree, permit: &Permit, path: &Path) -> Result<PathBuf, WorkspaceError> {
    let judged = permit.readable(path).ok_or_else(|| refused(WorkspaceErrorKind::NotPermitted, path))?;
    place_of(tree, judged, permit, path)
}

fn place_of(tree: &FakeTree, judged: &JudgedPath, permit: &Permit, path: &Path) -> Result<PathBuf, WorkspaceError> {
    let place = if judged.requested == path {
        judged.resolved.clone()
    } else {
        // Below a judged tree, links may be used as long as they stay inside.
        let place = tree.resolve(path).map_err(|kind| refused(kind, path))?.path;
        if !place.starts_with(&judged.resolved) {
            return Err(refused(WorkspaceErrorKind::NotPermitted, path));
        }
        place
    };
    if permit.allows(&place) { Ok(place) } else { Err(refused(WorkspaceErrorKind::NotPermitted, path)) }
}

fn refused(kind: WorkspaceErrorKind, path: &Path) -> WorkspaceError {
    use WorkspaceErrorKind as K;
    let what = match kind {
        K::ContentChanged => return WorkspaceError::content_changed(path),
        K::NotPermitted => "is outside of what this call may touch",
        K::Changed => "leads somewhere else than when this call was judged",
        K::NotFound => "does not exist",
        K::AlreadyExists => "exists already",
        K::IsDirectory => "is a directory",
        K::NotDirectory => "or a part of it is not a directory",
        K::NotRegular => "is not a regular file",
        K::LinkCycle => "leads in a circle",
        _ => "is not an absolute path",
    };
    WorkspaceError::new(kind, format!("{} {what}", path.display()))
}

/// An open file: its content as of opening, unaffected by later changes of the file.
#[derive(Debug)]
struct MemoryFile {
    info: FileInfo,
    content: Arc<[u8]>,
    at: usize,
}

#[async_trait]
impl OpenFile for MemoryFile {
    fn info(&self) -> &FileInfo {
        &self.info
    }

    async fn read(&mut self, limit: usize) -> Result<Vec<u8>, WorkspaceError> {
        let end = self.at.saturating_add(limit).min(self.content.len());
        let chunk = self.content.get(self.at..end).unwrap_or_default().to_vec();
        self.at = end;
        Ok(chunk)
    }
}

#[async_trait]
impl Fixture for MemoryWorkspace {
    fn root(&self) -> PathBuf {
        let root = PathBuf::from("/kit");
        self.make_directory(&root);
        root
    }

    async fn put(&self, path: &Path, item: Item<'_>) -> std::io::Result<()> {
        match item {
            Item::File(content) => Self::put(self, path, content),
            Item::Directory => self.make_directory(path),
            Item::Link(target) => self.link(path, target),
            Item::Special => self.make_special(path),
        }
        Ok(())
    }

    async fn remove(&self, path: &Path) -> std::io::Result<()> {
        Self::remove(self, path);
        Ok(())
    }

    async fn content(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        Self::content(self, path).ok_or_else(|| std::io::ErrorKind::NotFound.into())
    }

    async fn names(&self, path: &Path) -> std::io::Result<Vec<String>> {
        Ok(lock(&self.0).names(path).map(|name| name.to_string_lossy().into_owned()).collect())
    }
}
