//! A program to run, and the end of its run.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use windlass_tool::{ConfinedStart, TerminalSize};

use super::capture::{CaptureLimits, Captured};

/// Pipes of stdout and stderr.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Streams {
    /// Both go through one pipe, in the order of writing.
    Merged,
    /// Two pipes; the order between them is unknown.
    Separate,
}

/// A program to run.
#[derive(Debug, Clone)]
pub(crate) struct Spec {
    pub(crate) program: OsString,
    pub(crate) args: Vec<OsString>,
    /// A quicker way to start the same program, if `program` confines itself first.
    #[cfg_attr(windows, expect(dead_code, reason = "threads are confined on Linux alone"))]
    pub(crate) confined_start: Option<ConfinedStart>,
    /// The whole environment of the child, except the mark of the call.
    pub(crate) env: Vec<(OsString, OsString)>,
    pub(crate) cwd: PathBuf,
    /// Content of stdin; empty if `None`.
    pub(crate) stdin: Option<Arc<[u8]>>,
    pub(crate) streams: Streams,
    /// `true` limits the program's memory, and has the system end it first when memory runs out.
    #[cfg_attr(windows, expect(dead_code, reason = "keepers bound memory, on Linux alone"))]
    pub(crate) only_reads: bool,
    /// Size of a terminal that replaces all pipes.
    pub(crate) terminal: Option<TerminalSize>,
    /// `true` if the program takes no slot among the concurrent programs.
    pub(crate) background: bool,
    /// Time limit from the start of the child, without the wait for a slot.
    pub(crate) timeout: Option<Duration>,
    pub(crate) stdout: CaptureLimits,
    /// Used with [`Streams::Separate`].
    pub(crate) stderr: CaptureLimits,
}

/// Exit of the child itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exit {
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
}

/// Reason why the run is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Exited,
    TimedOut,
    Cancelled,
}

/// A finished run. None of its processes is left, except those in `survivors`.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) end: End,
    /// Exit of the child; `None` when it could not be reaped, or never started because of a cancel.
    pub(crate) exit: Option<Exit>,
    pub(crate) stdout: Captured,
    pub(crate) stderr: Option<Captured>,
    /// Number of processes that still ran when the child had ended by itself, and were stopped.
    pub(crate) stopped: usize,
    /// Number of processes that could not be ended: stuck in the kernel, or of another user.
    pub(crate) survivors: usize,
    pub(crate) elapsed: Duration,
}

/// Progress of a running child.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Progress {
    /// Last output of both streams, some hundred bytes, not cut at lines or characters.
    pub(crate) recent: Vec<u8>,
    /// Number of bytes so far.
    pub(crate) total: u64,
    pub(crate) elapsed: Duration,
}
