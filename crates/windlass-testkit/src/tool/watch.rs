//! A session that records the files and programs that a call uses.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use windlass_tool::{
    Cancel, DirectoryEntry, EditOrder, FileWalk, OpenFile, Permit, Process, ProcessCommand, ProcessError,
    ProcessOutcome, ResolvedPath, Workspace, WorkspaceError, WorkspaceErrorKind, WriteOptions,
};

/// Files and programs that a call used and that its access does not name.
#[derive(Debug, Clone, Default)]
pub(super) struct AccessNotes(Arc<Mutex<WatchState>>);

#[derive(Debug, Default)]
struct WatchState {
    refused: Vec<PathBuf>,
    programs: Vec<String>,
}

impl AccessNotes {
    pub(super) fn refused(&self) -> Vec<PathBuf> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).refused.clone()
    }

    pub(super) fn programs(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).programs.clone()
    }

    fn look<T>(&self, result: Result<T, WorkspaceError>, path: &Path) -> Result<T, WorkspaceError> {
        if result.as_ref().is_err_and(|error| error.kind == WorkspaceErrorKind::NotPermitted) {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).refused.push(path.to_owned());
        }
        result
    }
}

#[derive(Debug)]
pub(super) struct WatchedWorkspace<P: ?Sized> {
    pub(super) inner: Arc<P>,
    pub(super) notes: AccessNotes,
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl Workspace for WatchedWorkspace<dyn Workspace> {
    async fn resolve(&self, path: &Path) -> Result<ResolvedPath, WorkspaceError> {
        self.inner.resolve(path).await
    }

    async fn open(&self, permit: &Permit, path: &Path) -> Result<Box<dyn OpenFile>, WorkspaceError> {
        self.notes.look(self.inner.open(permit, path).await, path)
    }

    async fn write(
        &self,
        permit: &Permit,
        path: &Path,
        content: &[u8],
        options: WriteOptions,
    ) -> Result<(), WorkspaceError> {
        self.notes.look(self.inner.write(permit, path, content, options).await, path)
    }

    async fn remove(&self, permit: &Permit, path: &Path) -> Result<(), WorkspaceError> {
        self.notes.look(self.inner.remove(permit, path).await, path)
    }

    async fn compare_and_write(
        &self,
        permit: &Permit,
        path: &Path,
        expected: &[u8],
        content: &[u8],
    ) -> Result<(), WorkspaceError> {
        self.notes.look(self.inner.compare_and_write(permit, path, expected, content).await, path)
    }

    async fn compare_and_remove(&self, permit: &Permit, path: &Path, expected: &[u8]) -> Result<(), WorkspaceError> {
        self.notes.look(self.inner.compare_and_remove(permit, path, expected).await, path)
    }

    fn edit_order(&self) -> Option<&EditOrder> {
        self.inner.edit_order()
    }

    async fn rename(
        &self,
        permit: &Permit,
        from: &Path,
        to: &Path,
        options: WriteOptions,
    ) -> Result<(), WorkspaceError> {
        self.notes.look(self.inner.rename(permit, from, to, options).await, to)
    }

    async fn list(&self, permit: &Permit, path: &Path, limit: usize) -> Result<Vec<String>, WorkspaceError> {
        // Used for hints: a refusal costs nothing.
        self.inner.list(permit, path, limit).await
    }

    async fn entries(&self, directory: &Path, limit: usize) -> Result<Vec<DirectoryEntry>, WorkspaceError> {
        self.inner.entries(directory, limit).await
    }

    fn is_local(&self) -> bool {
        self.inner.is_local()
    }

    fn file_walk(&self) -> Option<&dyn FileWalk> {
        // Searches then read through this workspace.
        None
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl Process for WatchedWorkspace<dyn Process> {
    async fn run(&self, command: ProcessCommand, cancel: &Cancel) -> Result<ProcessOutcome, ProcessError> {
        let program = command.program.to_string_lossy().into_owned();
        self.notes.0.lock().unwrap_or_else(PoisonError::into_inner).programs.push(program);
        self.inner.run(command, cancel).await
    }
}
