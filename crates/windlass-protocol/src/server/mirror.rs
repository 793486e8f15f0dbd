//! A copy of the session's log for the host, line by line.

mod agent;
mod batch;
#[cfg(test)]
mod tests;

use crate::channel::outbox::{Gone, Outbox};
use crate::line;
use batch::{Batch, read_batch};
use serde::Serialize;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// Longest line that hosts read by default, in bytes.
const LONGEST_LINE: usize = 1024 * 1024 - 1;

/// How long lines are collected while a run goes on.
const CADENCE: Duration = Duration::from_millis(100);

/// Hands the host every line of the session's log, and of those of its agents,
/// once it is durable: in order, none twice, and those of a run before its
/// result. Cheap to clone.
///
/// What is kept beside the log of an agent comes before its first line, as an
/// `agent_metadata` entry.
///
/// The log itself is the queue: lines are read from the file when there is room
/// for them, so a host that does not read costs no memory, and whatever the
/// writer does never waits for it.
///
/// Checksum lines are left out: they are about bytes, which other stores do not
/// keep. A line that is too long for the host is said to be lost
/// (`system/session_writes_lost`) and stays in the log.
#[derive(Debug, Clone)]
pub struct Mirror {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    logs: Mutex<Vec<Log>>,
    changed: Notify,
    /// One at a time sends.
    sending: tokio::sync::Mutex<()>,
    longest: usize,
    said_lost: AtomicBool,
}

/// How far a log was sent.
#[derive(Debug)]
struct Log {
    path: Arc<PathBuf>,
    file: Option<Arc<File>>,
    sent: u64,
    durable: u64,
    /// Whether it is that of an agent below the main one.
    is_agent: bool,
    /// Whether the host is still to hear what agent it is.
    is_unnamed: bool,
}

/// What is to be sent next.
struct Next {
    path: Arc<PathBuf>,
    file: Option<Arc<File>>,
    from: u64,
    to: u64,
}

impl Default for Mirror {
    fn default() -> Self {
        Self::new()
    }
}

impl Mirror {
    /// A mirror for a host that reads lines of up to 1 MiB.
    pub fn new() -> Self {
        Self::with_longest_line(LONGEST_LINE)
    }

    /// A mirror for a host that reads lines of up to so many bytes.
    pub fn with_longest_line(bytes: usize) -> Self {
        let shared = Shared {
            logs: Mutex::default(),
            changed: Notify::new(),
            sending: tokio::sync::Mutex::default(),
            longest: bytes,
            said_lost: AtomicBool::new(false),
        };
        Self { shared: Arc::new(shared) }
    }

    fn logs(&self) -> MutexGuard<'_, Vec<Log>> {
        self.shared.logs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A log is about to be written that holds this many bytes, which the host
    /// has already. Never blocks.
    pub fn opened(&self, path: &Path, len: u64) {
        let mut logs = self.logs();
        if !logs.iter().any(|log| **log.path == *path) {
            let is_agent = agent::session(path).is_some();
            let is_unnamed = is_agent && len == 0;
            logs.push(Log {
                path: Arc::new(path.to_path_buf()),
                file: None,
                sent: len,
                durable: len,
                is_agent,
                is_unnamed,
            });
        }
    }

    /// The first `len` bytes of a log are durable. Never blocks. A log that was
    /// not opened before does not count.
    pub fn written(&self, path: &Path, len: u64) {
        if let Some(log) = self.logs().iter_mut().find(|log| **log.path == *path) {
            log.durable = log.durable.max(len);
        }
        self.shared.changed.notify_one();
    }

    /// Sends what becomes durable, until nobody reads.
    pub(super) async fn run(self, outbox: Outbox, new_id: impl Fn() -> String) {
        loop {
            self.shared.changed.notified().await;
            tokio::time::sleep(CADENCE).await;
            if self.flush(&outbox, &new_id).await.is_err() {
                return;
            }
        }
    }

    /// Sends what is durable now. Cancel safe: what was sent is not sent again.
    pub(super) async fn flush(&self, outbox: &Outbox, new_id: impl Fn() -> String) -> Result<(), Gone> {
        let _turn = self.shared.sending.lock().await;
        let due = |log: &&Log| log.sent < log.durable;
        let durable: Vec<(Arc<PathBuf>, u64)> =
            self.logs().iter().filter(due).map(|log| (Arc::clone(&log.path), log.durable)).collect();
        for (path, to) in durable {
            self.name_agent(&path, outbox).await?;
            while let Some(next) = self.next(&path, to) {
                let read = self.read(next).await;
                let Batch { mut frame, end, lost } = read.unwrap_or_else(|error| Batch::unread(to, &error));
                if lost > 0 {
                    tracing::warn!(path = %path.display(), lost, "lines of the log do not reach the host");
                    frame.extend(self.lost_frame(&path, &new_id));
                }
                // From the room to the note that it was sent, nothing can come between.
                let slot = outbox.reserve(frame.len()).await?;
                if !frame.is_empty() {
                    slot.send(frame);
                }
                if let Some(log) = self.logs().iter_mut().find(|log| log.path == path) {
                    log.sent = end.max(log.sent);
                    // There may be many of them, and most are not written again.
                    log.file = log.file.take().filter(|_| !log.is_agent || log.sent < log.durable);
                }
            }
        }
        Ok(())
    }

    /// Tells what agent writes a log, before its first line.
    async fn name_agent(&self, path: &Arc<PathBuf>, outbox: &Outbox) -> Result<(), Gone> {
        if !self.logs().iter().any(|log| log.path == *path && log.is_unnamed) {
            return Ok(());
        }
        let log = Arc::clone(path);
        // What cannot be read of it is not told: the lines come all the same.
        let frame = tokio::task::spawn_blocking(move || agent::frame(&log)).await.ok().flatten().unwrap_or_default();
        let slot = outbox.reserve(frame.len()).await?;
        if !frame.is_empty() {
            slot.send(frame);
        }
        if let Some(log) = self.logs().iter_mut().find(|log| log.path == *path) {
            log.is_unnamed = false;
        }
        Ok(())
    }

    fn next(&self, path: &Arc<PathBuf>, to: u64) -> Option<Next> {
        let logs = self.logs();
        let log = logs.iter().find(|log| log.path == *path).filter(|log| log.sent < to)?;
        Some(Next { path: Arc::clone(path), file: log.file.clone(), from: log.sent, to })
    }

    async fn read(&self, next: Next) -> io::Result<Batch> {
        let longest = self.shared.longest;
        let read = tokio::task::spawn_blocking(move || {
            let Next { path, file, from, to } = next;
            let file = match file {
                Some(file) => file,
                None => Arc::new(File::open(&*path)?),
            };
            read_batch(&file, &path, from..to, longest).map(|batch| (batch, file, path))
        });
        let (batch, file, path) = read.await.map_err(io::Error::other)??;
        if let Some(log) = self.logs().iter_mut().find(|log| log.path == path) {
            // The file is kept, so that the lines are there also when its name is gone.
            log.file = Some(file);
        }
        Ok(batch)
    }

    /// Says once that lines are lost to the host.
    fn lost_frame(&self, path: &Path, new_id: impl Fn() -> String) -> Vec<u8> {
        #[derive(Serialize)]
        struct Lost<'a> {
            #[serde(rename = "type")]
            kind: &'static str,
            subtype: &'static str,
            error_code: &'static str,
            lost: [&'static str; 1],
            transcript_session_ids: [&'a str; 1],
            uuid: String,
            session_id: &'a str,
        }
        let mut frame = Vec::new();
        if self.shared.said_lost.swap(true, Ordering::Relaxed) {
            return frame;
        }
        let own = || path.file_stem().unwrap_or_default();
        let session = agent::session(path).unwrap_or_else(own).to_string_lossy();
        let lost = Lost {
            kind: "system",
            subtype: "session_writes_lost",
            error_code: "EMSGSIZE",
            lost: ["transcript"],
            transcript_session_ids: [&session],
            uuid: new_id(),
            session_id: &session,
        };
        line::push(&mut frame, &lost);
        frame
    }
}
