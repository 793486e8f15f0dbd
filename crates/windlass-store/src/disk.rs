//! What is done to files and directories.

use crate::owner::holder;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
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

/// Copies a log to a new place, where it appears whole or not at all.
pub(crate) fn copy_whole(from: &Path, to: &Path) -> Result<(), StoreError> {
    let mut source = File::open(from).map_err(|e| error(from, "read", &e))?;
    place_whole(to, |copy| io::copy(&mut source, copy).map(drop))?.map_err(|e| error(to, "create", &e))
}

/// Makes a log of these lines that was not there, durable.
pub(crate) fn create_whole(path: &Path, key: &SessionKey, lines: &[u8]) -> Result<(), StoreError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut new_names = vec![folder];
    if create_dirs(folder)? {
        new_names.extend(above(folder, key));
    }
    place_whole(path, |file| file.write_all(lines))?.map_err(|e| match e.kind() {
        ErrorKind::AlreadyExists => StoreError::exists(key),
        _ => error(path, "create", &e),
    })?;
    new_names.iter().try_for_each(|folder| sync_dir(folder).map_err(|e| error(folder, "sync", &e)))
}

/// The folders above that of a new log in which names may be new as well: that of a
/// session stands two below the home, that of an agent two below that of its session.
pub(crate) fn above<'a>(folder: &'a Path, key: &SessionKey) -> impl Iterator<Item = &'a Path> {
    folder.ancestors().skip(1).take(if key.agent.is_some() { 4 } else { 2 })
}

/// Makes a small file of this text, durable but for its name. What is there is replaced as a whole.
pub(crate) fn replace_whole(path: &Path, text: &str) -> Result<(), StoreError> {
    let partial = partial(path);
    let written = (|| {
        let mut file = open_log(&partial, true)?;
        file.set_len(0)?;
        file.write_all(text.as_bytes())?;
        file.sync_data()?;
        fs::rename(&partial, path)
    })();
    if written.is_err() {
        let _ = fs::remove_file(&partial);
    }
    written.map_err(|e| error(path, "write", &e))
}

fn partial(to: &Path) -> PathBuf {
    to.with_extension(format!("partial-{}", std::process::id()))
}

/// Appends a line of its own to a log, whoever else writes it, and returns where
/// it ends. Nothing when there is no log, or an empty one.
pub(crate) fn append_line(path: &Path, line: &str) -> Result<Option<u64>, StoreError> {
    let mut file = match open_log(path, false) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(|e| error(path, "open", &e))?,
    };
    let failed = |e: io::Error| error(path, "write", &e);
    if file.metadata().map_err(failed)?.len() == 0 {
        return Ok(None);
    }
    let start = if is_torn(&mut file).map_err(failed)? { "\n" } else { "" };
    // In one write, which other writers do not part.
    file.write_all(format!("{start}{line}\n").as_bytes()).map_err(failed)?;
    file.sync_data().map_err(failed)?;
    file.stream_position().map(Some).map_err(failed)
}

/// Writes a file elsewhere and links it to its place. The inner error is that of
/// the link.
fn place_whole(to: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> Result<io::Result<()>, StoreError> {
    let partial = partial(to);
    let copied = (|| {
        let failed = |e: io::Error| error(&partial, "write", &e);
        let mut copy = open_log(&partial, true).map_err(failed)?;
        copy.set_len(0).map_err(failed)?;
        write(&mut copy).map_err(failed)?;
        copy.sync_data().map_err(failed)?;
        // A link never replaces what somebody else put there meanwhile.
        Ok(match fs::hard_link(&partial, to) {
            Err(e) if e.kind() != ErrorKind::AlreadyExists && !to.exists() => fs::rename(&partial, to),
            linked => linked,
        })
    })();
    // After a rename, or a failure before there was one, it is not there.
    let _ = fs::remove_file(&partial);
    copied
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
