//! What is done to files and directories.

use crate::owner::holder;
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;
use windlass_session::{SessionKey, StoreError, StoreErrorKind};

/// An error with the path, and what to do about it.
pub(crate) fn error(path: &Path, verb: &str, error: &io::Error) -> StoreError {
    let path = path.display();
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => StoreError::new(
            StoreErrorKind::Full,
            format!(
                "no room to {verb} {path} ({error}): free some space and resume the session; \
                 what was acknowledged is stored"
            ),
        ),
        ErrorKind::NotFound => {
            StoreError::new(StoreErrorKind::NotFound, format!("cannot {verb} {path}: it does not exist"))
        }
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => StoreError::new(
            StoreErrorKind::Io,
            format!("cannot {verb} {path}: {error}: give this user access, or choose another home for sessions"),
        ),
        _ => StoreError::new(StoreErrorKind::Io, format!("cannot {verb} {path}: {error}")),
    }
}

/// Creates a directory and those above it, for this user only. Returns whether
/// it was not there.
pub(crate) fn create_dirs(path: &Path) -> Result<bool, StoreError> {
    if path.is_dir() {
        return Ok(false);
    }
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(|e| error(path, "create", &e))?;
    Ok(true)
}

/// Opens a log for appending.
pub(crate) fn open_log(path: &Path, create: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).read(true).create(create);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Takes the lock of a log, which ends with the descriptor, so with the process.
pub(crate) fn lock(file: &File, path: &Path, key: &SessionKey) -> Result<(), StoreError> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(StoreError::in_use(key, holder(file))),
        // Some file systems know no locks. Refusing them would help nobody.
        Err(TryLockError::Error(e)) if e.kind() == ErrorKind::Unsupported => Ok(()),
        Err(TryLockError::Error(e)) => Err(error(path, "lock", &e)),
    }
}

/// Whether the last line of a log lacks its line break.
pub(crate) fn is_torn(file: &mut File) -> io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(false);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

/// Makes the names in a directory durable.
pub(crate) fn sync_dir(path: &Path) -> io::Result<()> {
    // Directories cannot be opened for this on other systems.
    if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
}
