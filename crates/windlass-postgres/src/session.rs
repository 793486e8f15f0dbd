//! One open session: a queue of batches and the writer of its log.

use crate::database::{Database, is_unavailable};
use crate::error::odd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::Instant;
use windlass_session::{Durability, LogEncoder, SessionKey, StoreError, StoreErrorKind};
use windlass_types::Entry;

/// Wait before an append is repeated.
const REPEAT: Duration = Duration::from_millis(100);

const APPEND: &str = "select r_status, r_seq from wl_append($1, $2, $3, $4, $5, $6, $7)";
const RELEASE: &str = "select wl_release($1, $2, $3, $4)";

/// Lease as the database gave it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grant {
    pub(crate) id: i64,
    pub(crate) epoch: i64,
    pub(crate) seq: i64,
    /// Time from which it holds.
    pub(crate) asked: Instant,
}

/// An open session. Batches appended while one is written are written together.
#[derive(Debug)]
pub(crate) struct OpenSession {
    pub(crate) key: SessionKey,
    pub(crate) id: i64,
    pub(crate) epoch: i64,
    database: Arc<Database>,
    state: Mutex<WriteState>,
}

#[derive(Debug)]
struct WriteState {
    encoder: LogEncoder,
    seq: i64,
    pending: Vec<Batch>,
    /// `true` while a task writes, or is about to.
    is_writing: bool,
    /// `true` if entries were written since the last synced batch.
    is_unsynced: bool,
    /// First error. No entry is written after it.
    failed: Option<StoreError>,
    is_released: bool,
    /// `true` if the lease was given back, or cannot be.
    is_given_back: bool,
    /// Time until which the lease holds for certain.
    until: Instant,
    /// State of the session in the queue when it is released; `None` leaves it.
    leaves: Option<i16>,
}

/// Lines to write together.
#[derive(Debug)]
struct Batch {
    from: i64,
    ids: Vec<String>,
    body: Vec<u8>,
    durable: bool,
    waiting: Vec<oneshot::Sender<Result<(), StoreError>>>,
}

impl OpenSession {
    pub(crate) fn new(
        key: SessionKey,
        grant: Grant,
        (database, term): (Arc<Database>, Duration),
        encoder: LogEncoder,
    ) -> Self {
        let state = WriteState {
            encoder,
            seq: grant.seq,
            pending: Vec::new(),
            is_writing: false,
            is_unsynced: false,
            failed: None,
            is_released: false,
            is_given_back: false,
            until: grant.asked + term,
            leaves: None,
        };
        Self { key, id: grant.id, epoch: grant.epoch, database, state: Mutex::new(state) }
    }

    fn lock(&self) -> MutexGuard<'_, WriteState> {
        // No panic can happen between two changes that belong together.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_released(&self) -> bool {
        self.lock().is_released
    }

    /// Moves the end of the lease.
    pub(crate) fn renewed(&self, until: Instant) {
        let mut state = self.lock();
        state.until = state.until.max(until);
    }

    /// Sets the state in the queue from the release on.
    pub(crate) fn leave_as(&self, state: i16) {
        self.lock().leaves = Some(state);
    }

    /// Appends entries at the expected position. The entries are accepted before the first wait.
    pub(crate) async fn append(
        self: &Arc<Self>,
        expected: u64,
        entries: Vec<Entry>,
        durability: Durability,
    ) -> Result<u64, StoreError> {
        let durable = durability == Durability::Durable;
        let (seq, waiting) = {
            let mut state = self.lock();
            if state.is_released {
                return Err(StoreError::lease_lost(&self.key));
            }
            if let Some(error) = &state.failed {
                return Err(error.clone());
            }
            let found = position(state.seq);
            if found != expected {
                return Err(StoreError::conflict(&self.key, expected, found));
            }
            let waiting = self.push(&mut state, &entries, durable);
            (position(state.seq), waiting)
        };
        finish(waiting).await?;
        Ok(seq)
    }

    /// Waits until everything appended is written, and with `sync` durable.
    pub(crate) async fn flush(self: &Arc<Self>, sync: bool) -> Result<(), StoreError> {
        let waiting = {
            let mut state = self.lock();
            if let Some(error) = state.failed.as_ref().filter(|_| !state.is_writing) {
                return Err(error.clone());
            }
            if state.is_writing || sync { self.push(&mut state, &[], sync) } else { None }
        };
        finish(waiting).await
    }

    fn push(
        self: &Arc<Self>,
        state: &mut WriteState,
        entries: &[Entry],
        durable: bool,
    ) -> Option<oneshot::Receiver<Result<(), StoreError>>> {
        if entries.is_empty() && !state.is_writing && !(durable && state.is_unsynced) {
            return None;
        }
        let mut body = Vec::new();
        for entry in entries {
            state.encoder.entry(entry, &mut body);
        }
        if durable && !entries.is_empty() {
            state.encoder.checksum(&mut body);
        }
        let (done, waiting) = oneshot::channel();
        let from = state.seq;
        state.seq += i64::try_from(body.len()).unwrap_or(i64::MAX);
        let ids = entries.iter().map(|entry| entry.id.to_string()).collect();
        state.pending.push(Batch { from, ids, body, durable, waiting: vec![done] });
        if !std::mem::replace(&mut state.is_writing, true) {
            tokio::spawn(Arc::clone(self).write());
        }
        Some(waiting)
    }

    /// Writes until no batch is pending.
    async fn write(self: Arc<Self>) {
        while let Some(batch) = self.next() {
            let result = self.send(&batch).await;
            {
                let mut state = self.lock();
                state.is_unsynced = !batch.durable && (state.is_unsynced || !batch.body.is_empty());
                if let Err(error) = &result {
                    state.failed.get_or_insert_with(|| error.clone());
                }
            }
            for waiting in batch.waiting {
                // The receiver may have been dropped.
                let _ = waiting.send(result.clone());
            }
        }
    }

    /// Returns all pending batches as one. `None`: the task ends.
    fn next(&self) -> Option<Batch> {
        let mut state = self.lock();
        let mut pending = std::mem::take(&mut state.pending).into_iter();
        let Some(mut first) = pending.next() else {
            state.is_writing = false;
            return None;
        };
        for batch in pending {
            first.ids.extend(batch.ids);
            first.body.extend(batch.body);
            first.durable |= batch.durable;
            first.waiting.extend(batch.waiting);
        }
        Some(first)
    }

    /// Writes a batch, once. While the database is out of reach, the batch is sent again until the lease expires.
    async fn send(&self, batch: &Batch) -> Result<(), StoreError> {
        let failed = self.lock().failed.clone();
        if let Some(error) = failed {
            return Err(error);
        }
        loop {
            let until = self.lock().until;
            let sent = tokio::time::timeout_at(until, self.send_once(batch)).await;
            match sent {
                Ok(Err(error)) if is_unavailable(&error) && crate::now() + REPEAT < until => {
                    tracing::debug!(%error, "an append is repeated");
                    tokio::time::sleep(REPEAT).await;
                }
                Ok(done) => return done,
                // A renewal may have moved the end meanwhile.
                Err(_) if self.lock().until > crate::now() => {}
                Err(_) => return Err(StoreError::unavailable("the database", "an append was not answered")),
            }
        }
    }

    async fn send_once(&self, batch: &Batch) -> Result<(), StoreError> {
        let Batch { from, ids, body, durable, .. } = batch;
        let tenant = self.database.tenant();
        let rows = self.database.query(APPEND, &[&tenant, &self.id, &self.epoch, from, ids, body, durable]).await?;
        let row = rows.first().ok_or_else(|| no_row(&self.key))?;
        let (status, seq): (i32, Option<i64>) = (row.try_get(0).map_err(odd)?, row.try_get(1).map_err(odd)?);
        match status {
            0 => Ok(()),
            1 => Err(StoreError::lease_lost(&self.key)),
            _ => Err(StoreError::new(
                StoreErrorKind::Changed,
                format!(
                    "the log of {} in the database is at position {}, not {from}, though nobody else had it: the database \
                     was set back or changed by hand. What was stored since is missing there. Look at it, then resume the \
                     session",
                    self.key,
                    seq.unwrap_or_default()
                ),
            )),
        }
    }

    /// Refuses further appends, waits until the pending ones are written, and gives the lease back.
    pub(crate) async fn release(self: &Arc<Self>) {
        let leaves = {
            let mut state = self.lock();
            (state.is_released, state.is_given_back) = (true, true);
            state.leaves
        };
        // The error was returned to the caller that appended.
        let _ = self.flush(false).await;
        let released = self.database.repeat(RELEASE, &[&self.database.tenant(), &self.id, &self.epoch, &leaves]).await;
        if let Err(error) = released {
            tracing::warn!(%error, key = %self.key, "the lease is not given back: it expires");
        }
    }

    /// Refuses further appends. Returns `true` if the lease is still to be given back.
    pub(crate) fn refuse_appends(&self) -> bool {
        let mut state = self.lock();
        state.is_released = true;
        !state.is_given_back
    }
}

/// Returns the position as the port has it.
pub(crate) fn position(seq: i64) -> u64 {
    u64::try_from(seq).unwrap_or_default()
}

pub(crate) fn no_row(key: &SessionKey) -> StoreError {
    StoreError::new(StoreErrorKind::Io, format!("the database gave no answer about {key}"))
}

async fn finish(waiting: Option<oneshot::Receiver<Result<(), StoreError>>>) -> Result<(), StoreError> {
    let Some(waiting) = waiting else { return Ok(()) };
    waiting.await.unwrap_or_else(|_| {
        Err(StoreError::new(StoreErrorKind::Io, "the writer of the session log stopped: open it again"))
    })
}
