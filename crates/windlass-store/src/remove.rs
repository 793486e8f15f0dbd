//! Removes sessions: all that belongs to one is held before any of it goes.

use crate::lock::{LockError, LockedFolder, LockedLog};
use crate::{agents, disk};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;
use windlass_session::{SessionKey, StoreError};

/// How often a folder is emptied again in which another process made a file meanwhile.
const ROUNDS: u32 = 16;

/// Removes the log at a path and what belongs to it: of a session its artifacts and the logs of its agents, of an
/// agent its description.
pub(crate) fn remove(path: &Path, key: &SessionKey) -> Result<(), StoreError> {
    let failed = |path: &Path, error: &io::Error| disk::error(path, "delete", error);
    let beside = if key.agent.is_some() { agents::meta_path(path) } else { path.with_extension("") };
    if !is_there(path)? && !is_there(&beside)? {
        return Ok(());
    }
    // To the end, so that what is being removed cannot be opened: where the log is gone, its name is taken for that
    // time.
    let _log = LockedLog::open(path, true).map_err(|error| error.of_session(path, "delete", key))?;
    if key.agent.is_some() {
        absent(fs::remove_file(&beside)).map_err(|error| failed(&beside, &error))?;
    } else {
        remove_folder(path, &beside, key)?;
    }
    // Last, so that a session of which a part could not be removed can be deleted again.
    absent(fs::remove_file(path)).map_err(|error| failed(path, &error))
}

/// Removes what belongs to the session with this log, unless a log of an agent of it is open.
fn remove_folder(path: &Path, folder: &Path, key: &SessionKey) -> Result<(), StoreError> {
    let subagents = agents::folder(path);
    for _ in 0..ROUNDS {
        if !is_there(folder)? {
            return Ok(());
        }
        // No agent comes into being until all is gone, not even the first one.
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
        match absent(fs::remove_dir_all(folder)) {
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

fn absent(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}
