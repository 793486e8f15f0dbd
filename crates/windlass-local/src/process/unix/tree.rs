//! Process tree of one call, and the signals that end it.

use std::io;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

use super::scan;

/// All descendants of one child of ours.
///
/// The child leads its own session and group, which covers ordinary programs. On Linux the tree also includes processes
/// that left the group: those below the child's keeper, those of the session, those that carry the call's mark in their
/// environment, descendants of either, and foreign holders of the output pipe. Elsewhere it is the group alone.
#[derive(Debug, Clone)]
pub(in crate::process) struct Tree {
    pub(super) leader: Pid,
    /// Process above the leader, which adopts all orphans of the tree, if there is one.
    pub(super) keeper: Option<i32>,
    /// `NAME=value` in the environment of all processes that the child starts.
    pub(super) mark: String,
    /// Inode numbers of the pipes the child writes to.
    pub(super) pipes: Vec<u64>,
    pub(super) started: Instant,
    /// Start of the child by the system's own count, if known.
    pub(super) start: Option<u64>,
}

/// Force of a stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::process) enum Force {
    /// No signal: only counts the processes.
    None,
    /// SIGTERM, and SIGCONT so that stopped processes see it.
    Ask,
    /// SIGKILL.
    Kill,
}

/// Maximum age of a child that cannot have outrun the kernel's process numbers, so that its descendants have numbers
/// between its own and the newest.
const NUMBERS_STAY_ORDERED: Duration = Duration::from_millis(200);

impl Tree {
    pub(in crate::process) fn id(&self) -> i32 {
        self.leader.as_raw_nonzero().get()
    }

    /// `true` if a cheap check already shows that no process is left. Call it after the child was reaped.
    pub(in crate::process) fn is_plainly_gone(&self) -> bool {
        self.started.elapsed() < NUMBERS_STAY_ORDERED && scan::none_is_left(self)
    }

    /// Signals every living process of the tree and returns their number. `with_pipe_holders` includes processes that
    /// only hold the output pipe. Blocks for a few milliseconds.
    pub(in crate::process) fn signal(&self, force: Force, with_pipe_holders: bool) -> usize {
        match force {
            Force::None => scan::members(self, with_pipe_holders).len(),
            Force::Ask => {
                // Counted first, because most end the moment they are asked.
                let members = scan::members(self, with_pipe_holders);
                // A stopped process sees the first signal only after the second.
                for signal in [Signal::TERM, Signal::CONT] {
                    self.signal_group(signal);
                    members.signal(self, signal);
                }
                members.len()
            }
            Force::Kill => {
                // The group first, so that no member can fork its way out between the check and the signal.
                self.signal_group(Signal::KILL);
                let members = scan::members(self, with_pipe_holders);
                members.signal(self, Signal::KILL);
                members.len()
            }
        }
    }

    fn signal_group(&self, signal: Signal) {
        if self.group_exists() {
            let _ = kill_process_group(self.leader, signal);
        }
    }

    pub(super) fn group_exists(&self) -> bool {
        exists(test_kill_process_group(self.leader).map_err(io::Error::from))
    }
}

/// `true` for EPERM as well: a member runs as another user.
fn exists(answer: io::Result<()>) -> bool {
    match answer {
        Ok(()) => true,
        Err(error) => error.kind() == io::ErrorKind::PermissionDenied,
    }
}
