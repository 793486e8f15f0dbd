//! Holders of file locks.

use std::fmt;
use std::fs::File;

/// Maximum number of bytes read from the table of locks.
#[cfg(target_os = "linux")]
const MAX_TABLE_BYTES: u64 = 1024 * 1024;

/// Holder of the lock of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holder {
    /// This process.
    Ours(u32),
    /// Another process, which is running.
    Other(u32),
    /// A process that has ended, or no process.
    NoOne,
    /// Unknown: the system does not report it.
    Unknown,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ours(pid) => write!(f, "this process ({pid})"),
            Self::Other(pid) => write!(f, "process {pid}"),
            Self::NoOne => f.write_str("a program that an ended process has started"),
            Self::Unknown => f.write_str("another process"),
        }
    }
}

/// Returns the holder of the lock of a file.
pub(crate) fn holder(file: &File) -> Holder {
    match holder_pid(file) {
        Some(pid) if pid == std::process::id() => Holder::Ours(pid),
        Some(pid) if is_alive(pid) => Holder::Other(pid),
        Some(_) => Holder::NoOne,
        None => Holder::Unknown,
    }
}

/// Reads the holder from the kernel's table of locks: `1: FLOCK ADVISORY WRITE <pid> <major>:<minor>:<inode> 0 EOF`.
#[cfg(target_os = "linux")]
fn holder_pid(file: &File) -> Option<u32> {
    use std::io::Read;
    use std::os::unix::fs::MetadataExt;
    let inode = file.metadata().ok()?.ino().to_string();
    let mut table = String::new();
    File::open("/proc/locks").ok()?.take(MAX_TABLE_BYTES).read_to_string(&mut table).ok()?;
    table.lines().find_map(|line| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let [_, "FLOCK", _, _, pid, place, ..] = fields.as_slice() else { return None };
        // Devices have other numbers here on some file systems; inodes do not.
        let is_ours = place.rsplit(':').next() == Some(inode.as_str());
        pid.parse().ok().filter(|pid| is_ours && *pid > 0)
    })
}

/// `true` if a process runs: one that has ended and was not waited for holds no files.
#[cfg(target_os = "linux")]
fn is_alive(pid: u32) -> bool {
    let Ok(stat) = std::fs::read(format!("/proc/{pid}/stat")) else { return false };
    // The name before the state may contain any bytes, so the last parenthesis is used.
    let state = stat.iter().rposition(|byte| *byte == b')').and_then(|end| stat.get(end + 2));
    !matches!(state, Some(b'Z' | b'X') | None)
}

#[cfg(not(target_os = "linux"))]
fn holder_pid(_: &File) -> Option<u32> {
    None
}

#[cfg(not(target_os = "linux"))]
fn is_alive(_: u32) -> bool {
    true
}
