//! Checkpoints of files: stored by content, found by an index.

mod baseline;
mod blocks;
pub(crate) mod collect;
mod disk;
mod engine;
mod history;
mod lines;
mod memory;
mod pack;
mod record;
mod rewind;
mod shelf;
mod survey;

pub use self::collect::{CheckpointRetention, CollectedCheckpoints, SessionCheckpoints};

use async_trait::async_trait;
use disk::Disk;
use engine::Engine;
use memory::Memory;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass_session::{Checkpoint, CheckpointError, Checkpoints, Rewind, RewindOptions, Survey};
use windlass_tool::{Clock, FileTree, Ids};
use windlass_types::{EntryId, ToolUseId};

/// Storage limits of checkpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckpointLimits {
    /// Maximum size of a kept file, in bytes. Larger ones are recorded by name, and cannot be restored. Default: 64
    /// MiB.
    pub file_bytes: u64,
    /// Maximum total size of all contents, in bytes. The oldest are dropped for later ones, which is recorded as well.
    /// Default: 1 GiB.
    pub total_bytes: u64,
    /// Maximum size of the workspace baseline that is kept while a session is open, in bytes: not part of the total,
    /// and used by one process only. Small files come first; files that do not fit are named. Default: 1 GiB.
    pub baseline_bytes: u64,
}

impl Default for CheckpointLimits {
    fn default() -> Self {
        Self { file_bytes: 64 << 20, total_bytes: 1 << 30, baseline_bytes: 1 << 30 }
    }
}

impl CheckpointLimits {
    /// Returns limits with these values; the baseline may be as large as the total.
    pub fn new(file_bytes: u64, total_bytes: u64) -> Self {
        Self { file_bytes, total_bytes, baseline_bytes: total_bytes }
    }

    /// Sets the maximum size of the baseline, in bytes.
    #[must_use]
    pub fn with_baseline(mut self, bytes: u64) -> Self {
        self.baseline_bytes = bytes;
        self
    }
}

/// Checkpoints of one session in a directory of their own, readable by its user only.
///
/// `objects/` contains contents under their BLAKE3 hash, each once. `index.jsonl` records in checksummed, append-only
/// lines the content of each file before each prompt. A content is durable before the line that needs it, and the line
/// before [`keep`](Checkpoints::keep) returns. A torn last line is dropped when the index is read; after other damage
/// only later checkpoints are usable.
///
/// The first [`survey`](Checkpoints::survey) keeps the contents of the workspace, as far as they fit, in an unnamed
/// file, which is gone with the process. Changes by programs are written without waiting for the disk: a crash of the
/// process loses none of them, a crash of the machine may lose the last.
///
/// No file is read or created before the first use. From then on the index is locked: one process uses the checkpoints
/// of a session at a time.
#[derive(Debug)]
pub struct FileCheckpoints(Engine<Disk>);

impl FileCheckpoints {
    /// Returns checkpoints in a directory, of files that are accessed through `tree`.
    pub fn new(
        directory: impl Into<PathBuf>,
        tree: Arc<dyn FileTree>,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn Ids>,
    ) -> Self {
        Self::with_limits(directory, tree, clock, ids, CheckpointLimits::default())
    }

    /// Returns checkpoints like [`new`](Self::new), with other limits.
    pub fn with_limits(
        directory: impl Into<PathBuf>,
        tree: Arc<dyn FileTree>,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn Ids>,
        limits: CheckpointLimits,
    ) -> Self {
        let directory = directory.into();
        Self(Engine::new(Disk::new(directory.clone()), tree, clock, ids, limits)).leaving_out(directory)
    }

    /// Excludes a directory from baselines: the one in which sessions are stored. The directory of the checkpoints is
    /// always excluded.
    #[must_use]
    pub fn leaving_out(mut self, directory: impl Into<PathBuf>) -> Self {
        self.0.own.push(directory.into());
        self
    }

    /// Excludes files that may contain secrets from copies of programs' changes: `is_secret` gets paths relative to the
    /// workspace. Such files are named as left out. Changes by tools with declared paths, and files created by the
    /// session, are kept even so.
    #[must_use]
    pub fn leaving_secrets(mut self, is_secret: fn(&Path) -> bool) -> Self {
        self.0.secrets = is_secret;
        self
    }

    /// Returns the directory of the checkpoints of a session, given the session's data folder.
    pub fn directory_in(session: &Path) -> PathBuf {
        session.join("file-history")
    }
}

/// Checkpoints of one session in memory: for tests, and for hosts without files.
#[derive(Debug)]
pub struct MemoryCheckpoints(Engine<Memory>);

impl MemoryCheckpoints {
    /// Returns checkpoints of files that are accessed through `tree`.
    pub fn new(tree: Arc<dyn FileTree>, clock: Arc<dyn Clock>, ids: Arc<dyn Ids>) -> Self {
        Self::with_limits(tree, clock, ids, CheckpointLimits::default())
    }

    /// Returns checkpoints like [`new`](Self::new), with other limits.
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

            async fn survey(&self, survey: &Survey) -> Result<(), CheckpointError> {
                self.0.survey(survey).await
            }

            async fn settle(&self) {
                self.0.settle().await;
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
