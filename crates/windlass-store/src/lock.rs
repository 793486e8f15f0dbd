//! File locks: one writer, and never a lock of a file that was removed meanwhile.

#[cfg(test)]
mod tests;

use crate::open;
use crate::owner::{Holder, holder};
use std::fs::{File, TryLockError};
use std::io::{self, ErrorKind};
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use windlass_session::{SessionKey, StoreError};
use windlass_tool::private_file;

/// Number of retries of a lock that this process holds: another thread may be about to release it.
const OWN_LOCK_RETRIES: u32 = 10;

/// Number of retries of a lock that no living process is known to hold. A program that was being started by a killed
/// process holds its locks until it has begun.
const STALE_LOCK_RETRIES: u32 = 100;

/// Number of times that a file is opened again after it was removed or replaced before the lock.
const MAX_REOPENS: u32 = 1_000;

/// A file that is locked, and was at its path when it was locked. The lock ends with this value, so also with the
/// process.
#[derive(Debug)]
pub(crate) struct Locked(File);

/// Reason why a file is not locked.
#[derive(Debug)]
pub(crate) enum LockError {
    /// The lock is held, by this holder.
    Held(Holder),
    /// The file cannot be opened or locked.
    Io(io::Error),
}

impl From<io::Error> for LockError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl LockError {
    /// Returns the error of a session whose file could not be opened.
    pub(crate) fn of_session(self, path: &Path, verb: &str, key: &SessionKey) -> StoreError {
        match self {
            Self::Held(Holder::Ours(pid)) => StoreError::in_use_here(key, pid),
            Self::Held(holder) => StoreError::in_use(key, holder),
            Self::Io(error) => crate::disk::error(path, verb, &error),
        }
    }
}

impl Locked {
    /// Opens the file at a path for appending and locks it.
    pub(crate) fn open(path: &Path, create: bool) -> Result<Self, LockError> {
        for _ in 0..MAX_REOPENS {
            let locked = Self::new(open::append(path, create)?)?;
            // The last holder of the lock may have removed the file; later writes to it would be lost.
            if open::is_at(&locked, path)? {
                return Ok(locked);
            }
        }
        Err(io::Error::new(ErrorKind::ResourceBusy, "it is removed or replaced again and again").into())
    }

    /// Locks an open file.
    pub(crate) fn new(file: File) -> Result<Self, LockError> {
        lock_with_retries(&file, File::try_lock, max_retries)?;
        Ok(Self(file))
    }
}

/// Log of a session, locked twice: the file itself, and its name.
///
/// The lock of a file moves with the file. A program that replaces the log creates an unlocked file: the lock of the
/// name keeps a second process from opening that while the first one still runs.
#[derive(Debug)]
pub(crate) struct LockedLog {
    /// File, dropped before the lock of the name.
    file: Locked,
    _name: LockedName,
}

impl LockedLog {
    /// Opens the log at a path for appending and takes both locks.
    pub(crate) fn open(path: &Path, create: bool) -> Result<Self, LockError> {
        // The name of a missing log is not locked, so that a check changes nothing.
        if !create {
            path.symlink_metadata()?;
        }
        let name = LockedName::take(path)?;
        Ok(Self { file: Locked::open(path, create)?, _name: name })
    }
}

impl Deref for LockedLog {
    type Target = File;

    fn deref(&self) -> &File {
        &self.file
    }
}

impl DerefMut for LockedLog {
    fn deref_mut(&mut self) -> &mut File {
        &mut self.file
    }
}

/// Lock of the name of a log: an empty file beside it, which exists while the log is open. A killed process leaves it
/// behind, unlocked, and the next one that opens the log removes it again.
#[derive(Debug)]
pub(crate) struct LockedName {
    file: Locked,
    path: PathBuf,
}

impl LockedName {
    /// Takes the lock. The folder must exist.
    pub(crate) fn take(log: &Path) -> Result<Self, LockError> {
        let path = log.with_extension("lock");
        Ok(Self { file: Locked::open(&path, true)?, path })
    }
}

impl Drop for LockedName {
    fn drop(&mut self) {
        // Removed while it is locked: a waiting process then finds that it is gone, and creates another one. On systems
        // that keep the name of an open file, the file stays.
        if cfg!(unix) && open::is_at(&self.file, &self.path).unwrap_or(false) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        // A program that is just being started has the file as well, and would keep the lock for a moment.
        let _ = self.0.unlock();
    }
}

impl Deref for Locked {
    type Target = File;

    fn deref(&self) -> &File {
        &self.0
    }
}

impl DerefMut for Locked {
    fn deref_mut(&mut self) -> &mut File {
        &mut self.0
    }
}

/// Returns the number of retries of a lock that is held.
fn max_retries(holder: Holder) -> u32 {
    match holder {
        Holder::Other(_) => 0,
        Holder::Ours(_) => OWN_LOCK_RETRIES,
        Holder::NoOne | Holder::Unknown => STALE_LOCK_RETRIES,
    }
}

/// Acquires a lock. The number of retries depends on its holder.
fn lock_with_retries(
    file: &File,
    lock: impl Fn(&File) -> Result<(), TryLockError>,
    max_retries: impl Fn(Holder) -> u32,
) -> Result<(), LockError> {
    let mut found = None;
    let is_held = private_file::lock(file, lock, |tried| {
        let holder = holder(file);
        found = Some(holder);
        tried < max_retries(holder)
    })?;
    match found.filter(|_| !is_held) {
        Some(holder) => Err(LockError::Held(holder)),
        None => Ok(()),
    }
}

/// A locked folder, into which no name can be added or from which none can be removed.
#[derive(Debug)]
pub(crate) struct LockedFolder(#[cfg(unix)] File);

#[cfg(unix)]
impl LockedFolder {
    /// Locks a folder against its removal, shared with others. `None` when it does not exist.
    pub(crate) fn kept(path: &Path) -> Result<Option<Self>, LockError> {
        Self::new(path, File::try_lock_shared)
    }

    /// Locks a folder in order to remove it. `None` when it does not exist.
    pub(crate) fn alone(path: &Path) -> Result<Option<Self>, LockError> {
        Self::new(path, File::try_lock)
    }

    fn new(path: &Path, lock: impl Fn(&File) -> Result<(), TryLockError>) -> Result<Option<Self>, LockError> {
        for _ in 0..MAX_REOPENS {
            let folder = match open::directory(path) {
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
                opened => opened?,
            };
            // Held while one file is created, or a few are removed.
            lock_with_retries(&folder, &lock, |_| STALE_LOCK_RETRIES)?;
            let locked = Self(folder);
            if open::is_at(&locked.0, path)? {
                return Ok(Some(locked));
            }
        }
        Err(io::Error::new(ErrorKind::ResourceBusy, "it is removed or replaced again and again").into())
    }
}

#[cfg(unix)]
impl Drop for LockedFolder {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

/// Folders cannot be opened for this purpose on other systems.
#[cfg(not(unix))]
impl LockedFolder {
    pub(crate) fn kept(path: &Path) -> Result<Option<Self>, LockError> {
        Ok(path.is_dir().then_some(Self()))
    }

    pub(crate) fn alone(path: &Path) -> Result<Option<Self>, LockError> {
        Self::kept(path)
    }
}
