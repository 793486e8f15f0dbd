//! The processes one call has started, and how they are ended.

use std::io;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

use super::scan;

/// Everything that descends from one child of ours.
///
/// The child leads its own session and group, which covers ordinary programs. On Linux the tree also holds
/// what left the group: processes below the child's keeper, those of the session, those that carry the call's mark in their
/// environment, descendants of either, and foreign holders of the output pipe. Elsewhere it is the
/// group alone.
#[derive(Debug, Clone)]
pub(in crate::process) struct Tree {
    pub(super) leader: Pid,
    /// The process above it, to which all processes of the tree come that lose their parents, where there is one.
    pub(super) keeper: Option<i32>,
    /// `NAME=value` as it stands in the environment of everything the child starts.
    pub(super) mark: String,
    /// Inode numbers of the pipes the child writes to.
    pub(super) pipes: Vec<u64>,
    pub(super) started: Instant,
    /// When the child started by the system's own count, where that is known.
    pub(super) start: Option<u64>,
}

/// How hard to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::process) enum Force {
    /// Only look.
    None,
    /// SIGTERM, and SIGCONT so that stopped processes see it.
    Ask,
    /// SIGKILL.
    Kill,
}

/// A child that lives this short a time cannot have outrun the kernel's process numbers, so what it
/// started has a number between its own and the newest.
const NUMBERS_STAY_ORDERED: Duration = Duration::from_millis(200);

impl Tree {
    pub(in crate::process) fn id(&self) -> i32 {
        self.leader.as_raw_nonzero().get()
    }

    /// Whether a cheap look already shows that no process is left. Call it after the child was reaped.
    pub(in crate::process) fn is_plainly_gone(&self) -> bool {
        self.started.elapsed() < NUMBERS_STAY_ORDERED && scan::none_is_left(self)
    }

    /// Signals every living process of the tree and returns how many there were. `wide` also looks for
    /// processes that only hold the output pipe. Blocks for a few milliseconds.
    pub(in crate::process) fn signal(&self, force: Force, wide: bool) -> usize {
        match force {
            Force::None => scan::members(self, wide).len(),
            Force::Ask => {
                // Counted first: most are gone the moment they are asked.
                let members = scan::members(self, wide);
                // A stopped process sees the first signal only after the second.
                for signal in [Signal::TERM, Signal::CONT] {
                    self.signal_group(signal);
                    members.signal(self, signal);
                }
                members.len()
            }
            Force::Kill => {
                // The group first: then no member can fork its way out between the look and the signal.
                self.signal_group(Signal::KILL);
                let members = scan::members(self, wide);
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

/// EPERM also proves existence: a member runs as another user.
fn exists(answer: io::Result<()>) -> bool {
    match answer {
        Ok(()) => true,
        Err(error) => error.kind() == io::ErrorKind::PermissionDenied,
    }
}
