//! Right of a call to use the judged paths.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass_types::CallDigest;

/// A path that was judged: as the call named it, and with links resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct JudgedPath {
    /// Requested path: absolute and lexically normal, links not resolved.
    pub requested: PathBuf,
    /// Path with all links resolved; for a missing file, its deepest existing ancestor resolved plus the rest.
    pub resolved: PathBuf,
}

impl JudgedPath {
    /// Returns a judged path.
    pub fn new(requested: impl Into<PathBuf>, resolved: impl Into<PathBuf>) -> Self {
        Self { requested: requested.into(), resolved: resolved.into() }
    }
}

/// Filter that returns `true` if a path below a judged tree may be read. Given to search tools.
pub type PathFilter = Arc<dyn Fn(&Path) -> bool + Send + Sync>;

/// Right to run exactly the call that was judged.
///
/// A [`Workspace`](crate::Workspace) opens files only with a permit, and refuses an object that is not the judged one.
#[derive(Clone)]
pub struct Permit {
    digest: CallDigest,
    reads: Arc<[JudgedPath]>,
    writes: Arc<[JudgedPath]>,
    listable: Arc<[JudgedPath]>,
    filter: Option<PathFilter>,
    only_reads: bool,
}

impl Permit {
    /// Returns a permit for a call that touches no files.
    pub fn new(digest: CallDigest) -> Self {
        Self {
            digest,
            reads: Arc::from([]),
            writes: Arc::from([]),
            listable: Arc::from([]),
            filter: None,
            only_reads: false,
        }
    }

    /// Adds paths that may be read (a tree may be read as a whole).
    #[must_use]
    pub fn with_reads(mut self, paths: Vec<JudgedPath>) -> Self {
        self.reads = paths.into();
        self
    }

    /// Adds files that may be written, and read.
    #[must_use]
    pub fn with_writes(mut self, paths: Vec<JudgedPath>) -> Self {
        self.writes = paths.into();
        self
    }

    /// Adds directories of which only the names of entries may be listed, as hints.
    #[must_use]
    pub fn with_listable(mut self, directories: Vec<JudgedPath>) -> Self {
        self.listable = directories.into();
        self
    }

    /// Adds a filter for paths below readable trees. Without one, all are readable.
    #[must_use]
    pub fn with_filter(mut self, filter: PathFilter) -> Self {
        self.filter = Some(filter);
        self
    }

    /// Marks the call as one that is proven to read and to have no other effect.
    #[must_use]
    pub fn with_only_reads(mut self, on: bool) -> Self {
        self.only_reads = on;
        self
    }

    /// `true` if the call is proven to read and to have no other effect.
    pub fn only_reads(&self) -> bool {
        self.only_reads
    }

    /// Returns the digest of the call that this permits.
    pub fn digest(&self) -> &CallDigest {
        &self.digest
    }

    /// Returns the judged path under which a requested path may be read: itself if it was judged, or a judged tree
    /// above it.
    pub fn readable(&self, requested: &Path) -> Option<&JudgedPath> {
        self.reads.iter().chain(self.writes.iter()).find(|judged| requested.starts_with(&judged.requested))
    }

    /// Returns the judged path for writing a requested path: exactly itself.
    pub fn writable(&self, requested: &Path) -> Option<&JudgedPath> {
        self.writes.iter().find(|judged| requested == judged.requested)
    }

    /// Returns the judged path under which the names in a directory may be listed: a directory that is listable itself,
    /// or one that may be read.
    pub fn listable(&self, requested: &Path) -> Option<&JudgedPath> {
        self.listable.iter().find(|judged| requested == judged.requested).or_else(|| self.readable(requested))
    }

    /// Returns all paths that may be read.
    pub fn reads(&self) -> &[JudgedPath] {
        &self.reads
    }

    /// Returns all paths that may be written.
    pub fn writes(&self) -> &[JudgedPath] {
        &self.writes
    }

    /// `true` if a resolved path below a readable tree passes the filter.
    pub fn allows(&self, resolved: &Path) -> bool {
        self.filter.as_ref().is_none_or(|filter| filter(resolved))
    }

    /// Returns the filter, for searches that run on other threads.
    pub fn filter(&self) -> Option<PathFilter> {
        self.filter.clone()
    }
}

impl fmt::Debug for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit")
            .field("digest", &self.digest)
            .field("reads", &self.reads)
            .field("writes", &self.writes)
            .finish_non_exhaustive()
    }
}
