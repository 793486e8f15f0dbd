//! Children on Unix: a session of their own, pipes, and the end of the whole tree.

mod tree;
mod watchdog;

#[cfg(any(target_os = "linux", target_os = "android"))]
mod linux;
#[cfg(any(target_os = "linux", target_os = "android"))]
use linux as scan;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod portable;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
use portable as scan;

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::time::Instant;

use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::process::Pid;
use tokio::net::unix::pipe::{Receiver, Sender};
use windlass_process::{Child, ChildCommand, ChildStream, Terminal};

use super::spec::{Exit, Spec, Streams};

pub(super) use tree::{Force, Tree};
pub(super) use watchdog::Watchdog;

/// Reading end of a child's output.
pub(super) type OutputPipe = Receiver;

/// Writing end of a child's input.
pub(super) type InputPipe = Sender;

/// A running child.
pub(super) struct Spawned {
    pub(super) child: Child,
    /// `None` when it has no input.
    pub(super) stdin: Option<InputPipe>,
    pub(super) stdout: OutputPipe,
    /// `None` when both streams share one pipe.
    pub(super) stderr: Option<OutputPipe>,
    pub(super) tree: Tree,
}

/// Starts a child as leader of a new session, with no terminal, the given stdin and exactly the given
/// environment plus `mark`.
#[expect(clippy::disallowed_methods, reason = "compares with the start times of the system's processes")]
pub(super) fn spawn(spec: &Spec, mark: (&str, &str)) -> io::Result<Spawned> {
    if let Some(size) = spec.terminal {
        return on_terminal(spec, Terminal::open(size)?, mark);
    }
    let (out_read, out_write) = io::pipe()?;
    let mut pipes = vec![inode(&out_write)?];
    let (err_read, err_write) = match spec.streams {
        Streams::Merged => (None, out_write.try_clone()?),
        Streams::Separate => {
            let (read, write) = io::pipe()?;
            pipes.push(inode(&write)?);
            (Some(receiver(read.into())?), write)
        }
    };
    let stdout = receiver(out_read.into())?;
    let (in_read, stdin) = input(spec)?;
    let started = Instant::now();
    let command = command(spec, mark)
        .stdin(in_read)
        .stdout(ChildStream::File(out_write.into()))
        .stderr(ChildStream::File(err_write.into()));
    let child = Child::start(command)?;
    let tree = tree(&child, mark, pipes, started)?;
    Ok(Spawned { child, stdin, stdout, stderr: err_read, tree })
}

/// Starts a child with a terminal of its own.
#[expect(clippy::disallowed_methods, reason = "compares with the start times of the system's processes")]
fn on_terminal(spec: &Spec, terminal: Terminal, mark: (&str, &str)) -> io::Result<Spawned> {
    let host = terminal.host_end()?;
    rustix::fs::fcntl_setfl(&host, rustix::fs::fcntl_getfl(&host)? | OFlags::NONBLOCK)?;
    let stdin = Some(Sender::from_owned_fd_unchecked(host.try_clone()?)?);
    let stdout = Receiver::from_owned_fd_unchecked(host)?;
    let started = Instant::now();
    let child = Child::start(command(spec, mark).on_terminal(terminal)?)?;
    // Other writers to the terminal are in the session of the child, or have its mark.
    let tree = tree(&child, mark, Vec::new(), started)?;
    Ok(Spawned { child, stdin, stdout, stderr: None, tree })
}

fn command(spec: &Spec, mark: (&str, &str)) -> ChildCommand {
    let env = spec.env.iter().map(|(name, value)| (name, value));
    let command = ChildCommand::new(&spec.program, &spec.cwd).args(&spec.args).envs(env).envs([mark]);
    command.confined_start(spec.confined_start.clone()).only_reads(spec.only_reads)
}

fn tree(child: &Child, mark: (&str, &str), pipes: Vec<u64>, started: Instant) -> io::Result<Tree> {
    let leader = pid(child.id()).ok_or_else(|| io::Error::other("the child has no process number"))?;
    let keeper = child.keeper().and_then(|keeper| i32::try_from(keeper).ok());
    Ok(Tree { leader, keeper, mark: format!("{}={}", mark.0, mark.1), pipes, started, start: scan::start_of(leader) })
}

/// `true` if reading failed because a terminal has ended.
pub(super) fn is_end_of_terminal(error: &io::Error) -> bool {
    Errno::from_io_error(error) == Some(Errno::IO)
}

/// Tree of a program that other code has started, as leader of a group of its own.
#[expect(clippy::disallowed_methods, reason = "compares with the start times of the system's processes")]
pub(super) fn tree_of(leader: u32, mark: String) -> Option<Tree> {
    let leader = pid(leader)?;
    Some(Tree {
        leader,
        keeper: scan::keeper_of(leader),
        mark,
        pipes: Vec::new(),
        started: Instant::now(),
        start: scan::start_of(leader),
    })
}

fn pid(number: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(number).ok()?)
}

/// Exit of a child.
pub(super) fn exit_of(status: ExitStatus) -> Exit {
    Exit { code: status.code(), signal: status.signal() }
}

/// Input of a child, and its writing end.
fn input(spec: &Spec) -> io::Result<(ChildStream, Option<InputPipe>)> {
    if spec.stdin.is_none() {
        return Ok((ChildStream::Null, None));
    }
    let (read, write) = io::pipe()?;
    Ok((ChildStream::File(read.into()), Some(Sender::from_owned_fd(write.into())?)))
}

fn receiver(read: OwnedFd) -> io::Result<Receiver> {
    Receiver::from_owned_fd(read)
}

fn inode(pipe: &impl AsFd) -> io::Result<u64> {
    Ok(rustix::fs::fstat(pipe)?.st_ino)
}
