//! Children on Unix: a session each, and signals to its process group.

use std::io;
use std::process::ExitStatus;

use rustix::process::{Pid, Signal, WaitOptions, ioctl_tiocsctty, kill_process_group, setsid, waitpgid};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use windlass_tool::EndSignal;

use crate::command::ChildCommand;
#[cfg(target_os = "linux")]
use crate::spawn::{Spawned, Start};

/// A child, by the way it was started.
#[derive(Debug)]
pub(crate) enum Child {
    Forked(tokio::process::Child),
    #[cfg(target_os = "linux")]
    Spawned(Spawned),
}

impl Child {
    pub(crate) fn spawn(command: Command) -> io::Result<Self> {
        Self::fork(command, false)
    }

    fn fork(mut command: Command, has_terminal: bool) -> io::Result<Self> {
        lead_a_session(&mut command, has_terminal);
        // The command holds copies of the child's output ends. They close with it, else no pipe would ever end.
        command.spawn().map(Self::Forked)
    }

    #[cfg(target_os = "linux")]
    pub(crate) fn start(command: ChildCommand) -> io::Result<Self> {
        match Spawned::start(command)? {
            Start::Started(child) => Ok(Self::Spawned(child)),
            Start::Unable(command) => Self::forked(command),
        }
    }

    /// Forks. The child's end of a terminal stays open here until the child has it.
    fn forked(mut command: ChildCommand) -> io::Result<Self> {
        let terminal = command.terminal.take();
        Self::fork(command.into(), terminal.is_some())
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn start(command: ChildCommand) -> io::Result<Self> {
        Self::forked(command)
    }

    /// Process number of the child, until it was waited for.
    pub(crate) fn id(&self) -> Option<u32> {
        match self {
            Self::Forked(child) => child.id(),
            #[cfg(target_os = "linux")]
            Self::Spawned(child) => child.id().and_then(|id| u32::try_from(id.as_raw_nonzero().get()).ok()),
        }
    }

    /// Number of the keeper above the child, which adopts its orphans, if there is one.
    pub(crate) fn keeper(&self) -> Option<u32> {
        match self {
            Self::Forked(_) => None,
            #[cfg(target_os = "linux")]
            Self::Spawned(child) => {
                child.keeper().and_then(|keeper| u32::try_from(keeper.id().as_raw_nonzero().get()).ok())
            }
        }
    }

    pub(crate) async fn end_all(&mut self) {
        match self {
            Self::Forked(_) => {}
            #[cfg(target_os = "linux")]
            Self::Spawned(child) => child.end_all().await,
        }
    }

    pub(crate) fn let_outlive(&self) {
        match self {
            Self::Forked(_) => {}
            #[cfg(target_os = "linux")]
            Self::Spawned(child) => {
                if let Some(keeper) = child.keeper() {
                    keeper.let_outlive();
                }
            }
        }
    }

    pub(crate) fn group(&self) -> Option<Group> {
        self.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw).map(Group)
    }

    pub(crate) fn take_stdin(&mut self) -> Option<ChildStdin> {
        match self {
            Self::Forked(child) => child.stdin.take(),
            #[cfg(target_os = "linux")]
            Self::Spawned(child) => child.stdin.take(),
        }
    }

    pub(crate) fn take_stdout(&mut self) -> Option<ChildStdout> {
        match self {
            Self::Forked(child) => child.stdout.take(),
            #[cfg(target_os = "linux")]
            Self::Spawned(child) => child.stdout.take(),
        }
    }

    pub(crate) fn take_stderr(&mut self) -> Option<ChildStderr> {
        match self {
            Self::Forked(child) => child.stderr.take(),
            #[cfg(target_os = "linux")]
            Self::Spawned(child) => child.stderr.take(),
        }
    }

    pub(crate) async fn wait(&mut self) -> io::Result<ExitStatus> {
        match self {
            Self::Forked(child) => child.wait().await,
            #[cfg(target_os = "linux")]
            Self::Spawned(child) => child.wait().await,
        }
    }
}

/// Makes the child the leader of a new session, and so of a new group, before it runs its program. If its input is a
/// terminal, that becomes its terminal. The standard library can only set the group: the child would keep the terminal
/// of this process.
#[expect(unsafe_code, reason = "std has no other way to code that runs in the child; see the comment at the block")]
fn lead_a_session(command: &mut Command, has_terminal: bool) {
    let lead = move || -> io::Result<()> {
        setsid()?;
        if has_terminal {
            ioctl_tiocsctty(rustix::stdio::stdin())?;
        }
        Ok(())
    };
    // SAFETY: the closure runs in the child between fork and exec, where another thread of this process may have held
    // any lock. It makes two system calls, which are safe there, and turns an error number into an `io::Error`. Neither
    // takes a lock, allocates, or reads memory that others write. The closure holds a truth value and so drops nothing.
    // The standard library has set the streams of the child before it.
    unsafe {
        command.pre_exec(lead);
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Group(Pid);

impl Group {
    pub(crate) fn signal(&self, signal: EndSignal) {
        // A stopped process sees the first signal only after the second.
        let signals: &[Signal] = match signal {
            EndSignal::Ask => &[Signal::TERM, Signal::CONT],
            EndSignal::Kill => &[Signal::KILL],
        };
        for signal in signals {
            // Fails when no process is left, and for those of other users.
            let _ = kill_process_group(self.0, *signal);
        }
    }

    pub(crate) fn reap(&self) -> bool {
        loop {
            match waitpgid(self.0, WaitOptions::NOHANG) {
                Ok(Some(_)) => {}
                Ok(None) => return true,
                // None of the group is a child of this process.
                Err(_) => return false,
            }
        }
    }
}
