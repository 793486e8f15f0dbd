//! A program to run, and how the run ended.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use windlass_tool::{ConfinedStart, TerminalSize};

use super::capture::{CaptureLimits, Captured};

/// Whether stderr has a pipe of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Streams {
    /// Both go through one pipe, in the order of writing.
    Merged,
    /// Two pipes; the order between them is not known.
    Separate,
}

/// A program to run.
#[derive(Debug, Clone)]
pub(crate) struct Spec {
    pub(crate) program: OsString,
    pub(crate) args: Vec<OsString>,
    /// A quicker way to the same program, where `program` confines itself first.
    #[cfg_attr(windows, expect(dead_code, reason = "threads are confined on Linux alone"))]
    pub(crate) confined_start: Option<ConfinedStart>,
    /// The whole environment of the child, except the mark of the call.
    pub(crate) env: Vec<(OsString, OsString)>,
    pub(crate) cwd: PathBuf,
    /// What stdin holds; it is empty without.
    pub(crate) stdin: Option<Arc<[u8]>>,
    pub(crate) streams: Streams,
    /// Bounds its memory, and has the system end it before others where memory runs out.
    #[cfg_attr(windows, expect(dead_code, reason = "keepers bound memory, on Linux alone"))]
    pub(crate) only_reads: bool,
    /// A terminal takes the place of all pipes.
    pub(crate) terminal: Option<TerminalSize>,
    /// Takes none of the places for programs that run at a time.
    pub(crate) background: bool,
    /// From the start of the child; waiting for a free place does not count.
    pub(crate) timeout: Option<Duration>,
    pub(crate) stdout: CaptureLimits,
    /// Used with [`Streams::Separate`].
    pub(crate) stderr: CaptureLimits,
}

/// How the child itself ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exit {
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
}

/// Why the run is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Exited,
    TimedOut,
    Cancelled,
}

/// A run that is over. No process of it is left, except those in `survivors`.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) end: End,
    /// `None` when the child could not be reaped, or never started because of a cancel.
    pub(crate) exit: Option<Exit>,
    pub(crate) stdout: Captured,
    pub(crate) stderr: Option<Captured>,
    /// Processes that were still there when the child had ended by itself, and were stopped.
    pub(crate) stopped: usize,
    /// Processes that could not be ended: stuck in the kernel, or of another user.
    pub(crate) survivors: usize,
    pub(crate) elapsed: Duration,
}

/// A look at a running child.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Progress {
    /// The last output of both streams, some hundred bytes, not cut at lines or characters.
    pub(crate) recent: Vec<u8>,
    /// Bytes so far.
    pub(crate) total: u64,
    pub(crate) elapsed: Duration,
}
