//! Whole remote files, for checkpoints that store and restore them.

use std::path::Path;

use async_trait::async_trait;
use windlass_tool::{FileContent, FileTree, OpenFile as _, WholeFile, WorkspaceError, WorkspaceErrorKind};

use crate::RemoteWorkspace;
use crate::error::refused;
use crate::open_file::open_at;
use crate::quote::apart;
use crate::workspace::{Put, bytes, parted};

/// Trees are not surveyed, because the changes of remote commands are unknown.
#[async_trait]
impl FileTree for RemoteWorkspace {
    async fn read_whole(&self, path: &Path, limit: u64) -> Result<WholeFile, WorkspaceError> {
        let mut opened = match open_at(&self.link, path, path).await {
            Ok(opened) => opened,
            Err(error) if error.kind == WorkspaceErrorKind::NotFound => return self.missing(path).await,
            Err(error) => return Err(error),
        };
        let size = opened.file.info().size;
        if size > limit {
            return Ok(WholeFile::TooLarge { size });
        }
        let mut content = Vec::new();
        loop {
            let part = opened.file.read(usize::MAX).await?;
            if part.is_empty() {
                let whole = FileContent::new(content, Some(opened.mode)).with_names(opened.names);
                return Ok(WholeFile::File(whole));
            }
            content.extend(part);
            // The file may grow meanwhile.
            let size = content.len() as u64;
            if size > limit {
                return Ok(WholeFile::TooLarge { size });
            }
        }
    }

    async fn put_whole(&self, path: &Path, content: &[u8], mode: Option<u32>) -> Result<(), WorkspaceError> {
        let mode = mode.map(|mode| format!("{:o}", mode & 0o7777)).unwrap_or_default();
        self.put(path, path, content, Put { make: true, mode: &mode, ..Put::default() }).await
    }

    async fn compare_and_put(
        &self,
        path: &Path,
        expected: Option<&[u8]>,
        content: &[u8],
        mode: Option<u32>,
    ) -> Result<(), WorkspaceError> {
        let mode = mode.map(|mode| format!("{:o}", mode & 0o7777)).unwrap_or_default();
        let put = Put { make: true, only_new: expected.is_none(), mode: &mode, expected };
        self.put(path, path, content, put).await.map_err(|error| match error.kind {
            WorkspaceErrorKind::AlreadyExists => WorkspaceError::content_changed(path),
            _ => error,
        })
    }

    async fn remove(&self, path: &Path, parents: u32) -> Result<(), WorkspaceError> {
        let (folder, name) = parted(path, path)?;
        self.change(&apart("clear", [folder, name, parents.to_string().as_bytes()]), None, path).await
    }
}

impl RemoteWorkspace {
    async fn missing(&self, path: &Path) -> Result<WholeFile, WorkspaceError> {
        let folder = path.parent().unwrap_or(path);
        let answer = self.look(&apart("absent", [bytes(folder)?]), path).await?;
        let number = std::str::from_utf8(&answer.body).ok().and_then(|text| text.parse().ok());
        let missing_parents = number.ok_or_else(|| refused(20, path, b"the answer is no number"))?;
        Ok(WholeFile::Absent { missing_parents })
    }
}
