//! Finds the processes of a tree in `/proc`.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io::{self, Read as _};
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, getpid, kill_process, kill_process_group, pidfd_open, pidfd_send_signal,
};

use super::tree::Tree;

/// Required fields of one line of `/proc/<pid>/stat`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stat {
    pid: i32,
    state: u8,
    parent: i32,
    group: i32,
    session: i32,
    flags: u64,
    threads: u32,
    /// Start time in clock ticks since boot: with the number it identifies a process uniquely.
    start: u64,
}

/// Maximum number of new processes that are checked one by one. For more, the whole process table is read.
const MAX_SINGLE_CHECKS: i32 = 64;

/// Maximum number of checks of the newest processes: a check that finds no process is conclusive only if none was
/// started meanwhile, because a member may fork and exit between two reads.
const MAX_ROUNDS: usize = 100;

/// `true` if no living process newer than the child belongs to its tree. Quick; in doubt `false`. The existence of its
/// group is inconclusive: it exists until the system has reaped its last member, like the first process of a PID
/// namespace.
pub(super) fn none_is_left(tree: &Tree) -> bool {
    let mut last_checked = tree.id();
    for _ in 0..MAX_ROUNDS {
        match newest_pid() {
            Ok(newest) if newest == last_checked => return true,
            Ok(newest) if newest > last_checked && newest.saturating_sub(tree.id()) <= MAX_SINGLE_CHECKS => {
                let mut newer = last_checked.saturating_add(1)..=newest;
                let may_be_ours =
                    |check: ProcessCheck| !matches!(check, ProcessCheck::Process { ours: Some(false), .. });
                if newer.any(|pid| check_process(tree, pid, false).is_some_and(may_be_ours)) {
                    return false;
                }
                last_checked = newest;
            }
            _ => return false,
        }
    }
    false
}

/// Living processes of a tree.
#[derive(Debug)]
pub(super) struct Members {
    processes: Vec<Stat>,
    /// `true` if the system failed temporarily, so that one may have been missed.
    is_unsure: bool,
}

impl Members {
    /// Number of members. At least one if one may have been missed, so that a caller that waits for the end of the tree
    /// checks again.
    pub(super) fn len(&self) -> usize {
        self.processes.len().max(usize::from(self.is_unsure))
    }

    /// Signals each process, and the groups that the processes lead.
    pub(super) fn signal(&self, tree: &Tree, signal: Signal) {
        for process in &self.processes {
            send_signal(process, signal);
            // A group led from inside the tree is signalled as a whole, so that no member forks away.
            if process.pid == process.group
                && process.group != tree.id()
                && let Some(group) = Pid::from_raw(process.group)
            {
                let _ = kill_process_group(group, signal);
            }
        }
    }
}

/// Start time of the process with this number, in clock ticks since boot.
pub(super) fn start_of(pid: Pid) -> Option<u64> {
    stat(pid.as_raw_nonzero().get()).ok().map(|process| process.start)
}

/// Id of the keeper above a program that another part of this process has started.
pub(super) fn keeper_of(pid: Pid) -> Option<i32> {
    let parent = stat(pid.as_raw_nonzero().get()).ok()?.parent;
    let is_ours = || stat(parent).is_ok_and(|parent| parent.parent == self_id());
    let is_keeper = || fs::read_to_string(format!("/proc/{parent}/comm")).is_ok_and(|name| name == "windlass-keeper\n");
    (parent > 1 && is_ours() && is_keeper()).then_some(parent)
}

/// Finds the members among all processes, including those started meanwhile.
pub(super) fn members(tree: &Tree, with_pipe_holders: bool) -> Members {
    let first_newest = newest_pid();
    let (pids, mut is_unsure) = all_pids();
    let mut processes: BTreeMap<i32, (Stat, bool)> = BTreeMap::new();
    let mut check = |pid| match check_repeatedly(tree, pid, with_pipe_holders) {
        Some(ProcessCheck::Process { stat, ours }) => drop(processes.insert(pid, (stat, ours == Some(true)))),
        Some(ProcessCheck::Unknown) => is_unsure = true,
        None => {}
    };
    pids.into_iter().for_each(&mut check);
    let newer = first_newest.and_then(|mut newest| {
        for _ in 0..MAX_ROUNDS {
            let now = newest_pid()?;
            if now <= newest {
                break;
            }
            (newest.saturating_add(1)..=now).for_each(&mut check);
            newest = now;
        }
        Ok(())
    });
    is_unsure |= newer.is_err_and(|error| is_temporary(&error));
    let is_ours = |(pid, (_, ours)): (&i32, &(Stat, bool))| ours.then_some(*pid);
    let mut ours: HashSet<i32> = processes.iter().filter_map(is_ours).collect();
    loop {
        let before = ours.len();
        for (process, _) in processes.values() {
            if ours.contains(&process.parent) {
                ours.insert(process.pid);
            }
        }
        if ours.len() == before {
            break;
        }
    }
    let stats = processes.into_values().map(|(stat, _)| stat);
    Members { processes: stats.filter(|process| ours.contains(&process.pid)).collect(), is_unsure }
}

/// Ids of all processes, and `true` if some may be missing.
fn all_pids() -> (Vec<i32>, bool) {
    let table = match fs::read_dir("/proc") {
        Ok(table) => table,
        Err(error) => return (Vec::new(), is_temporary(&error)),
    };
    let mut is_unsure = false;
    let mut number = |entry: io::Result<fs::DirEntry>| {
        is_unsure |= entry.as_ref().is_err_and(is_temporary);
        entry.ok()?.file_name().to_str()?.parse().ok()
    };
    (table.filter_map(&mut number).collect(), is_unsure)
}

/// `true` if a failed call may succeed a moment later: there was no free descriptor, no memory, or the read itself
/// failed. A gone process, a forbidden one, or a missing `/proc` is final.
fn is_temporary(error: &io::Error) -> bool {
    let temporary = [Errno::MFILE, Errno::NFILE, Errno::NOMEM, Errno::IO, Errno::AGAIN, Errno::INTR];
    Errno::from_io_error(error).is_some_and(|error| temporary.contains(&error))
}

/// Result of checking a living process.
#[derive(Debug)]
enum ProcessCheck {
    /// A process. `ours`: it belongs to the tree by itself; `None` if unknown, because during an exec a
    /// process has no environment.
    Process { stat: Stat, ours: Option<bool> },
    /// The system failed temporarily.
    Unknown,
}

/// Number and interval of repeated checks of a process whose membership is unknown.
const RECHECKS: (usize, Duration) = (10, Duration::from_micros(300));

fn check_repeatedly(tree: &Tree, pid: i32, with_pipe_holders: bool) -> Option<ProcessCheck> {
    let mut seen = check_process(tree, pid, with_pipe_holders)?;
    for _ in 0..RECHECKS.0 {
        if matches!(seen, ProcessCheck::Process { ours: Some(_), .. }) {
            break;
        }
        std::thread::sleep(RECHECKS.1);
        seen = check_process(tree, pid, with_pipe_holders)?;
    }
    Some(seen)
}

fn check_process(tree: &Tree, pid: i32, with_pipe_holders: bool) -> Option<ProcessCheck> {
    match try_check(tree, pid, with_pipe_holders) {
        Ok(seen) => seen,
        Err(error) => is_temporary(&error).then_some(ProcessCheck::Unknown),
    }
}

fn try_check(tree: &Tree, pid: i32, with_pipe_holders: bool) -> io::Result<Option<ProcessCheck>> {
    let own_pid = self_id();
    if pid <= 1 || pid == own_pid || Some(pid) == tree.keeper {
        return Ok(None);
    }
    let stat = stat(pid)?;
    if stat.is_dead() || is_own_thread(pid)? {
        return Ok(None);
    }
    if stat.flags & KERNEL != 0 || !is_younger(tree, &stat) {
        return Ok(Some(ProcessCheck::Process { stat, ours: Some(false) }));
    }
    let leader = tree.id();
    let is_in_group =
        Some(stat.parent) == tree.keeper || stat.pid == leader || stat.group == leader || stat.session == leader;
    let is_ours = is_in_group || (with_pipe_holders && holds_pipe(tree, &stat, own_pid)?);
    let ours = if is_ours { Some(true) } else { carries_mark(tree, pid)? };
    Ok(Some(ProcessCheck::Process { stat, ours }))
}

/// `true` for a thread of this process. Threads have ids too, and `/proc` has an entry for each of them. A thread of
/// this process has all its pipes open, and a signal to the thread is one to this process.
fn is_own_thread(pid: i32) -> io::Result<bool> {
    fs::exists(format!("/proc/self/task/{pid}"))
}

/// `PF_EXITING` of the kernel: the process runs no more code of its own.
const EXITING: u64 = 0x4;
/// `PF_KTHREAD`: a thread of the kernel itself.
const KERNEL: u64 = 0x0020_0000;

/// `true` if a process is not older than the child. An older one cannot belong to its tree: neither a reused number,
/// nor a server that got the output pipe from a client.
fn is_younger(tree: &Tree, process: &Stat) -> bool {
    tree.start.is_none_or(|start| process.start >= start)
}

/// `true` if the environment has the call's mark; `None` if there is no environment.
fn carries_mark(tree: &Tree, pid: i32) -> io::Result<Option<bool>> {
    let environment = match fs::read(format!("/proc/{pid}/environ")) {
        Ok(environment) => environment,
        Err(error) if is_temporary(&error) => return Err(error),
        Err(_) => return Ok(Some(false)),
    };
    let mut entries = environment.split(|byte| *byte == 0);
    Ok((!environment.is_empty()).then(|| entries.any(|entry| entry == tree.mark.as_bytes())))
}

/// `true` if a process that is not our direct child has the output pipe open. A direct child may be one of a concurrent
/// call, between its fork and its exec, when it still has copies of all our files.
fn holds_pipe(tree: &Tree, process: &Stat, own_pid: i32) -> io::Result<bool> {
    if process.parent == own_pid || tree.pipes.is_empty() {
        return Ok(false);
    }
    let is_ours = |entry: io::Result<fs::DirEntry>| {
        let target = fs::read_link(entry?.path())?;
        let inode = target.to_str().and_then(|target| target.strip_prefix("pipe:[")?.strip_suffix(']'));
        Ok(inode.and_then(|inode| inode.parse().ok()).is_some_and(|inode: u64| tree.pipes.contains(&inode)))
    };
    let files = match fs::read_dir(format!("/proc/{}/fd", process.pid)) {
        Ok(files) => files,
        Err(error) if is_temporary(&error) => return Err(error),
        Err(_) => return Ok(false),
    };
    for file in files {
        match is_ours(file) {
            Ok(true) => return Ok(true),
            Err(error) if is_temporary(&error) => return Err(error),
            // The file was closed meanwhile.
            Ok(false) | Err(_) => {}
        }
    }
    Ok(false)
}

/// Signals a process unless its id belongs to another one by now.
fn send_signal(process: &Stat, signal: Signal) {
    let Some(pid) = Pid::from_raw(process.pid) else {
        return;
    };
    let handle = pidfd_open(pid, PidfdFlags::empty());
    if stat(process.pid).map_or(true, |now| now.start != process.start) {
        return;
    }
    let _ = match handle {
        Ok(handle) => pidfd_send_signal(handle, signal),
        // Kernels before 5.3, and sandboxes that forbid the call.
        Err(_) => kill_process(pid, signal),
    };
}

fn self_id() -> i32 {
    getpid().as_raw_nonzero().get()
}

/// Id of the newest process: the last field of `/proc/loadavg`.
fn newest_pid() -> io::Result<i32> {
    let text = fs::read_to_string("/proc/loadavg")?;
    let number = text.split_ascii_whitespace().next_back().and_then(|number| number.parse().ok());
    number.ok_or_else(|| io::ErrorKind::InvalidData.into())
}

fn stat(pid: i32) -> io::Result<Stat> {
    let mut line = Vec::with_capacity(512);
    fs::File::open(format!("/proc/{pid}/stat"))?.read_to_end(&mut line)?;
    parse_stat(&line).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Parses a line. The name is in parentheses and may itself contain blanks and parentheses, so the fields are counted
/// from the last one.
fn parse_stat(line: &[u8]) -> Option<Stat> {
    let open = line.iter().position(|byte| *byte == b'(')?;
    let close = line.iter().rposition(|byte| *byte == b')')?;
    let pid = std::str::from_utf8(line.get(..open)?).ok()?.trim().parse().ok()?;
    let rest = std::str::from_utf8(line.get(close.checked_add(1)?..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    Some(Stat {
        pid,
        state: *fields.next()?.as_bytes().first()?,
        parent: fields.next()?.parse().ok()?,
        group: fields.next()?.parse().ok()?,
        session: fields.next()?.parse().ok()?,
        // Skips fields 7 and 8.
        flags: fields.nth(2)?.parse().ok()?,
        // Skips fields 10 to 19.
        threads: fields.nth(10)?.parse().ok()?,
        // Skips field 21.
        start: fields.nth(1)?.parse().ok()?,
    })
}

impl Stat {
    /// `true` if the process has ended, though its parent may not have reaped it yet, or is about to end: its output
    /// may close before it is gone.
    fn is_dead(&self) -> bool {
        let ends = self.flags & EXITING != 0 || matches!(self.state, b'Z' | b'X' | b'x');
        // The first thread may end before the others, which are the process then.
        ends && self.threads <= 1
    }
}

#[cfg(test)]
mod tests;
