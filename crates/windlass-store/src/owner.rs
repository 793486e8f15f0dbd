//! Who holds the lock of a file.

use std::fs::File;

/// Most bytes that are read of the table of locks.
#[cfg(target_os = "linux")]
const LONGEST: u64 = 1024 * 1024;

/// The process that holds the lock of a file, in words.
pub(crate) fn holder(file: &File) -> String {
    match holder_pid(file) {
        Some(pid) if pid == std::process::id() => format!("this process ({pid})"),
        Some(pid) => format!("process {pid}"),
        None => "another process".to_owned(),
    }
}

/// From the kernel's table of locks: `1: FLOCK ADVISORY WRITE <pid> <major>:<minor>:<inode> 0 EOF`.
#[cfg(target_os = "linux")]
fn holder_pid(file: &File) -> Option<u32> {
    use std::io::Read;
    use std::os::unix::fs::MetadataExt;
    let inode = file.metadata().ok()?.ino().to_string();
    let mut table = String::new();
    File::open("/proc/locks").ok()?.take(LONGEST).read_to_string(&mut table).ok()?;
    table.lines().find_map(|line| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let [_, "FLOCK", _, _, pid, place, ..] = fields.as_slice() else { return None };
        // Devices have other numbers here on some file systems; inodes do not.
        let is_ours = place.rsplit(':').next() == Some(inode.as_str());
        pid.parse().ok().filter(|pid| is_ours && *pid > 0)
    })
}

#[cfg(not(target_os = "linux"))]
fn holder_pid(_: &File) -> Option<u32> {
    None
}
