//! One writer of a memory at a time, over all sessions and processes.

use super::MemoryError;
use std::fs::{File, OpenOptions};
use std::path::Path;
use windlass_tool::private_file;

/// File whose lock is taken. The file is never removed: that would let two writers have one each.
const FILE: &str = ".lock";
/// Number of attempts to take the lock: for 5 seconds.
const MAX_ATTEMPTS: u32 = 500;

/// The lock of a directory. It ends with this value, so also with the process.
#[derive(Debug)]
pub(super) struct Lock(#[expect(dead_code, reason = "the lock ends when the file is closed")] File);

impl Lock {
    /// Waits for the lock, for 5 seconds.
    pub(super) fn take(directory: &Path) -> Result<Self, MemoryError> {
        let path = directory.join(FILE);
        let file = open(&path).map_err(MemoryError::io(&path))?;
        // On a file system without locks, each file is replaced as a whole, and the index is completed from the files.
        match private_file::lock(&file, File::try_lock, |tried| tried < MAX_ATTEMPTS) {
            Ok(true) => Ok(Self(file)),
            Ok(false) => Err(MemoryError::Busy),
            Err(problem) => Err(MemoryError::Io { path, problem }),
        }
    }
}

fn open(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
        options.mode(0o600).custom_flags(i32::try_from(flags.bits()).unwrap_or_default());
    }
    options.open(path)
}
