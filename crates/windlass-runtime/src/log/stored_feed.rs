//! Following a stored session that another process may have open.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use windlass_session::{SessionKey, SessionStore, StoreError, StoreErrorKind};
use windlass_types::Entry;

/// Wait between two looks for new entries.
const INTERVAL: Duration = Duration::from_millis(250);

/// Entries of a stored session from any position on, each once and in the order in which they were appended, whichever
/// process appends them. Entries of all branches are included, and those that a rewind or a compaction left.
///
/// A follower that comes back, also in another process, begins at the [position](Self::position) that it has seen: positions
/// stay valid. Text that a model is writing is in no log: [watch](crate::SessionHandle::subscribe) the session in its own
/// process for that.
///
/// ```
/// use std::sync::Arc;
/// # mod windlass { pub mod store { pub use windlass_session::*; } pub mod session { pub use windlass_runtime::StoredFeed; } }
/// use windlass::session::StoredFeed;
/// use windlass::store::{MemoryStore, ProjectKey, SessionKey};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), windlass_session::StoreError> {
/// let key = SessionKey::new(ProjectKey::from_slug("-work"), "12345678-1234-4234-8234-123456789abc".into());
/// let mut feed = StoredFeed::subscribe_from(Arc::new(MemoryStore::new()), key, 0);
/// // Nothing is stored yet.
/// assert!(feed.stored().await?.is_none());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "a feed reads when it is asked for the next entry"]
pub struct StoredFeed {
    store: Arc<dyn SessionStore>,
    key: SessionKey,
    position: u64,
    read: VecDeque<(u64, Entry)>,
}

impl StoredFeed {
    /// Follows a session from a position on: zero for the first entry. The session need not exist yet.
    pub fn subscribe_from(store: Arc<dyn SessionStore>, key: SessionKey, position: u64) -> Self {
        Self { store, key, position, read: VecDeque::new() }
    }

    /// Returns the position behind the last entry that was returned.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Returns the next entry that is stored now, or `None` behind the last one. Cancel safe.
    ///
    /// # Errors
    /// The log cannot be read, or the store has no [reader](SessionStore::reader). The call can be repeated.
    pub async fn stored(&mut self) -> Result<Option<Entry>, StoreError> {
        if self.read.is_empty() {
            let Some(reader) = self.store.reader() else {
                let message = "this store reads no log from a position: follow the session in its own process";
                return Err(StoreError::new(StoreErrorKind::Io, message));
            };
            match reader.read(&self.key, self.position).await {
                Ok(chunk) => self.read = chunk.into_entries().into(),
                Err(error) if error.kind == StoreErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        let Some((position, entry)) = self.read.pop_front() else { return Ok(None) };
        self.position = position;
        Ok(Some(entry))
    }

    /// Waits for the next entry. A store that cannot be reached for a while is asked again. Cancel safe.
    ///
    /// # Errors
    /// The log cannot be read, or the store has no [reader](SessionStore::reader).
    pub async fn next(&mut self) -> Result<Entry, StoreError> {
        loop {
            match self.stored().await {
                Ok(Some(entry)) => return Ok(entry),
                Ok(None) => {}
                Err(error) if error.kind == StoreErrorKind::Unavailable => {}
                Err(error) => return Err(error),
            }
            tokio::time::sleep(INTERVAL).await;
        }
    }
}
