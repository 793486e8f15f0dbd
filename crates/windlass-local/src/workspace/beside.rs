//! Remote workspace with some folders of this machine.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use windlass_tool::{
    DirectoryEntry, EditOrder, FileWalk, OpenFile, Permit, ResolvedPath, Workspace, WorkspaceError, WorkspaceErrorKind,
    WriteOptions,
};

use super::LocalWorkspace;
use windlass_types::text::visible_path;

/// A remote workspace with some folders of this machine, such as those with large results that the model reads back.
///
/// The local folders are readable under their own paths and hide remote files of the same path. They are never written
/// through this type.
#[derive(Debug)]
pub struct WithLocalFolders {
    remote: Arc<dyn Workspace>,
    folders: Vec<PathBuf>,
    local: LocalWorkspace,
}

impl WithLocalFolders {
    /// Adds folders, by their absolute paths, to a workspace.
    pub fn new(remote: Arc<dyn Workspace>, folders: impl IntoIterator<Item = PathBuf>) -> Self {
        Self { remote, folders: folders.into_iter().collect(), local: LocalWorkspace::new() }
    }

    fn is_in_local_folder(&self, path: &Path) -> bool {
        let is_plain = !path.components().any(|part| matches!(part, std::path::Component::ParentDir));
        is_plain && self.folders.iter().any(|folder| path.starts_with(folder))
    }

    fn workspace_of(&self, path: &Path) -> &dyn Workspace {
        if self.is_in_local_folder(path) { &self.local } else { &*self.remote }
    }

    fn remote_for_writing(&self, path: &Path) -> Result<&dyn Workspace, WorkspaceError> {
        if self.is_in_local_folder(path) {
            let message = format!("{} holds what was kept for reading, and is not written", visible_path(path));
            return Err(WorkspaceError::new(WorkspaceErrorKind::NotPermitted, message));
        }
        Ok(&*self.remote)
    }
}

#[async_trait]
impl Workspace for WithLocalFolders {
    async fn resolve(&self, path: &Path) -> Result<ResolvedPath, WorkspaceError> {
        let found = self.workspace_of(path).resolve(path).await?;
        // A link must not lead from one machine to the other: a path judged on one would be opened on the other.
        if self.is_in_local_folder(path) != self.is_in_local_folder(&found.path) {
            let message = format!("{} leads from one machine to another", visible_path(path));
            return Err(WorkspaceError::new(WorkspaceErrorKind::NotPermitted, message));
        }
        Ok(found)
    }

    async fn open(&self, permit: &Permit, path: &Path) -> Result<Box<dyn OpenFile>, WorkspaceError> {
        self.workspace_of(path).open(permit, path).await
    }

    async fn write(
        &self,
        permit: &Permit,
        path: &Path,
        content: &[u8],
        options: WriteOptions,
    ) -> Result<(), WorkspaceError> {
        self.remote_for_writing(path)?.write(permit, path, content, options).await
    }

    async fn compare_and_write(
        &self,
        permit: &Permit,
        path: &Path,
        expected: &[u8],
        content: &[u8],
    ) -> Result<(), WorkspaceError> {
        self.remote_for_writing(path)?.compare_and_write(permit, path, expected, content).await
    }

    async fn compare_and_remove(&self, permit: &Permit, path: &Path, expected: &[u8]) -> Result<(), WorkspaceError> {
        self.remote_for_writing(path)?.compare_and_remove(permit, path, expected).await
    }

    fn edit_order(&self) -> Option<&EditOrder> {
        self.remote.edit_order()
    }

    async fn remove(&self, permit: &Permit, path: &Path) -> Result<(), WorkspaceError> {
        self.remote_for_writing(path)?.remove(permit, path).await
    }

    async fn rename(
        &self,
        permit: &Permit,
        from: &Path,
        to: &Path,
        options: WriteOptions,
    ) -> Result<(), WorkspaceError> {
        self.remote_for_writing(to)?;
        self.remote_for_writing(from)?.rename(permit, from, to, options).await
    }

    async fn list(&self, permit: &Permit, path: &Path, limit: usize) -> Result<Vec<String>, WorkspaceError> {
        self.workspace_of(path).list(permit, path, limit).await
    }

    async fn entries(&self, directory: &Path, limit: usize) -> Result<Vec<DirectoryEntry>, WorkspaceError> {
        self.workspace_of(directory).entries(directory, limit).await
    }

    fn file_walk(&self) -> Option<&dyn FileWalk> {
        self.remote.file_walk()
    }

    fn is_local(&self) -> bool {
        self.remote.is_local()
    }
}
