//! Checkpoints of files: kept by content, found by an index.

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
    /// The baseline of the workspace that is kept while a session is open, in bytes: beside the total, and of use to one
    /// process only. Small files come first; what finds no room is named. Default: 1 GiB.
    pub baseline_bytes: u64,
}

impl Default for CheckpointLimits {
    fn default() -> Self {
        Self { file_bytes: 64 << 20, total_bytes: 1 << 30, baseline_bytes: 1 << 30 }
    }
}

impl CheckpointLimits {
    /// Other limits; the baseline may be as large as the total.
    pub fn new(file_bytes: u64, total_bytes: u64) -> Self {
        Self { file_bytes, total_bytes, baseline_bytes: total_bytes }
    }

    /// Sets how large the baseline may be, in bytes.
    #[must_use]
    pub fn with_baseline(mut self, bytes: u64) -> Self {
        self.baseline_bytes = bytes;
        self
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
/// The first [`survey`](Checkpoints::survey) keeps the contents of the workspace, as far as they fit, in a file without a
/// name, which goes with the process. What programs have changed is written without waiting for the disk: a crash of the
/// process loses none of it, one of the machine may lose the last of it.
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
        let directory = directory.into();
        Self(Engine::new(Disk::new(directory.clone()), tree, clock, ids, limits)).leaving_out(directory)
    }

    /// Leaves a directory out of baselines: the one in which sessions are stored. That of the checkpoints is left out anyway.
    #[must_use]
    pub fn leaving_out(mut self, directory: impl Into<PathBuf>) -> Self {
        self.0.own.push(directory.into());
        self
    }

    /// Does not copy files that may hold secrets, as far as programs change them: `is_secret` is asked with paths below the
    /// workspace. They are named as left out. What tools with declared paths change of them, and what the session makes, is
    /// kept all the same.
    #[must_use]
    pub fn leaving_secrets(mut self, is_secret: fn(&Path) -> bool) -> Self {
        self.0.secrets = is_secret;
        self
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
