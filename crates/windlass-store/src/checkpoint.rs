//! Checkpoints of files: kept by content, found by an index.

mod disk;
mod engine;
mod history;
mod lines;
mod memory;
mod record;
mod rewind;
mod shelf;

use async_trait::async_trait;
use disk::Disk;
use engine::Engine;
use memory::Memory;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass_session::{Checkpoint, CheckpointError, Checkpoints, Rewind, RewindOptions};
use windlass_tool::{Clock, FileTree, Ids};
use windlass_types::{EntryId, ToolUseId};

/// How much is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckpointLimits {
    /// The largest file that is kept, in bytes. Larger ones are recorded by name, and are not
    /// put back. Default: 64 MiB.
    pub file_bytes: u64,
    /// All contents together, in bytes. The oldest make room for later ones; that
    /// too is recorded. Default: 1 GiB.
    pub total_bytes: u64,
}

impl Default for CheckpointLimits {
    fn default() -> Self {
        Self { file_bytes: 64 << 20, total_bytes: 1 << 30 }
    }
}

impl CheckpointLimits {
    /// Other limits.
    pub fn new(file_bytes: u64, total_bytes: u64) -> Self {
        Self { file_bytes, total_bytes }
    }
}

/// Checkpoints of one session in a directory of their own, readable by its user only.
///
/// `objects/` holds contents under their BLAKE3 hash, each once. `index.jsonl` records in
/// checksummed, append-only lines which file had which content before which
/// prompt. A content is durable before the line that needs it, and the line
/// before [`keep`](Checkpoints::keep) returns. A torn last line is dropped when
/// the index is read; behind other damage only later checkpoints are usable.
///
/// No file is read or made before the first use. From then on the index is
/// locked: one process uses the checkpoints of a session at a time.
#[derive(Debug)]
pub struct FileCheckpoints(Engine<Disk>);

impl FileCheckpoints {
    /// Checkpoints in a directory, of files that are reached through `tree`.
    pub fn new(
        directory: impl Into<PathBuf>,
        tree: Arc<dyn FileTree>,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn Ids>,
    ) -> Self {
        Self::with_limits(directory, tree, clock, ids, CheckpointLimits::default())
    }

    /// The same with other limits.
    pub fn with_limits(
        directory: impl Into<PathBuf>,
        tree: Arc<dyn FileTree>,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn Ids>,
        limits: CheckpointLimits,
    ) -> Self {
        Self(Engine::new(Disk::new(directory.into()), tree, clock, ids, limits))
    }

    /// The directory in which the checkpoints of a session are, given that of
    /// what else belongs to the session.
    pub fn directory_in(session: &Path) -> PathBuf {
        session.join("file-history")
    }
}

/// Checkpoints of one session in memory: for tests, and for hosts that keep no files.
#[derive(Debug)]
pub struct MemoryCheckpoints(Engine<Memory>);

impl MemoryCheckpoints {
    /// Checkpoints of files that are reached through `tree`.
    pub fn new(tree: Arc<dyn FileTree>, clock: Arc<dyn Clock>, ids: Arc<dyn Ids>) -> Self {
        Self::with_limits(tree, clock, ids, CheckpointLimits::default())
    }

    /// The same with other limits.
    pub fn with_limits(
        tree: Arc<dyn FileTree>,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn Ids>,
        limits: CheckpointLimits,
    ) -> Self {
        Self(Engine::new(Memory::default(), tree, clock, ids, limits))
    }
}

macro_rules! checkpoints {
    ($name:ty) => {
        #[async_trait]
        impl Checkpoints for $name {
            async fn begin(&self, prompt: &EntryId) -> Result<(), CheckpointError> {
                self.0.begin(prompt).await
            }

            async fn keep(
                &self,
                prompt: &EntryId,
                tool_use: &ToolUseId,
                paths: &[PathBuf],
            ) -> Result<(), CheckpointError> {
                self.0.keep(prompt, tool_use, paths).await
            }

            async fn changed(&self, _tool_use: &ToolUseId, paths: &[PathBuf]) -> Result<(), CheckpointError> {
                self.0.changed(paths).await
            }

            async fn list(&self) -> Result<Vec<Checkpoint>, CheckpointError> {
                self.0.list().await
            }

            async fn changes(&self, to: &EntryId, options: &RewindOptions) -> Result<Rewind, CheckpointError> {
                self.0.changes(to, options).await
            }

            async fn rewind(&self, to: &EntryId, options: &RewindOptions) -> Result<Rewind, CheckpointError> {
                self.0.rewind(to, options).await
            }
        }
    };
}

checkpoints!(FileCheckpoints);
checkpoints!(MemoryCheckpoints);
