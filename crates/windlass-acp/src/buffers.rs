//! Files with the changes that the editor has not saved.

use crate::client::AcpClient;
use async_trait::async_trait;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use windlass_tool::{
    DirectoryEntry, EditOrder, FileInfo, FileWalk, OpenFile, Permit, ResolvedPath, Workspace, WorkspaceError,
    WorkspaceErrorKind, WriteOptions,
};

/// Maximum size of a file that the editor is asked for, in bytes.
const LARGEST: u64 = 4 * 1024 * 1024;
/// Size of one read, in bytes.
const PART: usize = 256 * 1024;
/// Time for the answer of the editor. Afterwards the file on disk is read.
const LIMIT: Duration = Duration::from_secs(2);

/// Files of the session, read as the editor has them.
///
/// - The editor is told a path only after the files below have opened it with the [`Permit`] of the call, so never that
///   of a file that the call may not read. Hidden files and files outside of the session's directories are read from the
///   disk alone.
/// - A file with changes that are not saved is never written, removed or renamed: the call fails and says to save first.
/// - Searches, programs and checkpoints use the disk.
#[derive(Debug)]
pub(crate) struct BufferedFiles {
    disk: Arc<dyn Workspace>,
    client: AcpClient,
    /// Directories of the session, with links followed.
    directories: Vec<PathBuf>,
}

/// File as the editor has it.
#[derive(Debug)]
struct BufferFile {
    info: FileInfo,
    content: Vec<u8>,
    at: usize,
}

impl BufferedFiles {
    pub(crate) fn new(disk: Arc<dyn Workspace>, client: AcpClient, directories: Vec<PathBuf>) -> Self {
        Self { disk, client, directories }
    }

    /// `true` if the editor may be told this path.
    fn is_shared(&self, path: &Path) -> bool {
        let is_plain = |rest: &Path| {
            rest.components().all(|part| match part {
                Component::Normal(name) => !name.as_encoded_bytes().starts_with(b"."),
                _ => false,
            })
        };
        self.directories.iter().any(|directory| path.strip_prefix(directory).is_ok_and(is_plain))
    }

    /// The changed content that the editor has not saved of a file that may be read. `None` if it has none, does not
    /// answer in time, or may not be told the path.
    async fn unsaved(&self, path: &Path, disk: &[u8]) -> Option<Vec<u8>> {
        // A file that is no text is no buffer.
        let disk = std::str::from_utf8(disk).ok().filter(|_| self.is_shared(path))?;
        let read = tokio::time::timeout(LIMIT, self.client.read_text_file(path)).await;
        let buffer = read.ok()?.ok()?;
        // Editors have one kind of line end in memory, and no mark at the beginning.
        let plain = |text: &str| text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
        (plain(&buffer) != plain(disk)).then(|| buffer.into_bytes())
    }

    /// Fails if the editor has changes of this file that are not saved.
    async fn check_saved(&self, permit: &Permit, path: &Path) -> Result<(), WorkspaceError> {
        if !self.is_shared(path) {
            return Ok(());
        }
        // A file that cannot be opened is no reason: the operation itself says why.
        let Ok(file) = self.disk.open(permit, path).await else { return Ok(()) };
        let Ok(Some(disk)) = content(file).await else { return Ok(()) };
        if self.unsaved(path, &disk).await.is_none() {
            return Ok(());
        }
        let message = format!(
            "{} has changes in the editor that are not saved: ask the user to save the file first",
            path.display()
        );
        Err(WorkspaceError::new(WorkspaceErrorKind::Other, message))
    }
}

/// The whole content of a file; `None` if it is too large for a buffer.
async fn content(mut file: Box<dyn OpenFile>) -> Result<Option<Vec<u8>>, WorkspaceError> {
    if file.info().size > LARGEST {
        return Ok(None);
    }
    let mut content = Vec::new();
    loop {
        let part = file.read(PART).await?;
        if part.is_empty() {
            return Ok(Some(content));
        }
        content.extend(part);
        if content.len() as u64 > LARGEST {
            return Ok(None);
        }
    }
}

#[async_trait]
impl Workspace for BufferedFiles {
    async fn resolve(&self, path: &Path) -> Result<ResolvedPath, WorkspaceError> {
        self.disk.resolve(path).await
    }

    async fn open(&self, permit: &Permit, path: &Path) -> Result<Box<dyn OpenFile>, WorkspaceError> {
        let file = self.disk.open(permit, path).await?;
        if !self.is_shared(path) || file.info().size > LARGEST {
            return Ok(file);
        }
        let info = file.info().clone();
        let Some(disk) = content(file).await? else { return self.disk.open(permit, path).await };
        let (info, content) = match self.unsaved(path, &disk).await {
            Some(buffer) => {
                // The time of the disk says nothing about the buffer.
                let changed = FileInfo::new(buffer.len() as u64, None, info.executable);
                (changed.with_names(info.names), buffer)
            }
            None => (info, disk),
        };
        Ok(Box::new(BufferFile { info, content, at: 0 }))
    }

    async fn write(
        &self,
        permit: &Permit,
        path: &Path,
        content: &[u8],
        options: WriteOptions,
    ) -> Result<(), WorkspaceError> {
        self.check_saved(permit, path).await?;
        self.disk.write(permit, path, content, options).await
    }

    async fn compare_and_write(
        &self,
        permit: &Permit,
        path: &Path,
        expected: &[u8],
        content: &[u8],
    ) -> Result<(), WorkspaceError> {
        self.check_saved(permit, path).await?;
        self.disk.compare_and_write(permit, path, expected, content).await
    }

    async fn compare_and_remove(&self, permit: &Permit, path: &Path, expected: &[u8]) -> Result<(), WorkspaceError> {
        self.check_saved(permit, path).await?;
        self.disk.compare_and_remove(permit, path, expected).await
    }

    fn edit_order(&self) -> Option<&EditOrder> {
        self.disk.edit_order()
    }

    async fn remove(&self, permit: &Permit, path: &Path) -> Result<(), WorkspaceError> {
        self.check_saved(permit, path).await?;
        self.disk.remove(permit, path).await
    }

    async fn rename(
        &self,
        permit: &Permit,
        from: &Path,
        to: &Path,
        options: WriteOptions,
    ) -> Result<(), WorkspaceError> {
        self.check_saved(permit, from).await?;
        self.check_saved(permit, to).await?;
        self.disk.rename(permit, from, to, options).await
    }

    async fn list(&self, permit: &Permit, path: &Path, limit: usize) -> Result<Vec<String>, WorkspaceError> {
        self.disk.list(permit, path, limit).await
    }

    async fn entries(&self, directory: &Path, limit: usize) -> Result<Vec<DirectoryEntry>, WorkspaceError> {
        self.disk.entries(directory, limit).await
    }

    fn file_walk(&self) -> Option<&dyn FileWalk> {
        self.disk.file_walk()
    }

    fn is_local(&self) -> bool {
        self.disk.is_local()
    }
}

#[async_trait]
impl OpenFile for BufferFile {
    fn info(&self) -> &FileInfo {
        &self.info
    }

    async fn read(&mut self, limit: usize) -> Result<Vec<u8>, WorkspaceError> {
        let rest = self.content.get(self.at..).unwrap_or_default();
        let part = rest.get(..limit).unwrap_or(rest).to_vec();
        self.at += part.len();
        Ok(part)
    }
}
