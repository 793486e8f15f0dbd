//! Finds the processes of a tree in `/proc`.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io::Read as _;
use std::time::Duration;

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
    flags: u64,
    threads: u32,
    /// Start time in clock ticks since boot: with the number it names a process for good.
    start: u64,
}

/// More new processes than this and the whole table is read instead.
const FEW: i32 = 64;

/// How often the newest processes are looked at again: a look that finds nobody proves something only if nobody
/// was started meanwhile, since a member may fork and exit between two reads.
const ROUNDS: usize = 100;

/// Whether no living process newer than the child belongs to its tree. Quick; in doubt the answer is no.
pub(super) fn nothing_newer(tree: &Tree) -> bool {
    let mut seen = tree.id();
    for _ in 0..ROUNDS {
        match newest_number() {
            Some(newest) if newest == seen => return true,
            Some(newest) if newest > seen && newest.saturating_sub(tree.id()) <= FEW => {
                let mut newer = seen.saturating_add(1)..=newest;
                if newer.any(|pid| look(tree, pid, false).is_some_and(|process| process.ours != Some(false))) {
                    return false;
                }
                seen = newest;
            }
            _ => return false,
        }
    }
    false
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

/// Looks through all processes, and those that were started meanwhile.
pub(super) fn members(tree: &Tree, wide: bool) -> Members {
    let mut newest = newest_number().unwrap_or(i32::MAX);
    let with_number = |pid| Some((pid, look_closely(tree, pid, wide)?));
    let mut processes: BTreeMap<i32, Seen> = all_numbers().filter_map(with_number).collect();
    for _ in 0..ROUNDS {
        match newest_number() {
            Some(now) if now > newest => {
                processes.extend((newest.saturating_add(1)..=now).filter_map(with_number));
                newest = now;
            }
            _ => break,
        }
    }
    let is_ours = |process: &&Seen| process.ours == Some(true);
    let mut ours: HashSet<i32> = processes.values().filter(is_ours).map(|process| process.stat.pid).collect();
    loop {
        let before = ours.len();
        for process in processes.values() {
            if ours.contains(&process.stat.parent) {
                ours.insert(process.stat.pid);
            }
        }
        if ours.len() == before {
            break;
        }
    }
    let stats = processes.into_values().map(|process| process.stat);
    Members(stats.filter(|process| ours.contains(&process.pid)).collect())
}

fn all_numbers() -> impl Iterator<Item = i32> {
    let table = fs::read_dir("/proc").ok();
    table.into_iter().flatten().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

/// A living process, and whether it belongs to the tree by itself. Nothing means that it cannot be told: in the
/// midst of an exec a process has no environment.
#[derive(Debug)]
struct Seen {
    stat: Stat,
    ours: Option<bool>,
}

/// How often, and how long apart, a process is asked again that is in the midst of an exec.
const ASK_AGAIN: (usize, Duration) = (10, Duration::from_micros(300));

fn look_closely(tree: &Tree, pid: i32, wide: bool) -> Option<Seen> {
    let mut process = look(tree, pid, wide)?;
    for _ in 0..ASK_AGAIN.0 {
        if process.ours.is_some() {
            break;
        }
        std::thread::sleep(ASK_AGAIN.1);
        process = look(tree, pid, wide)?;
    }
    Some(process)
}

fn look(tree: &Tree, pid: i32, wide: bool) -> Option<Seen> {
    let own = self_id();
    let stat = stat(pid).filter(|stat| pid > 1 && pid != own && !stat.is_dead() && !is_own_thread(pid))?;
    if stat.flags & KERNEL != 0 || !is_younger(tree, &stat) {
        return Some(Seen { stat, ours: Some(false) });
    }
    let leader = tree.id();
    let is_in_group = stat.pid == leader || stat.group == leader || stat.session == leader;
    let ours = if is_in_group || (wide && holds_pipe(tree, &stat, own)) { Some(true) } else { carries_mark(tree, pid) };
    Some(Seen { stat, ours })
}

/// Threads have numbers too, and a line in the table for who asks by number. One of ours holds all our pipes, and
/// a signal to it is a signal to us.
fn is_own_thread(pid: i32) -> bool {
    fs::exists(format!("/proc/self/task/{pid}")).unwrap_or(true)
}

/// `PF_EXITING` of the kernel: no more code of its own will run.
const EXITING: u64 = 0x4;
/// `PF_KTHREAD`: a thread of the kernel itself.
const KERNEL: u64 = 0x0020_0000;

/// Nothing that was there before the child can be its work: not a reused number, and not a server that
/// was handed the output pipe by one of its clients.
fn is_younger(tree: &Tree, process: &Stat) -> bool {
    tree.start.is_none_or(|start| process.start >= start)
}

/// Whether the environment has the call's mark; nothing if there is no environment.
fn carries_mark(tree: &Tree, pid: i32) -> Option<bool> {
    let Ok(environment) = fs::read(format!("/proc/{pid}/environ")) else {
        return Some(false);
    };
    let mut entries = environment.split(|byte| *byte == 0);
    (!environment.is_empty()).then(|| entries.any(|entry| entry == tree.mark.as_bytes()))
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
        // Fields 7 and 8 lie between.
        flags: fields.nth(2)?.parse().ok()?,
        // Fields 10 to 19 lie between.
        threads: fields.nth(10)?.parse().ok()?,
        // Field 21 lies between.
        start: fields.nth(1)?.parse().ok()?,
    })
}

impl Stat {
    /// Ended, though its parent may not have asked yet, or ending: who sees the end of its output is early.
    fn is_dead(&self) -> bool {
        let ends = self.flags & EXITING != 0 || matches!(self.state, b'Z' | b'X' | b'x');
        // The first thread may end before the others; they are the process then.
        ends && self.threads <= 1
    }
}

#[cfg(test)]
mod tests;
