//! Port to files.

use crate::{EditOrder, FileWalk, Permit};
use async_trait::async_trait;
use std::error::Error as StdError;
use std::ffi::OsString;
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use windlass_types::Timestamp;

/// Files, wherever they are: on this machine, in memory, on another machine.
///
/// All given paths are absolute and, except for [`resolve`](Self::resolve), lexically normal. Every method that opens
/// something takes the [`Permit`] of the call, refuses a path that the permit does not cover, and refuses an object
/// that is not the judged one (a link that was swapped since). Only regular files are opened.
///
/// All methods are cancel safe in the sense that a file is either unchanged or completely written.
///
/// ```
/// use std::path::Path;
/// use windlass_tool::{OpenFile, Permit, ResolvedPath, Workspace, WorkspaceError, WorkspaceErrorKind, WriteOptions};
///
/// /// Files that are read and never written.
/// #[derive(Debug)]
/// struct ReadOnly<W>(W);
///
/// #[async_trait::async_trait]
/// impl<W: Workspace> Workspace for ReadOnly<W> {
///     async fn resolve(&self, path: &Path) -> Result<ResolvedPath, WorkspaceError> {
///         self.0.resolve(path).await
///     }
///
///     async fn open(&self, permit: &Permit, path: &Path) -> Result<Box<dyn OpenFile>, WorkspaceError> {
///         self.0.open(permit, path).await
///     }
///
///     async fn write(&self, _: &Permit, _: &Path, _: &[u8], _: WriteOptions) -> Result<(), WorkspaceError> {
///         Err(WorkspaceError::new(WorkspaceErrorKind::NotPermitted, "these files are only read"))
///     }
///
///     async fn list(&self, permit: &Permit, path: &Path, limit: usize) -> Result<Vec<String>, WorkspaceError> {
///         self.0.list(permit, path, limit).await
///     }
///
///     fn is_local(&self) -> bool {
///         // Programs would pass by this.
///         false
///     }
/// }
/// ```
#[async_trait]
pub trait Workspace: Debug + Send + Sync + 'static {
    /// Follows all links of a path, without opening it, component by component as the kernel does: `..` is the parent
    /// of the target of the links before it. A missing file resolves to its deepest existing ancestor plus the rest.
    ///
    /// # Errors
    /// A link cycle, a component that is not accessible, or `..` after a component that does not exist or is not a
    /// directory: no system resolves that.
    async fn resolve(&self, path: &Path) -> Result<ResolvedPath, WorkspaceError>;

    /// Opens a file for reading.
    ///
    /// # Errors
    /// Not covered by the permit, missing, not a regular file, not readable, or
    /// changed since it was judged.
    async fn open(&self, permit: &Permit, path: &Path) -> Result<Box<dyn OpenFile>, WorkspaceError>;

    /// Replaces or creates a file as a whole, durably: the file has the old content or the new, never a mix, and no
    /// other file is left behind on failure. Keeps mode and owner of an existing file as far as possible. Missing
    /// directories are created if the options say so.
    ///
    /// # Errors
    /// Not covered by the permit, not writable, disk full, or changed since it was judged.
    async fn write(
        &self,
        permit: &Permit,
        path: &Path,
        content: &[u8],
        options: WriteOptions,
    ) -> Result<(), WorkspaceError>;

    /// Like [`write`](Self::write), if the file has exactly the content `expected` at the moment when it is replaced: a
    /// later change by another agent, session or program is not overwritten.
    ///
    /// The default compares, then writes, and so leaves a moment between. Implementations shorten it as far as their
    /// system can.
    ///
    /// # Errors
    /// [`ContentChanged`](WorkspaceErrorKind::ContentChanged) if the file has another content or is missing; then
    /// nothing was written. Else those of `write`.
    async fn compare_and_write(
        &self,
        permit: &Permit,
        path: &Path,
        expected: &[u8],
        content: &[u8],
    ) -> Result<(), WorkspaceError> {
        compare(self.open(permit, path).await, path, expected).await?;
        self.write(permit, path, content, WriteOptions::default()).await
    }

    /// Like [`remove`](Self::remove), if the file has exactly the content `expected` at the moment when it is removed.
    ///
    /// The default compares, then removes, like that of [`compare_and_write`](Self::compare_and_write).
    ///
    /// # Errors
    /// [`ContentChanged`](WorkspaceErrorKind::ContentChanged) if the file has another content or is missing. Else those
    /// of `remove`.
    async fn compare_and_remove(&self, permit: &Permit, path: &Path, expected: &[u8]) -> Result<(), WorkspaceError> {
        compare(self.open(permit, path).await, path, expected).await?;
        self.remove(permit, path).await
    }

    /// Returns the order in which calls change files here, shared by all users of this workspace. The default has none:
    /// then the calls of each agent take turns, and those of several agents are distinguished by the content only.
    fn edit_order(&self) -> Option<&EditOrder> {
        None
    }

    /// Removes a regular file, durably.
    ///
    /// The default refuses with [`Unsupported`](WorkspaceErrorKind::Unsupported), so that implementations may leave it
    /// out: patches that delete files then fail, and change nothing.
    ///
    /// # Errors
    /// Not covered by the permit for writing, missing, not a regular file, read-only, or changed since it was judged.
    async fn remove(&self, permit: &Permit, path: &Path) -> Result<(), WorkspaceError> {
        let _ = permit;
        Err(unsupported("removed", path))
    }

    /// Gives a regular file another name, durably: it has one of the two names at every moment, with its mode and
    /// owner. An existing entry at the new name is never replaced. Missing directories of the new name are created if
    /// the options say so; their `must_be_new` makes no difference.
    ///
    /// The default refuses with [`Unsupported`](WorkspaceErrorKind::Unsupported), as for [`remove`](Self::remove).
    ///
    /// # Errors
    /// A name is not covered by the permit for writing, the file is missing or not a regular one, the new name is
    /// taken, the new name is on another file system, or a path changed since it was judged.
    async fn rename(
        &self,
        permit: &Permit,
        from: &Path,
        to: &Path,
        options: WriteOptions,
    ) -> Result<(), WorkspaceError> {
        let _ = (permit, to, options);
        Err(unsupported("renamed", from))
    }

    /// Returns the names of the entries of a directory that the permit lets list, at most `limit`, in no particular
    /// order, without those that its filter hides. For hints, such as names similar to a missing one.
    ///
    /// # Errors
    /// Not covered by the permit, missing or not a directory.
    async fn list(&self, permit: &Permit, path: &Path, limit: usize) -> Result<Vec<String>, WorkspaceError>;

    /// Returns the entries of a directory, at most `limit`, in no particular order, links not followed: for judging the
    /// files of a name pattern or a whole tree before a call is allowed, so no permit is needed, and never shown to the
    /// model. The path contains no links.
    ///
    /// The default lists none: the files of such a call are then unknown, and the host is asked for permission.
    ///
    /// # Errors
    /// Missing, not a directory, a link, or not accessible.
    async fn entries(&self, directory: &Path, limit: usize) -> Result<Vec<DirectoryEntry>, WorkspaceError> {
        let _ = limit;
        let message = format!("the entries of {} are not known here", directory.display());
        Err(WorkspaceError::new(WorkspaceErrorKind::Other, message))
    }

    /// Returns a walk that searches use. The default has none: searches then list and read files one by one, some at a
    /// time.
    fn file_walk(&self) -> Option<&dyn FileWalk> {
        None
    }

    /// `true` if these files are local files, under the same paths: programs may then reach them directly.
    fn is_local(&self) -> bool;
}

/// An open regular file.
///
/// ```
/// use windlass_tool::{OpenFile, WorkspaceError};
///
/// /// The whole file, at most so many bytes of it.
/// async fn content(file: &mut dyn OpenFile, most: usize) -> Result<Vec<u8>, WorkspaceError> {
///     let mut content = Vec::new();
///     while content.len() < most {
///         let part = file.read(most - content.len()).await?;
///         if part.is_empty() {
///             break;
///         }
///         content.extend(part);
///     }
///     Ok(content)
/// }
/// ```
#[async_trait]
pub trait OpenFile: Debug + Send {
    /// Returns the properties of the file, as of opening.
    fn info(&self) -> &FileInfo;

    /// Reads the next bytes: at most `limit`, empty at the end of the file. Before the end it may return fewer than
    /// requested, but at least one.
    ///
    /// # Errors
    /// The file could not be read.
    async fn read(&mut self, limit: usize) -> Result<Vec<u8>, WorkspaceError>;
}

/// Result of resolving a path.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResolvedPath {
    /// Path with all links resolved.
    pub path: PathBuf,
    /// Kind of the entry at the path.
    pub kind: EntryKind,
    /// Intermediate paths after each link, including the rest of the path; without the last one, which is `path`. May
    /// contain `..`.
    pub via: Vec<PathBuf>,
}

impl ResolvedPath {
    /// Returns a resolved path.
    pub fn new(path: impl Into<PathBuf>, kind: EntryKind) -> Self {
        Self { path: path.into(), kind, via: Vec::new() }
    }

    /// Adds the intermediate paths after each link.
    #[must_use]
    pub fn with_via(mut self, via: Vec<PathBuf>) -> Self {
        self.via = via;
        self
    }
}

/// An entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DirectoryEntry {
    /// Name of the entry.
    pub name: OsString,
    /// Kind of the entry; a link is [`EntryKind::Link`].
    pub kind: EntryKind,
}

impl DirectoryEntry {
    /// Returns an entry.
    pub fn new(name: impl Into<OsString>, kind: EntryKind) -> Self {
        Self { name: name.into(), kind }
    }
}

/// Kind of the entry at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EntryKind {
    /// The path does not exist.
    Missing,
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A device, pipe or socket.
    Special,
    /// A symbolic link. Only for entries of directories, where links are not followed.
    Link,
}

/// Properties of an open file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileInfo {
    /// Size in bytes.
    pub size: u64,
    /// Time of the last change, if the file system reports it.
    pub modified: Option<Timestamp>,
    /// `true` if any account may execute the file.
    pub executable: bool,
    /// Number of names: above one for a file with hard links. A write replaces the file behind one of them.
    pub names: u64,
}

impl FileInfo {
    /// Returns a file of a size, with one name.
    pub fn new(size: u64, modified: Option<Timestamp>, executable: bool) -> Self {
        Self { size, modified, executable, names: 1 }
    }

    /// Sets the number of [names](Self::names).
    #[must_use]
    pub fn with_names(mut self, names: u64) -> Self {
        self.names = names;
        self
    }
}

/// Options for writing a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct WriteOptions {
    /// `true` to create missing directories.
    pub create_directories: bool,
    /// `true` to fail when the file exists.
    pub must_be_new: bool,
}

impl WriteOptions {
    /// Creates missing directories.
    #[must_use]
    pub fn creating_directories(mut self) -> Self {
        self.create_directories = true;
        self
    }

    /// Fails when the file exists.
    #[must_use]
    pub fn only_new(mut self) -> Self {
        self.must_be_new = true;
        self
    }
}

/// Reason why a file could not be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WorkspaceErrorKind {
    /// The call's permit does not cover the path.
    NotPermitted,
    /// The path leads to another place than when it was judged.
    Changed,
    /// The file has another content than expected.
    ContentChanged,
    /// There is no such file or directory.
    NotFound,
    /// A file already exists.
    AlreadyExists,
    /// The path is a directory.
    IsDirectory,
    /// A component of the path is not a directory.
    NotDirectory,
    /// The entry is a device, pipe or socket.
    NotRegular,
    /// The operating system refuses.
    AccessDenied,
    /// The file system is read-only.
    ReadOnly,
    /// The disk or a quota is full.
    NoSpace,
    /// Links lead in a circle.
    LinkCycle,
    /// Files here have no such operation.
    Unsupported,
    /// The connection to the files was lost: the outcome is unknown.
    ConnectionLost,
    /// Any other reason.
    Other,
}

/// Error of a file that could not be used.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct WorkspaceError {
    /// Reason.
    pub kind: WorkspaceErrorKind,
    /// Reason, in a sentence that names the path and may be shown to the model.
    pub message: String,
    #[source]
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl WorkspaceError {
    /// Returns an error with a sentence.
    pub fn new(kind: WorkspaceErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    /// Returns the error for a file that has another content than expected.
    pub fn content_changed(path: &Path) -> Self {
        let message = format!("{} was changed meanwhile by another agent or program", path.display());
        Self::new(WorkspaceErrorKind::ContentChanged, message)
    }

    /// Adds the cause.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }
}

/// Compares the content of an open file with the expected one.
async fn compare(
    opened: Result<Box<dyn OpenFile>, WorkspaceError>,
    path: &Path,
    mut expected: &[u8],
) -> Result<(), WorkspaceError> {
    let mut file = match opened {
        Err(error) if error.kind == WorkspaceErrorKind::NotFound => return Err(WorkspaceError::content_changed(path)),
        opened => opened?,
    };
    loop {
        // One byte more than expected shows that the file is longer.
        let part = file.read(expected.len().saturating_add(1)).await?;
        match expected.strip_prefix(part.as_slice()) {
            Some(rest) if !part.is_empty() => expected = rest,
            Some([]) => return Ok(()),
            _ => return Err(WorkspaceError::content_changed(path)),
        }
    }
}

fn unsupported(what: &str, path: &Path) -> WorkspaceError {
    let message = format!("{} cannot be {what}: files here have no such operation", path.display());
    WorkspaceError::new(WorkspaceErrorKind::Unsupported, message)
}

const _: fn(&dyn Workspace, &dyn OpenFile) = |_, _| {};
