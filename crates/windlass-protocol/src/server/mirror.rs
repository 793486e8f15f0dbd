//! Copy of the session's log for the host, line by line.

mod agent;
mod batch;
mod copying;
#[cfg(test)]
mod tests;

pub(super) use copying::{CopyOutcome, Copying};

use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::watch;

/// Maximum length of lines that hosts read by default, in bytes.
const MAX_LINE_BYTES: usize = 1024 * 1024 - 1;

/// Sends the host every line of the session's log, and of those of its agents, once it is durable: in order, none
/// twice, and those of a run before its result. Cheap to clone.
///
/// Metadata beside the log of an agent precede its first line, as an `agent_metadata` entry.
///
/// The log itself is the queue, and lines are read from the file when there is space for them. So a host that does not
/// read costs no memory, and the writer never waits for it.
///
/// Checksum lines are left out: they are about bytes, which other stores do not keep. A line that is too long for the
/// host is reported as lost (`system/session_writes_lost`) and stays in the log.
#[derive(Debug, Clone)]
pub struct Mirror {
    /// Durable length of each log. Logs only grow.
    logs: watch::Sender<Vec<DurableLog>>,
    max_line_bytes: usize,
}

/// A log that is written.
#[derive(Debug)]
struct DurableLog {
    path: Arc<PathBuf>,
    /// Number of bytes that the host already had when it was opened.
    start: u64,
    durable: u64,
}

impl Default for Mirror {
    fn default() -> Self {
        Self::new()
    }
}

impl Mirror {
    /// A mirror for a host that reads lines of up to 1 MiB.
    pub fn new() -> Self {
        Self::with_longest_line(MAX_LINE_BYTES)
    }

    /// A mirror for a host that reads lines of up to `bytes` bytes.
    pub fn with_longest_line(bytes: usize) -> Self {
        Self { logs: watch::Sender::default(), max_line_bytes: bytes }
    }

    /// Registers a log that is about to be written. The host already has its first `len` bytes. Waits for no reader.
    pub fn opened(&self, path: &Path, len: u64) {
        self.logs.send_if_modified(|logs| {
            if !logs.iter().any(|log| **log.path == *path) {
                logs.push(DurableLog { path: Arc::new(path.to_path_buf()), start: len, durable: len });
            }
            false
        });
    }

    /// Records that the first `len` bytes of a log are durable. Waits for no reader. An unregistered log is ignored.
    pub fn written(&self, path: &Path, len: u64) {
        self.logs.send_if_modified(|logs| match logs.iter_mut().find(|log| **log.path == *path) {
            Some(log) => {
                log.durable = log.durable.max(len);
                true
            }
            None => false,
        });
    }
}
