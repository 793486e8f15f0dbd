//! Whole files in memory, for checkpoints.

use std::path::Path;

use async_trait::async_trait;
use windlass_tool::{EntryKind, FileContent, FileTree, WholeFile, WorkspaceError, WorkspaceErrorKind, WriteOptions};

use super::tree::{FakeTree, Stored};
use super::{MemoryWorkspace, refused};
use crate::fake::lock;

/// Modes of files that are not executable and of those that are.
const MODES: [u32; 2] = [0o644, 0o755];

#[async_trait]
impl FileTree for MemoryWorkspace {
    async fn read_whole(&self, path: &Path, limit: u64) -> Result<WholeFile, WorkspaceError> {
        let tree = lock(&self.0);
        let node = match tree.walk(path) {
            Ok(node) => node,
            Err(WorkspaceErrorKind::NotFound) => {
                let missing = path.ancestors().skip(1).take_while(|above| tree.kind(above) == EntryKind::Missing);
                let missing_parents = u32::try_from(missing.count()).unwrap_or(u32::MAX);
                return Ok(WholeFile::Absent { missing_parents });
            }
            Err(kind) => return Err(refused(kind, path)),
        };
        match &node.stored {
            Stored::File { content, .. } if content.len() as u64 > limit => {
                Ok(WholeFile::TooLarge { size: content.len() as u64 })
            }
            Stored::File { content, executable } => {
                let [plain, runs] = MODES;
                let mode = if *executable { runs } else { plain };
                Ok(WholeFile::File(FileContent::new(content.to_vec(), Some(mode))))
            }
            Stored::Directory => Err(refused(WorkspaceErrorKind::IsDirectory, path)),
            Stored::Link(_) => Err(refused(WorkspaceErrorKind::Changed, path)),
            Stored::Special => Err(refused(WorkspaceErrorKind::NotRegular, path)),
        }
    }

    async fn put_whole(&self, path: &Path, content: &[u8], mode: Option<u32>) -> Result<(), WorkspaceError> {
        let mut tree = lock(&self.0);
        let options = WriteOptions::default().creating_directories();
        tree.write(path, content, options).map_err(|kind| refused(kind, path))?;
        if let Some(mode) = mode {
            tree.set_executable(path, mode & 0o111 != 0);
        }
        Ok(())
    }

    async fn compare_and_put(
        &self,
        path: &Path,
        expected: Option<&[u8]>,
        content: &[u8],
        mode: Option<u32>,
    ) -> Result<(), WorkspaceError> {
        let mut tree = lock(&self.0);
        let options = WriteOptions::default().creating_directories();
        let written = match expected {
            Some(expected) => tree.compare(path, expected).and_then(|()| tree.write(path, content, options)),
            None => tree.write(path, content, options.only_new()),
        };
        written.map_err(|kind| match kind {
            WorkspaceErrorKind::AlreadyExists => WorkspaceError::content_changed(path),
            _ => refused(kind, path),
        })?;
        if let Some(mode) = mode {
            tree.set_executable(path, mode & 0o111 != 0);
        }
        Ok(())
    }

    async fn remove(&self, path: &Path, parents: u32) -> Result<(), WorkspaceError> {
        let mut tree = lock(&self.0);
        match tree.remove_file(path) {
            Ok(()) | Err(WorkspaceErrorKind::NotFound) => {}
            Err(kind) => return Err(refused(kind, path)),
        }
        let take = usize::try_from(parents).unwrap_or(usize::MAX);
        for above in path.ancestors().skip(1).take(take) {
            if tree.kind(above) != EntryKind::Directory || !is_empty(&tree, above) {
                break;
            }
            tree.remove(above);
        }
        Ok(())
    }
}

fn is_empty(tree: &FakeTree, directory: &Path) -> bool {
    tree.names(directory).next().is_none()
}
