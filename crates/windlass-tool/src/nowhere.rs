//! A workspace and a process port that refuse every use.

use crate::{
    Cancel, OpenFile, Permit, Process, ProcessCommand, ProcessError, ProcessOutcome, ResolvedPath, Workspace,
    WorkspaceError, WorkspaceErrorKind, WriteOptions,
};
use async_trait::async_trait;
use std::path::Path;

/// A workspace without files and a process port without programs, for tools that need neither. Each attempt fails with
/// one text, which names the place where files and programs are instead.
#[derive(Debug, Clone)]
pub struct Nowhere {
    reason: &'static str,
}

impl Nowhere {
    /// Returns ports that fail each attempt for this reason.
    pub const fn new(reason: &'static str) -> Self {
        Self { reason }
    }

    fn fail<T>(&self) -> Result<T, WorkspaceError> {
        Err(WorkspaceError::new(WorkspaceErrorKind::NotFound, self.reason))
    }
}

#[async_trait]
impl Workspace for Nowhere {
    async fn resolve(&self, _: &Path) -> Result<ResolvedPath, WorkspaceError> {
        self.fail()
    }

    async fn open(&self, _: &Permit, _: &Path) -> Result<Box<dyn OpenFile>, WorkspaceError> {
        self.fail()
    }

    async fn write(&self, _: &Permit, _: &Path, _: &[u8], _: WriteOptions) -> Result<(), WorkspaceError> {
        self.fail()
    }

    async fn remove(&self, _: &Permit, _: &Path) -> Result<(), WorkspaceError> {
        self.fail()
    }

    async fn rename(&self, _: &Permit, _: &Path, _: &Path, _: WriteOptions) -> Result<(), WorkspaceError> {
        self.fail()
    }

    async fn list(&self, _: &Permit, _: &Path, _: usize) -> Result<Vec<String>, WorkspaceError> {
        self.fail()
    }

    fn is_local(&self) -> bool {
        false
    }
}

#[async_trait]
impl Process for Nowhere {
    async fn run(&self, _: ProcessCommand, _: &Cancel) -> Result<ProcessOutcome, ProcessError> {
        Err(ProcessError::new(self.reason))
    }
}
