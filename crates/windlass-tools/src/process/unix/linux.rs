//! Finds the processes of a tree in `/proc`.

use std::collections::HashSet;
use std::fs;
use std::io::Read as _;

use rustix::process::{
    Pid, PidfdFlags, Signal, getpid, kill_process, kill_process_group, pidfd_open, pidfd_send_signal,
};

use super::tree::Tree;

/// One line of `/proc/<pid>/stat`, as far as it matters.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stat {
    pid: i32,
    state: u8,
    parent: i32,
    group: i32,
    session: i32,
    /// Start time in clock ticks since boot: with the number it names a process for good.
    start: u64,
}

/// More new processes than this and the whole table is read instead.
const FEW: i32 = 64;

/// Whether no living process newer than the child belongs to its tree.
pub(super) fn nothing_newer(tree: &Tree) -> bool {
    let Some(newest) = newest_number() else {
        return false;
    };
    let first = tree.id();
    if newest < first || newest.saturating_sub(first) > FEW {
        return false;
    }
    (first.saturating_add(1)..=newest).filter_map(stat).all(|process| process.is_dead() || !belongs(tree, &process))
}

/// Living processes of a tree.
#[derive(Debug)]
pub(super) struct Members(Vec<Stat>);

impl Members {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Signals each of them, and the groups they lead.
    pub(super) fn signal(&self, tree: &Tree, signal: Signal) {
        for process in &self.0 {
            send(process, signal);
            // A group led from inside the tree: signalled as a whole, so that no member forks away.
            if process.pid == process.group
                && process.group != tree.id()
                && let Some(group) = Pid::from_raw(process.group)
            {
                let _ = kill_process_group(group, signal);
            }
        }
    }
}

/// When the process with this number started, in clock ticks since boot.
pub(super) fn start_of(pid: Pid) -> Option<u64> {
    stat(pid.as_raw_nonzero().get()).map(|process| process.start)
}

/// Looks through all processes.
pub(super) fn members(tree: &Tree, wide: bool) -> Members {
    let Ok(table) = fs::read_dir("/proc") else {
        return Members(Vec::new());
    };
    let own = self_id();
    let processes: Vec<Stat> = table
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|pid| *pid != own && *pid > 1)
        .filter_map(stat)
        // The kernel's own threads have nothing to do with us, and there are many.
        .filter(|process| process.parent != KERNEL && process.pid != KERNEL)
        .collect();
    let mut ours: HashSet<i32> = processes
        .iter()
        .filter(|process| is_younger(tree, process))
        .filter(|process| belongs(tree, process) || (wide && holds_pipe(tree, process, own)))
        .map(|process| process.pid)
        .collect();
    loop {
        let before = ours.len();
        for process in &processes {
            if ours.contains(&process.parent) {
                ours.insert(process.pid);
            }
        }
        if ours.len() == before {
            break;
        }
    }
    Members(processes.into_iter().filter(|process| ours.contains(&process.pid) && !process.is_dead()).collect())
}

/// `kthreadd`.
const KERNEL: i32 = 2;

fn belongs(tree: &Tree, process: &Stat) -> bool {
    let leader = tree.id();
    process.pid == leader || process.group == leader || process.session == leader || carries_mark(tree, process.pid)
}

/// Nothing that was there before the child can be its work: not a reused number, and not a server that
/// was handed the output pipe by one of its clients.
fn is_younger(tree: &Tree, process: &Stat) -> bool {
    tree.start.is_none_or(|start| process.start >= start)
}

fn carries_mark(tree: &Tree, pid: i32) -> bool {
    let Ok(environment) = fs::read(format!("/proc/{pid}/environ")) else {
        return false;
    };
    environment.split(|byte| *byte == 0).any(|entry| entry == tree.mark.as_bytes())
}

/// Whether a process that is not our direct child has the output pipe open. A direct child may be one of
/// a concurrent call, between its fork and its exec, when it still has copies of all our files.
fn holds_pipe(tree: &Tree, process: &Stat, own: i32) -> bool {
    if process.parent == own || tree.pipes.is_empty() {
        return false;
    }
    let Ok(files) = fs::read_dir(format!("/proc/{}/fd", process.pid)) else {
        return false;
    };
    files
        .filter_map(|entry| fs::read_link(entry.ok()?.path()).ok())
        .filter_map(|target| {
            let inode = target.to_str()?.strip_prefix("pipe:[")?.strip_suffix(']')?;
            inode.parse::<u64>().ok()
        })
        .any(|inode| tree.pipes.contains(&inode))
}

/// Signals a process unless its number now means another one.
fn send(process: &Stat, signal: Signal) {
    let Some(pid) = Pid::from_raw(process.pid) else {
        return;
    };
    let handle = pidfd_open(pid, PidfdFlags::empty());
    if stat(process.pid).is_none_or(|now| now.start != process.start) {
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

/// The number of the newest process: the last field of `/proc/loadavg`.
fn newest_number() -> Option<i32> {
    fs::read_to_string("/proc/loadavg").ok()?.split_ascii_whitespace().next_back()?.parse().ok()
}

fn stat(pid: i32) -> Option<Stat> {
    let mut line = Vec::with_capacity(512);
    fs::File::open(format!("/proc/{pid}/stat")).ok()?.read_to_end(&mut line).ok()?;
    parse_stat(&line)
}

/// The name stands in parentheses and may itself hold blanks and parentheses, so the fields are counted
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
        // Fields 7 to 21 lie between.
        start: fields.nth(15)?.parse().ok()?,
    })
}

impl Stat {
    /// Ended, though its parent may not have asked yet.
    fn is_dead(&self) -> bool {
        matches!(self.state, b'Z' | b'X' | b'x')
    }
}

#[cfg(test)]
mod tests;
