//! The index: SQLite beside the logs.
//!
//! It holds nothing that the logs do not say. Each use brings it up to date first, from the lines that logs have got since.
//! One that is damaged or of another version is made anew; one that cannot be used is left, and the logs are read.
//!
//! Who uses it holds a shared lock beside it, and who replaces it an exclusive one: a connection that is open while the
//! file is replaced would write into the journal of the new one.

mod query;
mod refresh;
mod schema;
mod trouble;

use super::draft::Draft;
use super::filter::Filter;
use super::listed::{PageSource, SessionPage};
use super::walk::{Walked, wanted};
use crate::locate::Roots;
use crate::{disk, open};
use rusqlite::Connection;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use trouble::Trouble;
use windlass_session::StoreError;
use windlass_tool::private_file;

/// The folder of the index in the home.
const FOLDER: &str = "windlass-index";

/// The file of the index, and what SQLite keeps beside it.
const FILE: &str = "sessions.sqlite3";
const BESIDE: [&str; 3] = ["sessions.sqlite3-wal", "sessions.sqlite3-shm", "sessions.sqlite3-journal"];

/// How often a lock is tried again: for 2 seconds.
const TRIES: u32 = 200;

/// The folder of the index of a home.
fn folder(roots: &Roots) -> PathBuf {
    fs::canonicalize(&roots.home).unwrap_or_else(|_| roots.home.clone()).join(FOLDER)
}

/// Whether there is an index.
pub(super) fn is_there(roots: &Roots) -> bool {
    folder(roots).join(FILE).is_file()
}

/// Removes what the index keeps of a log that was deleted. If that is not possible now, the next use does it.
pub(super) fn forget(roots: &Roots, log: &Path) {
    let forget = || -> Result<(), Trouble> {
        let folder = folder(roots);
        let _used = lock(&folder, File::try_lock_shared)?;
        refresh::forget_log(&mut connect(&folder.join(FILE))?, log)
    };
    if is_there(roots)
        && let Err(trouble) = forget()
    {
        tracing::debug!(%trouble, "the index of sessions still has one that was deleted");
    }
}

/// A page by the index, or why that cannot be used. The inner error is that of the search.
pub(super) fn page(roots: &Roots, filter: &Filter, walked: &Walked) -> Result<Result<SessionPage, StoreError>, String> {
    let folder = folder(roots);
    disk::create_dirs(&folder).map_err(|error| error.to_string())?;
    if folder.is_symlink() {
        return Err(format!("{} is a link, not a directory", folder.display()));
    }
    let mut tried = page_of(&folder, roots, filter, walked);
    if let Err(Trouble::Damaged(_)) = tried {
        replace(&folder).map_err(|trouble| trouble.to_string())?;
        tried = page_of(&folder, roots, filter, walked);
    }
    tried.map_err(|trouble| trouble.to_string())
}

fn page_of(
    folder: &Path,
    roots: &Roots,
    filter: &Filter,
    walked: &Walked,
) -> Result<Result<SessionPage, StoreError>, Trouble> {
    let _used = lock(folder, File::try_lock_shared)?;
    let mut connection = connect(&folder.join(FILE))?;
    let roots: Vec<PathBuf> = roots.projects().collect();
    let (known, mut skipped) = refresh::refresh(&mut connection, &roots, &walked.logs)?;
    skipped.extend(walked.skipped.iter().cloned());
    let logs = match wanted(filter, &walked.logs) {
        Ok(logs) => logs,
        Err(error) => return Ok(Err(error)),
    };
    let mut draft = Draft::new(filter, skipped);
    let mut logs = logs.into_iter().peekable();
    let query = query::Query::new(&connection, filter)?;
    while !draft.is_full() {
        let Some(log) = logs.next() else { break };
        let said = known.get(&log.place).map(|state| query.said(state.number, &log.place)).transpose()?.flatten();
        draft.take(log, said);
    }
    let more = logs.any(|log| known.get(&log.place).is_some_and(|state| query.may_fit(state.number)));
    Ok(Ok(draft.finish(PageSource::Index, more)))
}

/// Takes the lock beside the index.
fn lock(folder: &Path, take: impl Fn(&File) -> Result<(), TryLockError>) -> Result<File, Trouble> {
    let path = folder.join("lock");
    let file = open::append(&path, true).map_err(|error| Trouble::io(&path, &error))?;
    match private_file::lock(&file, take, |tried| tried < TRIES) {
        Ok(true) => Ok(file),
        Ok(false) => Err(Trouble::Unusable("another process is using it".to_owned())),
        Err(error) => Err(Trouble::io(&path, &error)),
    }
}

/// Removes an index that cannot be read, so that the next use makes a new one.
fn replace(folder: &Path) -> Result<(), Trouble> {
    let _alone = lock(folder, File::try_lock)?;
    for name in BESIDE.into_iter().chain([FILE]) {
        let path = folder.join(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(Trouble::io(&path, &error)),
            _ => {}
        }
    }
    Ok(())
}

fn connect(path: &Path) -> Result<Connection, Trouble> {
    // SQLite would make it readable by others, and what it keeps beside the file has the file's mode.
    drop(open::append(path, true).map_err(|error| Trouble::io(path, &error))?);
    let mut connection = Connection::open_with_flags(path, schema::FLAGS)?;
    schema::prepare(&mut connection)?;
    Ok(connection)
}
