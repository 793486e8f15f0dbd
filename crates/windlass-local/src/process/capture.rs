//! Output of a child: its first and last bytes in bounded memory, and all of it in a file once memory is full.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};

use super::kept_space::KeptSpace;
use tokio::fs::File;
use tokio::io::AsyncWriteExt as _;
use windlass_blocking::run_blocking;
use windlass_tool::private_file;

/// Limits of the output in memory, and the file for all of it.
#[derive(Debug, Clone)]
pub(crate) struct CaptureLimits {
    /// Maximum number of bytes in memory. Up to this size all output is kept; beyond it one half holds the beginning
    /// and one half the end.
    pub(crate) memory: usize,
    /// File for the whole output, created with mode 0600 when the output passes `spill_above`. It must not exist
    /// before. `None` keeps no copy.
    pub(crate) spill: Option<PathBuf>,
    /// Number of bytes of output up to which no file is created; capped at `memory`. With zero the file exists from
    /// the start.
    pub(crate) spill_above: usize,
    /// Maximum number of bytes of the file.
    pub(crate) spill_cap: u64,
    /// Disk space account of the file.
    pub(crate) space: KeptSpace,
}

/// Copy of the whole output on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spill {
    pub(crate) path: PathBuf,
    /// Number of bytes in the file.
    pub(crate) bytes: u64,
    /// `true` if the file holds everything; `false` when the cap was reached or writing failed.
    pub(crate) complete: bool,
}

/// Collector of one output stream.
#[derive(Debug)]
pub(crate) struct Capture {
    limits: CaptureLimits,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
    file: SpillFile,
}

#[derive(Debug)]
enum SpillFile {
    Unused,
    Open { file: File, spill: Spill },
    Closed(Option<Spill>),
}

/// Kept parts of a finished stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Captured {
    /// First bytes of the stream, up to half of the memory limit.
    pub(crate) head: Vec<u8>,
    /// Last bytes of the stream. They follow `head` directly unless bytes were left out.
    pub(crate) tail: Vec<u8>,
    /// Number of bytes of the stream.
    pub(crate) total: u64,
    /// Copy on disk, if one was made.
    pub(crate) spill: Option<Spill>,
}

impl Capture {
    pub(crate) fn new(limits: CaptureLimits) -> Self {
        Self { limits, head: Vec::new(), tail: VecDeque::new(), total: 0, file: SpillFile::Unused }
    }

    /// Creates the file if `spill_above` is zero. Its name is synced, because it is reported before the output ends.
    pub(crate) async fn begin(&mut self) {
        if self.limits.spill_above == 0 {
            self.open_spill().await;
            if let SpillFile::Open { spill, .. } = &self.file
                && let Err(error) = sync_names(&spill.path).await
            {
                tracing::warn!(path = %spill.path.display(), %error, "output may not be kept");
            }
        }
    }

    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// Takes the next bytes. Not cancel safe: a dropped call may lose a part of the copy on disk.
    pub(crate) async fn push(&mut self, chunk: &[u8]) {
        let buffered = self.head.len().saturating_add(self.tail.len());
        if buffered.saturating_add(chunk.len()) > self.limits.spill_above.min(self.limits.memory) {
            self.open_spill().await;
        }
        self.write_spill(chunk).await;
        self.keep_in_memory(chunk);
    }

    /// Last bytes, no more than `limit`.
    pub(crate) fn recent(&self, limit: usize) -> Vec<u8> {
        let from_tail = self.tail.len().min(limit);
        let from_head = if self.total <= self.limits.memory as u64 {
            self.head.len().min(limit.saturating_sub(from_tail))
        } else {
            0
        };
        let mut recent = Vec::with_capacity(from_head.saturating_add(from_tail));
        recent.extend(self.head.iter().skip(self.head.len().saturating_sub(from_head)));
        recent.extend(self.tail.iter().skip(self.tail.len().saturating_sub(from_tail)));
        recent
    }

    /// Closes the copy on disk and returns the kept parts.
    pub(crate) async fn finish(mut self) -> Captured {
        self.close_spill(true).await;
        Captured {
            head: self.head,
            tail: self.tail.into(),
            total: self.total,
            spill: match self.file {
                SpillFile::Closed(spill) => spill,
                SpillFile::Unused | SpillFile::Open { .. } => None,
            },
        }
    }

    fn keep_in_memory(&mut self, chunk: &[u8]) {
        self.total = self.total.saturating_add(chunk.len() as u64);
        let head_limit = self.limits.memory / 2;
        let tail_limit = self.limits.memory.saturating_sub(head_limit);
        let head_room = head_limit.saturating_sub(self.head.len()).min(chunk.len());
        let (first, rest) = chunk.split_at_checked(head_room).unwrap_or((chunk, &[]));
        self.head.extend_from_slice(first);
        let skip = rest.len().saturating_sub(tail_limit);
        let (_, rest) = rest.split_at_checked(skip).unwrap_or((&[], rest));
        let excess = self.tail.len().saturating_add(rest.len()).saturating_sub(tail_limit);
        self.tail.drain(..excess.min(self.tail.len()));
        self.tail.extend(rest);
    }

    async fn open_spill(&mut self) {
        if !matches!(self.file, SpillFile::Unused) {
            return;
        }
        let Some(path) = self.limits.spill.clone() else {
            self.file = SpillFile::Closed(None);
            return;
        };
        match create_private(&path, self.limits.space.clone()).await {
            Ok(file) => {
                let spill = Spill { path, bytes: 0, complete: true };
                self.file = SpillFile::Open { file, spill };
            }
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "output is not kept in full");
                self.file = SpillFile::Closed(None);
                return;
            }
        }
        let head = std::mem::take(&mut self.head);
        self.write_spill(&head).await;
        self.head = head;
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        self.write_spill(&tail).await;
    }

    async fn write_spill(&mut self, chunk: &[u8]) {
        let SpillFile::Open { file, spill } = &mut self.file else {
            return;
        };
        let room = self.limits.spill_cap.saturating_sub(spill.bytes).min(chunk.len() as u64);
        let room = self.limits.space.take(folder_of(&spill.path), room);
        let room = usize::try_from(room).unwrap_or(usize::MAX);
        let part = chunk.get(..room).unwrap_or(chunk);
        let written = file.write_all(part).await;
        let failed = match written {
            Ok(()) => {
                spill.bytes = spill.bytes.saturating_add(part.len() as u64);
                false
            }
            Err(error) => {
                tracing::warn!(path = %spill.path.display(), %error, "output is not kept in full");
                true
            }
        };
        if failed || part.len() < chunk.len() {
            self.close_spill(false).await;
        }
    }

    async fn close_spill(&mut self, is_complete: bool) {
        match std::mem::replace(&mut self.file, SpillFile::Closed(None)) {
            SpillFile::Open { mut file, mut spill } => {
                let synced = sync_file(&mut file, &spill.path).await;
                if let Err(error) = &synced {
                    tracing::warn!(path = %spill.path.display(), %error, "output may not be kept in full");
                }
                spill.complete = synced.is_ok() && is_complete;
                self.file = SpillFile::Closed(Some(spill));
            }
            other => self.file = other,
        }
    }
}

impl Captured {
    /// `true` if `head` and `tail` together are the whole stream.
    pub(crate) fn is_whole(&self) -> bool {
        (self.head.len() as u64).saturating_add(self.tail.len() as u64) == self.total
    }
}

/// Flushes and syncs a file, because stored results refer to it.
async fn sync_file(file: &mut File, path: &Path) -> io::Result<()> {
    file.flush().await?;
    file.sync_data().await?;
    sync_names(path).await
}

/// Syncs the directory entries of a file and of the folders that a session creates for it.
async fn sync_names(path: &Path) -> io::Result<()> {
    let path = path.to_owned();
    run_blocking_io(move || private_file::sync_names(&path)).await
}

/// Creates a file that only its owner can read, and its folder if that is missing.
async fn create_private(path: &Path, space: KeptSpace) -> io::Result<File> {
    let path = path.to_owned();
    let created = run_blocking_io(move || {
        space.open(folder_of(&path));
        if let Some(folder) = path.parent() {
            private_file::create_dir(folder)?;
        }
        private_file::create(&path)
    });
    created.await.map(File::from_std)
}

/// Folder of a file, which is the unit of the disk space account.
fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(path)
}

async fn run_blocking_io<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    run_blocking(work).await.map_err(io::Error::other)?
}

#[cfg(test)]
mod tests;
