//! Updates of the index from the logs.

use super::schema::{TEXT_BITS, text_id};
use super::trouble::Trouble;
use crate::SkippedFile;
use crate::index::draft::skipped;
use crate::index::log::{LogReader, title_text};
use crate::index::walk::LogFile;
use crate::locate::{Ends, modified};
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use windlass_session::{LogText, SessionDigest, SessionSummary, words};

/// Maximum size of one transaction, in logs and bytes: other processes wait for it.
const BATCH_LOGS: usize = 64;
const BATCH_BYTES: u64 = 16 * 1024 * 1024;

/// Index states of logs, by their paths.
pub(super) type States = HashMap<String, State>;

/// Index state of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct State {
    /// Number of the session.
    pub(super) number: i64,
    size: u64,
    modified: u64,
}

/// Indexes the lines that were added to logs since, and removes missing logs below the roots. Returns the states after
/// that, and the logs that cannot be read.
pub(super) fn refresh(
    connection: &mut Connection,
    roots: &[PathBuf],
    logs: &[LogFile],
) -> Result<(States, Vec<SkippedFile>), Trouble> {
    let mut known = states(connection)?;
    let present: HashSet<&str> = logs.iter().map(|log| log.place.as_str()).collect();
    let is_ours = |place: &str| roots.iter().any(|root| Path::new(place).starts_with(root));
    let removed: Vec<(String, State)> =
        known.extract_if(|place, _| !present.contains(place.as_str()) && is_ours(place)).collect();
    for batch in removed.chunks(BATCH_LOGS) {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for (_, state) in batch {
            forget(&transaction, state.number)?;
        }
        transaction.commit()?;
    }
    let is_stale = |log: &&LogFile| {
        known.get(&log.place).is_none_or(|state| (state.size, state.modified) != (log.size, log.modified))
    };
    let stale: Vec<&LogFile> = logs.iter().filter(is_stale).collect();
    let unread = index_logs(connection, &stale, &mut known)?;
    Ok((known, unread))
}

/// Indexes logs, several in each transaction, and returns those that cannot be read.
fn index_logs(
    connection: &mut Connection,
    stale: &[&LogFile],
    known: &mut States,
) -> Result<Vec<SkippedFile>, Trouble> {
    let (mut unread, mut ends) = (Vec::new(), Ends::default());
    let mut stale = stale.iter().peekable();
    while stale.peek().is_some() {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let (mut count, mut bytes) = (0, 0);
        while let Some(log) = stale.next_if(|_| count < BATCH_LOGS && bytes < BATCH_BYTES) {
            (count, bytes) = (count + 1, bytes + log.size);
            match index_log(&transaction, log, &mut ends)? {
                Ok(number) => {
                    known.insert(log.place.clone(), State { number, size: log.size, modified: log.modified });
                }
                Err(error) => {
                    if let Some(state) = known.remove(&log.place) {
                        forget(&transaction, state.number)?;
                    }
                    unread.extend(skipped(&log.path, &error));
                }
            }
        }
        transaction.commit()?;
    }
    Ok(unread)
}

fn states(connection: &Connection) -> Result<States, Trouble> {
    let mut statement = connection.prepare("SELECT path, number, size, modified FROM sessions")?;
    let rows = statement.query_map([], |row| {
        Ok((row.get(0)?, State { number: row.get(1)?, size: row.get(2)?, modified: row.get(3)? }))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Removes the session with this log from the index.
pub(super) fn forget_log(connection: &mut Connection, log: &Path) -> Result<(), Trouble> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let path = log.to_string_lossy();
    let number: Option<i64> =
        transaction.query_row("SELECT number FROM sessions WHERE path = ?1", [path], |row| row.get(0)).optional()?;
    if let Some(number) = number {
        forget(&transaction, number)?;
    }
    Ok(transaction.commit()?)
}

/// Removes a session from the index.
fn forget(transaction: &Transaction<'_>, number: i64) -> Result<(), Trouble> {
    let (first, last) = (number << TEXT_BITS, (number << TEXT_BITS) | ((1 << TEXT_BITS) - 1));
    transaction.prepare_cached("DELETE FROM words WHERE rowid BETWEEN ?1 AND ?2")?.execute([first, last])?;
    transaction.prepare_cached("DELETE FROM texts WHERE id BETWEEN ?1 AND ?2")?.execute([first, last])?;
    transaction.prepare_cached("DELETE FROM sessions WHERE number = ?1")?.execute([number])?;
    Ok(())
}

/// Reading progress of a log.
#[derive(Debug, Default)]
struct Progress {
    read: u64,
    texts: i64,
    digest: SessionDigest,
}

/// Indexes the new lines of a log. The inner error is that of the log, of which nothing is kept then.
fn index_log(transaction: &Transaction<'_>, log: &LogFile, ends: &mut Ends) -> Result<io::Result<i64>, Trouble> {
    let mut reader = match LogReader::open(&log.path) {
        Ok(reader) => reader,
        Err(error) => return Ok(Err(error)),
    };
    let (number, mut progress) = match start_indexing(transaction, &log.place, &mut reader)? {
        Ok(begun) => begun,
        Err(error) => return Ok(Err(error)),
    };
    let mut stored = Ok(());
    let Progress { read, texts, digest } = &mut progress;
    let done = reader.lines(*read, digest, |text| {
        *texts += 1;
        if stored.is_ok() {
            stored = store_text(transaction, text_id(number, *texts), &text);
        }
    });
    let done = done.and_then(|end| Ok((end, reader.mark(end)?, reader.summary(ends, &log.id)?)));
    stored?;
    let (end, mark, summary) = match done {
        Ok(done) => done,
        Err(error) => {
            forget(transaction, number)?;
            return Ok(Err(error));
        }
    };
    store_title(transaction, number, summary.as_ref())?;
    let modified = modified(reader.metadata()).unwrap_or_default().as_nanos();
    transaction
        .prepare_cached(
            "REPLACE INTO sessions (number, path, size, modified, read, mark, texts, title, tag, summary, digest) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        )?
        .execute(params![
            number,
            log.place,
            reader.metadata().len(),
            u64::try_from(modified).unwrap_or(u64::MAX),
            end,
            mark,
            progress.texts,
            summary.as_ref().and_then(|summary| summary.custom_title.as_ref()),
            summary.as_ref().and_then(|summary| summary.tag.as_ref()),
            summary.as_ref().map(serde_json::to_string).transpose()?,
            serde_json::to_string(&progress.digest)?,
        ])?;
    Ok(Ok(number))
}

/// Returns the number of a session, and the reading progress of its log: at the beginning, if it is new or was
/// rewritten.
fn start_indexing(
    transaction: &Transaction<'_>,
    path: &str,
    reader: &mut LogReader,
) -> Result<io::Result<(i64, Progress)>, Trouble> {
    // Another process may have indexed it meanwhile.
    let known: Option<(i64, u64, [u8; 32], i64, String)> = transaction
        .prepare_cached("SELECT number, read, mark, texts, digest FROM sessions WHERE path = ?1")?
        .query_row([path], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?)))
        .optional()?;
    if let Some((number, read, mark, texts, digest)) = known {
        match reader.mark(read) {
            Err(error) => return Ok(Err(error)),
            Ok(present_mark) if present_mark == mark && read <= reader.metadata().len() => {
                return Ok(Ok((number, Progress { read, texts, digest: serde_json::from_str(&digest)? })));
            }
            Ok(_) => forget(transaction, number)?,
        }
    }
    let last = "SELECT coalesce(max(number), 0) + 1 FROM sessions";
    Ok(Ok((transaction.query_row(last, [], |row| row.get(0))?, Progress::default())))
}

/// Stores the title and the tag of a session as its first text.
fn store_title(transaction: &Transaction<'_>, number: i64, summary: Option<&SessionSummary>) -> Result<(), Trouble> {
    let id = text_id(number, 0);
    transaction.prepare_cached("DELETE FROM words WHERE rowid = ?1")?.execute([id])?;
    transaction.prepare_cached("DELETE FROM texts WHERE id = ?1")?.execute([id])?;
    match summary.and_then(title_text) {
        Some(text) => store_text(transaction, id, &text),
        None => Ok(()),
    }
}

/// Stores a text and its words. A text without a number exceeds the limit.
fn store_text(transaction: &Transaction<'_>, id: Option<i64>, text: &LogText) -> Result<(), Trouble> {
    let Some(id) = id else { return Ok(()) };
    let found: Vec<String> = words(&text.text).collect();
    let at = text.at.map(|at| i64::try_from(at.millis()).unwrap_or(i64::MAX));
    transaction.prepare_cached("INSERT INTO texts (id, kind, at, text) VALUES (?1, ?2, ?3, ?4)")?.execute(params![
        id,
        serde_json::to_string(&text.kind)?,
        at,
        text.text
    ])?;
    transaction
        .prepare_cached("INSERT INTO words (rowid, text) VALUES (?1, ?2)")?
        .execute(params![id, found.join(" ")])?;
    Ok(())
}
