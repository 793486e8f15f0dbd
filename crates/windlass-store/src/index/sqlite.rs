//! Session index: SQLite beside the logs.
//!
//! All of its content is derived from the logs. Each use updates it first, from the lines that were added to logs
//! since. A damaged index, or one of another version, is rebuilt; if it cannot be used, it is left alone and the logs
//! are read.
//!
//! A user of the index holds a shared lock beside it, a replacement an exclusive one: a connection that is open while
//! the file is replaced would write into the journal of the new one.

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

/// Folder of the index in the home.
const FOLDER: &str = "windlass-index";

/// File of the index, and SQLite's files beside it.
const FILE: &str = "sessions.sqlite3";
const SIDE_FILES: [&str; 3] = ["sessions.sqlite3-wal", "sessions.sqlite3-shm", "sessions.sqlite3-journal"];

/// Number of attempts to lock: for 2 seconds.
const MAX_TRIES: u32 = 200;

/// Returns the folder of the index of a home.
fn folder(roots: &Roots) -> PathBuf {
    fs::canonicalize(&roots.home).unwrap_or_else(|_| roots.home.clone()).join(FOLDER)
}

/// `true` if there is an index.
pub(super) fn is_there(roots: &Roots) -> bool {
    folder(roots).join(FILE).is_file()
}

/// Removes a deleted log from the index. If that fails now, the next use does it.
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

/// Returns a page from the index, or the reason why that cannot be used. The inner error is that of the search.
pub(super) fn page(roots: &Roots, filter: &Filter, walked: &Walked) -> Result<Result<SessionPage, StoreError>, String> {
    let folder = folder(roots);
    disk::create_dirs(&folder).map_err(|error| error.to_string())?;
    if folder.is_symlink() {
        return Err(format!("{} is a link, not a directory", folder.display()));
    }
    let mut result = page_of(&folder, roots, filter, walked);
    if let Err(Trouble::Damaged(_)) = result {
        replace(&folder).map_err(|trouble| trouble.to_string())?;
        result = page_of(&folder, roots, filter, walked);
    }
    result.map_err(|trouble| trouble.to_string())
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

/// Acquires the lock beside the index.
fn lock(folder: &Path, take: impl Fn(&File) -> Result<(), TryLockError>) -> Result<File, Trouble> {
    let path = folder.join("lock");
    let file = open::append(&path, true).map_err(|error| Trouble::io(&path, &error))?;
    match private_file::lock(&file, take, |tried| tried < MAX_TRIES) {
        Ok(true) => Ok(file),
        Ok(false) => Err(Trouble::Unusable("another process is using it".to_owned())),
        Err(error) => Err(Trouble::io(&path, &error)),
    }
}

/// Removes an unreadable index, so that the next use creates a new one.
fn replace(folder: &Path) -> Result<(), Trouble> {
    let _alone = lock(folder, File::try_lock)?;
    for name in SIDE_FILES.into_iter().chain([FILE]) {
        let path = folder.join(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(Trouble::io(&path, &error)),
            _ => {}
        }
    }
    Ok(())
}

fn connect(path: &Path) -> Result<Connection, Trouble> {
    // SQLite would make it readable by others, and its files beside it have the file's mode.
    drop(open::append(path, true).map_err(|error| Trouble::io(path, &error))?);
    let mut connection = Connection::open_with_flags(path, schema::FLAGS)?;
    schema::prepare(&mut connection)?;
    Ok(connection)
}
