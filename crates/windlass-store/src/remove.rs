//! Removal of sessions: all parts of a session are locked before any of them is removed.

use crate::lock::{LockError, LockedFolder, LockedLog};
use crate::{agents, disk};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;
use windlass_session::{SessionKey, StoreError};

/// Number of times that a folder is emptied again after another process created a file in it.
const MAX_ROUNDS: u32 = 16;

/// Removes the log at a path and its related files: for a session its artifacts and the logs of its agents, for an
/// agent its metadata.
pub(crate) fn remove(path: &Path, key: &SessionKey) -> Result<(), StoreError> {
    let failed = |path: &Path, error: &io::Error| disk::error(path, "delete", error);
    let related = if key.agent.is_some() { agents::meta_path(path) } else { path.with_extension("") };
    if !is_there(path)? && !is_there(&related)? {
        return Ok(());
    }
    // Held to the end, so that a session cannot be opened during its removal: if the log is gone, its name is taken for
    // that time.
    let _log = LockedLog::open(path, true).map_err(|error| error.of_session(path, "delete", key))?;
    if key.agent.is_some() {
        ignore_missing(fs::remove_file(&related)).map_err(|error| failed(&related, &error))?;
    } else {
        remove_folder(path, &related, key)?;
    }
    // Last, so that a partly removed session can be deleted again.
    ignore_missing(fs::remove_file(path)).map_err(|error| failed(path, &error))
}

/// Removes the data of the session with this log, unless a log of one of its agents is open.
fn remove_folder(path: &Path, folder: &Path, key: &SessionKey) -> Result<(), StoreError> {
    let subagents = agents::folder(path);
    for _ in 0..MAX_ROUNDS {
        if !is_there(folder)? {
            return Ok(());
        }
        // No agent can be created until all is removed, not even the first one.
        disk::create_dirs(&subagents)?;
        let alone = LockedFolder::alone(&subagents).map_err(|error| error.of_session(&subagents, "delete", key))?;
        let Some(_alone) = alone else { continue };
        let mut held = Vec::new();
        let logs = agents::every(path).map_err(|error| disk::error(&subagents, "delete", &error))?;
        for (agent, log) in logs {
            match LockedLog::open(&log, false) {
                Ok(lock) => held.push(lock),
                Err(LockError::Io(error)) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error.of_session(&log, "delete", &key.of_agent(agent))),
            }
        }
        match ignore_missing(fs::remove_dir_all(folder)) {
            Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => {}
            removed => return removed.map_err(|error| disk::error(folder, "delete", &error)),
        }
    }
    Err(disk::error(
        folder,
        "delete",
        &io::Error::new(ErrorKind::ResourceBusy, "another program keeps making files in it"),
    ))
}

fn is_there(path: &Path) -> Result<bool, StoreError> {
    match path.symlink_metadata() {
        Ok(_) => Ok(true),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(false),
        Err(error) => Err(disk::error(path, "delete", &error)),
    }
}

fn ignore_missing(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}
