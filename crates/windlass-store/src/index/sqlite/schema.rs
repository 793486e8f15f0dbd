//! Tables of the index.

use super::trouble::Trouble;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use std::time::Duration;

/// Flags for opening the file, which exists and is not a link.
pub(super) const FLAGS: OpenFlags =
    OpenFlags::SQLITE_OPEN_READ_WRITE.union(OpenFlags::SQLITE_OPEN_NO_MUTEX).union(OpenFlags::SQLITE_OPEN_NOFOLLOW);

/// Maximum wait for another process that writes.
const BUSY_TIMEOUT: Duration = Duration::from_secs(2);

/// Version of the tables, their contents, and the splitting of words.
const VERSION: i32 = 2;

/// Tables by name. A text has the number of its session in the upper bits of its own ([`text_id`]), so that the words
/// of one session are a range. The words are those of `windlass_session::words`, separated by blanks: no tokenizer of
/// SQLite is involved. Prefixes of two and four characters are indexed, which serve those of one and three as well:
/// short ones have many words.
const TABLES: [(&str, &str); 3] = [
    (
        "sessions",
        "CREATE TABLE sessions (number INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, size INTEGER NOT NULL, \
         modified INTEGER NOT NULL, read INTEGER NOT NULL, mark BLOB NOT NULL, texts INTEGER NOT NULL, title TEXT, \
         tag TEXT, summary TEXT, digest TEXT NOT NULL)",
    ),
    ("texts", "CREATE TABLE texts (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, at INTEGER, text TEXT NOT NULL)"),
    (
        "words",
        "CREATE VIRTUAL TABLE words USING fts5(text, content='', contentless_delete=1, detail=none, prefix='2 4', \
         tokenize='ascii')",
    ),
];

/// Number of bits of a text's number that are its index in its session.
pub(super) const TEXT_BITS: u32 = 20;

/// Returns the number of a text: 0 is the title of its session. `None` if the session has too many.
pub(super) fn text_id(session: i64, text: i64) -> Option<i64> {
    let fits = (0..1 << TEXT_BITS).contains(&text) && (0..1 << 40).contains(&session);
    fits.then_some(session << TEXT_BITS | text)
}

/// Creates the tables, or checks that they exist.
pub(super) fn prepare(connection: &mut Connection) -> Result<(), Trouble> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    // Deleted data is overwritten.
    connection.pragma_update_and_check(None, "secure_delete", true, |_| Ok(()))?;
    connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
    // A power failure may cost the last refresh, which is repeated.
    connection.pragma_update(None, "synchronous", "normal")?;
    if version(connection)? == 0 {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process may have been first.
        if version(&transaction)? == 0 {
            for (_, table) in TABLES {
                transaction.execute_batch(table)?;
            }
            transaction.pragma_update(None, "user_version", VERSION)?;
        }
        transaction.commit()?;
    }
    check(connection)
}

fn version(connection: &Connection) -> Result<i32, rusqlite::Error> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

fn check(connection: &Connection) -> Result<(), Trouble> {
    let found = version(connection)?;
    if found != VERSION {
        return Err(Trouble::Damaged(format!("it is of version {found}, and this program writes {VERSION}")));
    }
    let mut statement = connection.prepare("SELECT sql FROM sqlite_schema WHERE name = ?1")?;
    for (name, table) in TABLES {
        if statement.query_row([name], |row| row.get::<_, String>(0))? != table {
            return Err(Trouble::Damaged(format!("its table {name} is another one")));
        }
    }
    let others = "SELECT count(*) FROM sqlite_schema WHERE type IN ('trigger', 'view')";
    match connection.query_row(others, [], |row| row.get::<_, i64>(0))? {
        0 => Ok(()),
        _ => Err(Trouble::Damaged("it has triggers or views".to_owned())),
    }
}
