//! Port to a walk over the files of a tree, for searches.

use crate::{PathFilter, WorkspaceError};
use async_trait::async_trait;
use std::fmt;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// Directories in which version control keeps its own data. No walk enters them.
pub const VERSION_CONTROL: [&str; 6] = [".git", ".hg", ".svn", ".bzr", ".jj", ".sl"];

/// Walk over all files of a tree, on several threads.
///
/// A walk follows no link, enters no directory and opens no file that the [scope](WalkScope) leaves out, and skips
/// [`VERSION_CONTROL`]. Files that ignore files name are left out and counted, unless the scope includes them.
///
/// ```
/// use std::sync::Arc;
/// use windlass_tool::{FileVisitors, FileWalk, WalkReport, WalkScope, WorkspaceError};
///
/// /// A tree without files.
/// #[derive(Debug)]
/// struct Empty;
///
/// #[async_trait::async_trait]
/// impl FileWalk for Empty {
///     async fn walk(&self, _: WalkScope, _: FileVisitors) -> Result<WalkReport, WorkspaceError> {
///         Ok(WalkReport::default())
///     }
/// }
/// ```
#[async_trait]
pub trait FileWalk: fmt::Debug + Send + Sync {
    /// Walks a tree. All visitors are dropped when this returns.
    ///
    /// Cancel safe: a walk whose future is dropped ends soon after.
    ///
    /// # Errors
    /// The walk cannot begin. Unreadable places do not end it: the report has their number.
    async fn walk(&self, scope: WalkScope, visitors: FileVisitors) -> Result<WalkReport, WorkspaceError>;
}

/// Constructor of visitors; each thread of a walk has its own.
pub type FileVisitors = Arc<dyn Fn() -> Box<dyn FileVisitor> + Send + Sync>;

/// Visitor of the files of a walk.
///
/// ```
/// use std::path::Path;
/// use windlass_tool::{FileVisitor, VisitedFile, WalkInterrupt};
///
/// /// Counts the files of Rust.
/// struct Count(usize);
///
/// impl FileVisitor for Count {
///     fn wants(&self, file: &Path) -> bool {
///         file.extension().is_some_and(|extension| extension == "rs")
///     }
///
///     fn visit(&mut self, file: &mut dyn VisitedFile) -> Result<(), WalkInterrupt> {
///         self.0 += usize::from(self.wants(file.path()));
///         Ok(())
///     }
/// }
/// ```
pub trait FileVisitor: Send {
    /// `true` if files below this directory can still matter. Default: `true`.
    fn enter(&mut self, directory: &Path) -> bool {
        let _ = directory;
        true
    }

    /// `true` if the file would be visited but for ignore files. Decides which ignored files are counted.
    fn wants(&self, file: &Path) -> bool;

    /// Visits one regular file or link.
    ///
    /// # Errors
    /// The reason to end the walk.
    fn visit(&mut self, file: &mut dyn VisitedFile) -> Result<(), WalkInterrupt>;
}

/// A regular file or link on a walk.
///
/// ```
/// use windlass_tool::VisitedFile;
///
/// /// Size in bytes of a regular file.
/// fn size(file: &mut dyn VisitedFile) -> std::io::Result<Option<u64>> {
///     Ok(file.open()?.map(|content| content.size))
/// }
/// ```
pub trait VisitedFile {
    /// Returns the path, which contains no links but itself.
    fn path(&self) -> &Path;

    /// `true` if this is the root of the walk.
    fn is_root(&self) -> bool;

    /// `true` if this is a link.
    fn is_link(&self) -> bool;

    /// Returns the path of the regular file that a link leads to, all links followed. `None` if there is none.
    fn link_target(&self) -> Option<PathBuf>;

    /// Returns the time of the last change of the entry. `None` if it is gone.
    fn modified(&mut self) -> Option<SystemTime>;

    /// Opens the file without following any link. `None` if it is not a regular file.
    ///
    /// # Errors
    /// The file is gone, or may not be read.
    fn open(&mut self) -> io::Result<Option<VisitedContent>>;
}

/// Content of a file on a walk.
#[non_exhaustive]
pub struct VisitedContent {
    /// Size in bytes as the file system reports it: some files of the system report 0 and are not empty.
    pub size: u64,
    /// Time of the last change; the epoch if the file system reports none.
    pub modified: SystemTime,
    /// Reader of the content.
    pub reader: Box<dyn Read>,
}

impl VisitedContent {
    /// Returns the content of an open file.
    pub fn new(size: u64, modified: SystemTime, reader: Box<dyn Read>) -> Self {
        Self { size, modified, reader }
    }
}

impl fmt::Debug for VisitedContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VisitedContent").field("size", &self.size).finish_non_exhaustive()
    }
}

/// Reason why a walk ended before it was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WalkInterrupt {
    /// The caller no longer needs the result.
    Cancelled,
    /// The time limit has passed; the results so far are of use.
    TimedOut,
}

/// Check for an interrupt, polled for every entry and during long files.
pub type InterruptCheck = Arc<dyn Fn() -> Option<WalkInterrupt> + Send + Sync>;

/// Scope of a walk.
#[derive(Clone)]
#[non_exhaustive]
pub struct WalkScope {
    /// Start of the walk: a path without links, as [`resolve`](crate::Workspace::resolve) returns it. May be a file.
    pub root: PathBuf,
    /// Directories of the workspace: ignore files that are links are followed if they lead there. Default: none.
    pub workspace: Arc<[PathBuf]>,
    /// `true` to include files that `.gitignore`, `.ignore` and `.git/info/exclude` leave out. Default: `false`.
    pub include_ignored: bool,
    /// Maximum depth below the root; `None`, the default, for all.
    pub max_depth: Option<usize>,
    /// Directories for which this is `false` are not entered, files are not opened. Default: all are allowed.
    pub filter: Option<PathFilter>,
    /// Check for an interrupt. Default: never.
    pub interrupt: InterruptCheck,
}

impl WalkScope {
    /// Returns the scope of a whole tree.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            workspace: Arc::from([]),
            include_ignored: false,
            max_depth: None,
            filter: None,
            interrupt: Arc::new(|| None),
        }
    }

    /// `true` if the filter allows a path.
    #[must_use]
    pub fn allows(&self, path: &Path) -> bool {
        self.filter.as_ref().is_none_or(|filter| filter(path))
    }
}

impl fmt::Debug for WalkScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WalkScope")
            .field("root", &self.root)
            .field("include_ignored", &self.include_ignored)
            .field("max_depth", &self.max_depth)
            .finish_non_exhaustive()
    }
}

/// Report of a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct WalkReport {
    /// Reason why the walk ended early.
    pub interrupted: Option<WalkInterrupt>,
    /// Number of unreadable entries, mostly directories.
    pub unreadable: usize,
    /// Number of unusable ignore files: no regular files, too large, or links out of the workspace.
    pub unusable_ignores: usize,
    /// Number of files that ignore files left out, as far as a visitor wanted them.
    pub ignored_files: usize,
    /// Number of directories that ignore files left out.
    pub ignored_folders: usize,
}
