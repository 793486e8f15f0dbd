//! Operations on files and directories.

use crate::lock::{LockError, LockedFolder, LockedName};
use crate::open;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use windlass_session::{SessionKey, StoreError, StoreErrorKind};
use windlass_tool::private_file::{self, AtomicFile, sync_dir};

/// Maximum number of retries of a step when another process removed or created a file meanwhile.
const MAX_TRIES: u32 = 1_000;

/// Returns an error with the path and a remedy.
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
        _ if open::is_odd(error) => StoreError::new(
            StoreErrorKind::Io,
            format!("cannot {verb} {path}: {error}: move it away, and restore the file if you have it"),
        ),
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => StoreError::new(
            StoreErrorKind::Io,
            format!("cannot {verb} {path}: {error}: give this user access, or choose another home for sessions"),
        ),
        _ => StoreError::new(StoreErrorKind::Io, format!("cannot {verb} {path}: {error}")),
    }
}

/// Creates a directory and its parents, for this user only. Returns the directories that got new names, which are not
/// durable yet.
pub(crate) fn create_dirs(path: &Path) -> Result<Vec<PathBuf>, StoreError> {
    if path.is_dir() {
        return Ok(Vec::new());
    }
    let missing = path.ancestors().take_while(|folder| !folder.as_os_str().is_empty() && !folder.is_dir());
    let above = missing.filter_map(Path::parent).map(|above| match above.as_os_str().is_empty() {
        true => PathBuf::from("."),
        false => above.to_owned(),
    });
    let above = above.collect();
    let mut tries = 0;
    loop {
        match private_file::create_dir(path) {
            Ok(()) => return Ok(above),
            // Another process removes an ancestor at the same moment.
            Err(missing) if missing.kind() == ErrorKind::NotFound && tries < MAX_TRIES => tries += 1,
            Err(failure) => return Err(error(path, "create", &failure)),
        }
    }
}

/// Creates a new log in its folder, and the folder if it is missing. Returns the directories in which names may be new,
/// and the result of `work`. If another process removes the folder before the log is in it, all is repeated.
pub(crate) fn in_folder<T>(
    path: &Path,
    key: &SessionKey,
    mut work: impl FnMut() -> Result<T, StoreError>,
) -> Result<(Vec<PathBuf>, T), StoreError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut new_names = vec![folder.to_owned()];
    // A session's folder is two levels below the home, an agent's two below that of its session. Another process may
    // have created them just now without a sync.
    let levels = folder.ancestors().skip(1).take(if key.agent.is_some() { 4 } else { 2 });
    new_names.extend(levels.map(Path::to_owned));
    let mut tries = 0;
    loop {
        for above in create_dirs(folder)? {
            if !new_names.contains(&above) {
                new_names.push(above);
            }
        }
        tries += 1;
        let done = lock_agent_folder(folder, key).and_then(|lock| match lock {
            Some(_lock) => work(),
            None => Err(error(folder, "open", &ErrorKind::NotFound.into())),
        });
        match done {
            Err(error) if error.kind == StoreErrorKind::NotFound && tries < MAX_TRIES => {}
            done => return Ok((new_names, done?)),
        }
    }
}

/// Protects the folder of agents' logs from removal by a deletion of their session.
fn lock_agent_folder(folder: &Path, key: &SessionKey) -> Result<Option<Option<LockedFolder>>, StoreError> {
    if key.agent.is_none() {
        return Ok(Some(None));
    }
    let failed = |error: LockError| error.of_session(folder, "open", key);
    Ok(LockedFolder::kept(folder).map_err(failed)?.map(Some))
}

/// Copies a log to a new place, where it appears whole or not at all.
pub(crate) fn copy_whole(from: &Path, to: &Path) -> Result<(), StoreError> {
    let mut source = open::read(from).map_err(|e| error(from, "read", &e))?;
    place_whole(to, |copy| io::copy(&mut source, copy).map(drop))?.map_err(|e| error(to, "create", &e))
}

/// Creates a new log with these lines, durable.
pub(crate) fn create_whole(path: &Path, key: &SessionKey, lines: &[u8]) -> Result<(), StoreError> {
    let (new_names, ()) = in_folder(path, key, || {
        let _name = LockedName::take(path).map_err(|error| error.of_session(path, "create", key))?;
        place_whole(path, |file| file.write_all(lines))?.map_err(|e| match e.kind() {
            ErrorKind::AlreadyExists => StoreError::exists(key),
            _ => error(path, "create", &e),
        })
    })?;
    new_names.iter().try_for_each(|folder| sync_dir(folder).map_err(|e| error(folder, "sync", &e)))
}

/// Creates a small file with this text, durable except for its name. An existing file is replaced as a whole.
pub(crate) fn replace_whole(path: &Path, text: &str) -> Result<(), StoreError> {
    let replace = || {
        let mut new = AtomicFile::create(path)?;
        new.file().write_all(text.as_bytes())?;
        new.replace()
    };
    replace().map_err(|e| error(path, "write", &e))
}

/// Appends a separate line to a log, even while another process writes it, and returns the end of the line. `None` when
/// there is no log, or an empty one.
pub(crate) fn append_line(path: &Path, line: &str) -> Result<Option<u64>, StoreError> {
    loop {
        let mut file = match open::append(path, false) {
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(|e| error(path, "open", &e))?,
        };
        let failed = |e: io::Error| error(path, "write", &e);
        if file.metadata().map_err(failed)?.len() == 0 {
            return Ok(None);
        }
        let start = if is_torn(&mut file).map_err(failed)? { "\n" } else { "" };
        // In one write, which other writers do not split.
        file.write_all(format!("{start}{line}\n").as_bytes()).map_err(failed)?;
        file.sync_data().map_err(failed)?;
        let end = file.stream_position().map_err(failed)?;
        // Another process may have deleted the session before the line was in it.
        if open::is_at(&file, path).map_err(failed)? {
            return Ok(Some(end));
        }
    }
}

/// Writes a file under a temporary name and renames it. The inner error is that of the rename.
fn place_whole(to: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> Result<io::Result<()>, StoreError> {
    let failed = |e: io::Error| error(to, "write", &e);
    let mut new = AtomicFile::create(to).map_err(failed)?;
    write(new.file()).map_err(failed)?;
    Ok(new.place_new())
}

/// `true` if the last line of a log lacks its line break.
pub(crate) fn is_torn(file: &mut File) -> io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(false);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}
