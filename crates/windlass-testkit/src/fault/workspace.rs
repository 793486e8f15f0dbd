//! Files that fail.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use windlass_tool::{
    DirectoryEntry, EditOrder, FileInfo, FileWalk, OpenFile, Permit, ResolvedPath, Workspace, WorkspaceError,
    WorkspaceErrorKind, WriteOptions,
};

use super::plan::{FaultPlan, PlannedFailure};
use crate::Gate;

/// An operation of a [`FaultyWorkspace`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "the operations of the port")]
pub enum FileOperation {
    /// [`Workspace::resolve`].
    Resolve,
    /// [`Workspace::open`].
    Open,
    /// [`OpenFile::read`], over all files.
    Read,
    /// [`Workspace::write`] and [`Workspace::compare_and_write`].
    Write,
    /// [`Workspace::remove`] and [`Workspace::compare_and_remove`].
    Remove,
    /// [`Workspace::rename`].
    Rename,
    /// [`Workspace::list`].
    List,
    /// [`Workspace::entries`].
    Entries,
}

/// A workspace that fails, waits or reads in small pieces on request of a test.
///
/// ```
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(async {
/// use windlass_testkit::fake::MemoryWorkspace;
/// use windlass_testkit::fault::{FaultyWorkspace, FileOperation};
/// use windlass_tool::{JudgedPath, Permit, Workspace, WorkspaceErrorKind, WriteOptions};
/// use windlass_types::CallDigest;
///
/// let files = MemoryWorkspace::new();
/// let disk = FaultyWorkspace::new(files.clone());
/// disk.fail(FileOperation::Write, 2, WorkspaceErrorKind::NoSpace);
///
/// let permit = Permit::new(CallDigest::new("0")).with_writes(vec![JudgedPath::new("/work/a", "/work/a")]);
/// let path = "/work/a".as_ref();
/// disk.write(&permit, path, b"one", WriteOptions::default()).await.unwrap();
/// let error = disk.write(&permit, path, b"two", WriteOptions::default()).await.unwrap_err();
/// assert_eq!(error.kind, WorkspaceErrorKind::NoSpace);
/// assert_eq!(files.text("/work/a").as_deref(), Some("one"));
/// # });
/// ```
#[derive(Debug)]
pub struct FaultyWorkspace<W>(Arc<FaultyWorkspaceState<W>>);

#[derive(Debug)]
struct FaultyWorkspaceState<W> {
    inner: W,
    faults: Arc<WorkspaceFaults>,
}

#[derive(Debug, Default)]
struct WorkspaceFaults {
    plan: FaultPlan<FileOperation, WorkspaceErrorKind>,
    /// Maximum number of bytes that one read returns; 0 means no limit.
    read_size: AtomicUsize,
}

impl<W> Clone for FaultyWorkspace<W> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<W: Workspace> FaultyWorkspace<W> {
    /// Returns a workspace without faults so far.
    pub fn new(inner: W) -> Self {
        Self(Arc::new(FaultyWorkspaceState { inner, faults: Arc::default() }))
    }

    /// Plans that the n-th operation of this kind, from 1, fails without being done.
    pub fn fail(&self, operation: FileOperation, nth: u64, kind: WorkspaceErrorKind) {
        self.0.faults.plan.fail(operation, nth, nth, PlannedFailure::Before(kind));
    }

    /// Plans that the n-th operation of this kind and all after it fail without being done.
    pub fn fail_from(&self, operation: FileOperation, nth: u64, kind: WorkspaceErrorKind) {
        self.0.faults.plan.fail(operation, nth, u64::MAX, PlannedFailure::Before(kind));
    }

    /// Plans that the n-th operation of this kind is done and then fails, like a write whose last sync failed.
    pub fn fail_late(&self, operation: FileOperation, nth: u64, kind: WorkspaceErrorKind) {
        self.0.faults.plan.fail(operation, nth, nth, PlannedFailure::After(kind));
    }

    /// Plans that the n-th operation of this kind waits at the gate before it is done.
    pub fn wait_at(&self, operation: FileOperation, nth: u64, gate: &Gate) {
        self.0.faults.plan.wait_at(operation, nth, gate);
    }

    /// Sets the maximum number of bytes that one read returns, at least one.
    pub fn set_read_size(&self, bytes: usize) {
        self.0.faults.read_size.store(bytes.max(1), Ordering::Relaxed);
    }

    /// Returns the number of operations of this kind that were begun.
    pub fn count(&self, operation: FileOperation) -> u64 {
        self.0.faults.plan.count(operation)
    }
}

fn planned(kind: WorkspaceErrorKind, path: &Path) -> WorkspaceError {
    WorkspaceError::new(kind, format!("{} failed as the test planned ({kind:?})", path.display()))
}

/// Returns the outcome of an operation, or its planned late failure.
fn settle<T>(
    result: Result<T, WorkspaceError>,
    failure: Option<PlannedFailure<WorkspaceErrorKind>>,
    path: &Path,
) -> Result<T, WorkspaceError> {
    match failure {
        Some(PlannedFailure::After(kind)) => result.and(Err(planned(kind, path))),
        _ => result,
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl<W: Workspace> Workspace for FaultyWorkspace<W> {
    async fn resolve(&self, path: &Path) -> Result<ResolvedPath, WorkspaceError> {
        let failure = self.0.faults.plan.begin(FileOperation::Resolve).await;
        if let Some(PlannedFailure::Before(kind)) = failure {
            return Err(planned(kind, path));
        }
        settle(self.0.inner.resolve(path).await, failure, path)
    }

    async fn open(&self, permit: &Permit, path: &Path) -> Result<Box<dyn OpenFile>, WorkspaceError> {
        let failure = self.0.faults.plan.begin(FileOperation::Open).await;
        if let Some(PlannedFailure::Before(kind)) = failure {
            return Err(planned(kind, path));
        }
        let file = settle(self.0.inner.open(permit, path).await, failure, path)?;
        Ok(Box::new(FaultyFile { file, path: path.into(), faults: Arc::clone(&self.0.faults) }))
    }

    async fn write(
        &self,
        permit: &Permit,
        path: &Path,
        content: &[u8],
        options: WriteOptions,
    ) -> Result<(), WorkspaceError> {
        let failure = self.0.faults.plan.begin(FileOperation::Write).await;
        if let Some(PlannedFailure::Before(kind)) = failure {
            return Err(planned(kind, path));
        }
        settle(self.0.inner.write(permit, path, content, options).await, failure, path)
    }

    async fn remove(&self, permit: &Permit, path: &Path) -> Result<(), WorkspaceError> {
        let failure = self.0.faults.plan.begin(FileOperation::Remove).await;
        if let Some(PlannedFailure::Before(kind)) = failure {
            return Err(planned(kind, path));
        }
        settle(self.0.inner.remove(permit, path).await, failure, path)
    }

    async fn compare_and_write(
        &self,
        permit: &Permit,
        path: &Path,
        expected: &[u8],
        content: &[u8],
    ) -> Result<(), WorkspaceError> {
        let failure = self.0.faults.plan.begin(FileOperation::Write).await;
        if let Some(PlannedFailure::Before(kind)) = failure {
            return Err(planned(kind, path));
        }
        settle(self.0.inner.compare_and_write(permit, path, expected, content).await, failure, path)
    }

    async fn compare_and_remove(&self, permit: &Permit, path: &Path, expected: &[u8]) -> Result<(), WorkspaceError> {
        let failure = self.0.faults.plan.begin(FileOperation::Remove).await;
        if let Some(PlannedFailure::Before(kind)) = failure {
            return Err(planned(kind, path));
        }
        settle(self.0.inner.compare_and_remove(permit, path, expected).await, failure, path)
    }

    fn edit_order(&self) -> Option<&EditOrder> {
        self.0.inner.edit_order()
    }

    async fn rename(
        &self,
        permit: &Permit,
        from: &Path,
        to: &Path,
        options: WriteOptions,
    ) -> Result<(), WorkspaceError> {
        let failure = self.0.faults.plan.begin(FileOperation::Rename).await;
        if let Some(PlannedFailure::Before(kind)) = failure {
            return Err(planned(kind, from));
        }
        settle(self.0.inner.rename(permit, from, to, options).await, failure, from)
    }

    async fn list(&self, permit: &Permit, path: &Path, limit: usize) -> Result<Vec<String>, WorkspaceError> {
        let failure = self.0.faults.plan.begin(FileOperation::List).await;
        if let Some(PlannedFailure::Before(kind)) = failure {
            return Err(planned(kind, path));
        }
        settle(self.0.inner.list(permit, path, limit).await, failure, path)
    }

    async fn entries(&self, directory: &Path, limit: usize) -> Result<Vec<DirectoryEntry>, WorkspaceError> {
        let failure = self.0.faults.plan.begin(FileOperation::Entries).await;
        if let Some(PlannedFailure::Before(kind)) = failure {
            return Err(planned(kind, directory));
        }
        settle(self.0.inner.entries(directory, limit).await, failure, directory)
    }

    fn is_local(&self) -> bool {
        self.0.inner.is_local()
    }

    fn file_walk(&self) -> Option<&dyn FileWalk> {
        // Searches then read through this workspace.
        None
    }
}

#[derive(Debug)]
struct FaultyFile {
    file: Box<dyn OpenFile>,
    path: Box<Path>,
    faults: Arc<WorkspaceFaults>,
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl OpenFile for FaultyFile {
    fn info(&self) -> &FileInfo {
        self.file.info()
    }

    async fn read(&mut self, limit: usize) -> Result<Vec<u8>, WorkspaceError> {
        let failure = self.faults.plan.begin(FileOperation::Read).await;
        if let Some(PlannedFailure::Before(kind)) = failure {
            return Err(planned(kind, &self.path));
        }
        let limit = match self.faults.read_size.load(Ordering::Relaxed) {
            0 => limit,
            size => size.min(limit),
        };
        settle(self.file.read(limit).await, failure, &self.path)
    }
}
