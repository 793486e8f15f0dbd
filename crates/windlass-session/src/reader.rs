//! Reading of a stored log from any position.

#[cfg(test)]
mod tests;

use crate::load::{Scanned, scan};
use crate::{SessionKey, StoreError};
use async_trait::async_trait;
use std::fmt;
use windlass_types::Entry;

/// Reader of stored logs for programs that follow a session which they do not write.
///
/// A position is a number of bytes of the log: zero, or one that a reading returned. It stays valid for all time, over
/// owners and restarts.
///
/// ```
/// use std::path::Path;
/// use windlass_session::{Durability, LogHeader, MemoryStore, Owner, ProjectKey, SessionKey, SessionStore};
/// # use windlass_types::{ContentBlock, Entry, EntryId, EntryKind, Timestamp, UserEntry};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), windlass_session::StoreError> {
/// # let store = MemoryStore::new();
/// # let key = SessionKey::new(ProjectKey::of(Path::new("/work")), "12345678-1234-4234-8234-123456789abc".into());
/// # let prompt = EntryKind::User(UserEntry::new(vec![ContentBlock::text("Hello")]));
/// # let prompt = Entry::new(EntryId::from_bits(1), None, Timestamp::from_millis(0), prompt);
/// # let lease = store.open(&key, &Owner::new(1, "example"), LogHeader::default()).await?;
/// # store.append(&lease, lease.seq(), vec![prompt], Durability::Durable).await?;
/// let reader = store.reader().expect("the memory store has one");
/// let entries = reader.read(&key, 0).await?.into_entries();
/// assert_eq!(entries.len(), 1);
/// let (position, _) = entries[0];
/// assert!(reader.read(&key, position).await?.into_entries().is_empty());
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait LogReader: fmt::Debug + Send + Sync {
    /// Reads whole lines of a log behind a position. A long log is read in several calls; no line is returned at the end.
    ///
    /// # Errors
    /// [`StoreErrorKind::NotFound`](crate::StoreErrorKind::NotFound) when no such session exists; others when it cannot
    /// be read.
    async fn read(&self, key: &SessionKey, position: u64) -> Result<LogChunk, StoreError>;
}

/// Lines of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogChunk {
    /// Position of the first line.
    pub position: u64,
    /// Whole lines, with their line breaks.
    pub lines: Vec<u8>,
    /// `true` if the log had more lines when these were read.
    pub has_more: bool,
}

impl LogChunk {
    /// Approximate length of a chunk, in bytes. A single batch of lines may exceed it.
    pub const BYTES: usize = 4 * 1024 * 1024;

    /// Returns a chunk: the whole lines of these bytes, which begin at this position.
    pub fn new(position: u64, mut lines: Vec<u8>, has_more: bool) -> Self {
        let whole = memchr::memrchr(b'\n', &lines).map_or(0, |end| end + 1);
        lines.truncate(whole);
        Self { position, lines, has_more }
    }

    /// Returns the entries in the order in which they were appended, each with the position behind it. Entries of all
    /// branches are included, and those that a rewind or a compaction left. Damaged lines are skipped.
    ///
    /// The last message of a chunk with [more lines](Self::has_more) is left out unless it is alone: its other lines may
    /// be in the next chunk.
    pub fn into_entries(self) -> Vec<(u64, Entry)> {
        let ends = line_ends(&self.lines, self.position);
        // Reading from memory does not fail.
        let scanned = scan(self.lines.as_slice()).unwrap_or_else(|_| Scanned::default());
        let mut entries = scanned.into_appended();
        if self.has_more && entries.len() > 1 {
            entries.pop();
        }
        let end = |line: u64| usize::try_from(line).ok().and_then(|line| ends.get(line.checked_sub(1)?)).copied();
        let last = ends.last().copied().unwrap_or(self.position);
        entries.into_iter().map(|(line, entry)| (end(line).unwrap_or(last), entry)).collect()
    }
}

/// Returns the position behind each line.
fn line_ends(lines: &[u8], position: u64) -> Vec<u64> {
    memchr::memchr_iter(b'\n', lines).map(|end| position + end as u64 + 1).collect()
}
