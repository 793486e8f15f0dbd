//! One open session: a queue of entries and the writer of its log.

use crate::log::Log;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;
use windlass_blocking::start_blocking;
use windlass_session::{Durability, LogEncoder, Owner, SessionKey, StoreError};
use windlass_types::Entry;

/// Approximate size of an entry beside its long texts, in bytes.
const ENTRY_BYTES: usize = 512;

/// Maximum number of bytes of lines that are encoded before they are written; one entry may exceed it.
const MAX_ENCODED_BYTES: usize = 32 * 1024;

/// Maximum size of the buffer kept by an idle session, in bytes.
const MAX_IDLE_BUFFER: usize = 8 * 1024;

/// An open session. At most one thread writes it at a time; entries appended meanwhile are written together, in few
/// writes and with at most one sync. That thread encodes the lines too, so that an append does not wait for them.
#[derive(Debug)]
pub(crate) struct OpenSession {
    pub(crate) key: SessionKey,
    pub(crate) owner: Owner,
    state: Mutex<WriteState>,
}

#[derive(Debug)]
struct WriteState {
    /// Writer of the log; `None` while a thread writes.
    writer: Option<Box<Writer>>,
    seq: u64,
    pending: Vec<Entry>,
    waiters: Vec<Waiter>,
    /// `true` while a thread is writing, or about to.
    is_writing: bool,
    /// `true` if entries were written since the last sync.
    is_unsynced: bool,
    /// First error. No entry is written after it.
    failed: Option<StoreError>,
    is_released: bool,
}

/// Resources that a thread needs to write.
#[derive(Debug)]
struct Writer {
    log: Log,
    encoder: LogEncoder,
    /// Lines of the present write.
    lines: Vec<u8>,
}

#[derive(Debug)]
struct Waiter {
    needs_sync: bool,
    done: oneshot::Sender<Result<(), StoreError>>,
}

impl OpenSession {
    pub(crate) fn new(key: SessionKey, owner: Owner, log: Log, encoder: LogEncoder, seq: u64) -> Self {
        let state = WriteState {
            writer: Some(Box::new(Writer { log, encoder, lines: Vec::new() })),
            seq,
            pending: Vec::new(),
            waiters: Vec::new(),
            is_writing: false,
            is_unsynced: false,
            failed: None,
            is_released: false,
        };
        Self { key, owner, state: Mutex::new(state) }
    }

    fn lock(&self) -> MutexGuard<'_, WriteState> {
        // No panic can happen between two changes that belong together.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the position after everything appended.
    pub(crate) fn seq(&self) -> u64 {
        self.lock().seq
    }

    pub(crate) fn is_released(&self) -> bool {
        self.lock().is_released
    }

    /// Appends entries at the expected position.
    pub(crate) async fn append(
        self: &Arc<Self>,
        expected: u64,
        mut entries: Vec<Entry>,
        durability: Durability,
    ) -> Result<u64, StoreError> {
        let (seq, waiting, job) = {
            let mut state = self.lock();
            if state.is_released {
                return Err(StoreError::lease_lost(&self.key));
            }
            if let Some(error) = &state.failed {
                return Err(error.clone());
            }
            if state.seq != expected {
                return Err(StoreError::conflict(&self.key, expected, state.seq));
            }
            state.seq += entries.len() as u64;
            state.pending.append(&mut entries);
            let waiting = self.wait(&mut state, durability == Durability::Durable);
            let job = waiting.is_some().then(|| self.job(&mut state)).flatten();
            (state.seq, waiting, job)
        };
        job.into_iter().for_each(Job::start);
        wait_for_result(waiting).await?;
        Ok(seq)
    }

    /// Waits until everything appended is written, and with `sync` durable.
    pub(crate) async fn flush(self: &Arc<Self>, sync: bool) -> Result<(), StoreError> {
        let (waiting, job) = {
            let mut state = self.lock();
            if let Some(error) = state.failed.as_ref().filter(|_| !state.is_writing) {
                return Err(error.clone());
            }
            let waiting = self.wait(&mut state, sync);
            let job = waiting.is_some().then(|| self.job(&mut state)).flatten();
            (waiting, job)
        };
        job.into_iter().for_each(Job::start);
        wait_for_result(waiting).await
    }

    /// Releases the lease. Pending entries are still written, then the file is closed.
    pub(crate) fn release(&self) {
        let mut state = self.lock();
        state.is_released = true;
        if state.is_writing {
            return;
        }
        if let Some(writer) = &mut state.writer {
            writer.log.let_go();
        }
    }

    fn wait(&self, state: &mut WriteState, sync: bool) -> Option<oneshot::Receiver<Result<(), StoreError>>> {
        let is_idle = state.pending.is_empty() && !state.is_writing;
        if is_idle && !(sync && state.is_unsynced) {
            return None;
        }
        let (done, waiting) = oneshot::channel();
        state.waiters.push(Waiter { needs_sync: sync, done });
        Some(waiting)
    }

    /// Returns the task of writing the pending entries, unless a thread is doing that.
    fn job(self: &Arc<Self>, state: &mut WriteState) -> Option<Job> {
        let is_writing = std::mem::replace(&mut state.is_writing, true);
        (!is_writing).then(|| Job(Some(Arc::clone(self))))
    }

    /// Writes until no entry is pending.
    fn write(&self) {
        loop {
            let (entries, waiters, mut writer, failed) = {
                let mut state = self.lock();
                let Some(writer) = state.writer.take() else { return };
                let (entries, waiters) = (std::mem::take(&mut state.pending), std::mem::take(&mut state.waiters));
                (entries, waiters, writer, state.failed.clone())
            };
            let sync = waiters.iter().any(|waiter| waiter.needs_sync);
            let is_written = !entries.is_empty();
            let result = failed.map_or_else(|| writer.write(&self.key, entries, sync), Err);
            let is_done;
            {
                let mut state = self.lock();
                state.is_unsynced = !sync && (state.is_unsynced || is_written);
                if let Err(error) = &result {
                    state.failed.get_or_insert_with(|| error.clone());
                }
                is_done = state.pending.is_empty() && state.waiters.is_empty();
                if is_done {
                    // Before the result is sent, so that its receiver finds the file closed.
                    state.is_writing = false;
                    if state.is_released {
                        writer.log.let_go();
                    }
                }
                state.writer = Some(writer);
            }
            for waiter in waiters {
                // The receiver may have been dropped.
                let _ = waiter.done.send(result.clone());
            }
            if is_done {
                return;
            }
        }
    }
}

/// Returns the approximate size of an entry, in memory or as a line, in bytes.
fn approximate_size(entry: &Entry) -> usize {
    ENTRY_BYTES + entry.text_len()
}

async fn wait_for_result(waiting: Option<oneshot::Receiver<Result<(), StoreError>>>) -> Result<(), StoreError> {
    let Some(waiting) = waiting else { return Ok(()) };
    waiting.await.unwrap_or_else(|_| {
        Err(StoreError::new(
            windlass_session::StoreErrorKind::Io,
            "the writer of the session log stopped: open it again",
        ))
    })
}

/// Task of writing a session. A runtime that shuts down drops tasks it has not begun; this one then runs in its drop.
struct Job(Option<Arc<OpenSession>>);

impl Job {
    /// Begins the task on a thread of its own. Without one it runs here: no lock may be held.
    fn start(self) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            let thread = std::thread::Builder::new().name("windlass-log".to_owned());
            if let Err(error) = thread.spawn(move || self.run()) {
                tracing::warn!(%error, "no thread can be started: the session log was written without one");
            }
            return;
        };
        // A runtime that can start no thread panics, and keeps the task: the first to take it runs it.
        let job = Arc::new(Mutex::new(Some(self)));
        let take = |job: &Mutex<Option<Self>>| job.lock().unwrap_or_else(PoisonError::into_inner).take();
        let later = Arc::clone(&job);
        if start_blocking(&runtime, move || take(&later).map(Self::run)).is_err() {
            tracing::warn!("no thread can be started: the session log is written without one");
            take(&job).into_iter().for_each(Self::run);
        }
    }

    fn run(mut self) {
        if let Some(session) = self.0.take() {
            session.write();
        }
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        if let Some(session) = self.0.take() {
            session.write();
        }
    }
}

impl Writer {
    /// Writes entries, and with `sync` makes everything written durable.
    fn write(&mut self, key: &SessionKey, entries: Vec<Entry>, sync: bool) -> Result<(), StoreError> {
        let written = self.write_lines(key, entries, sync);
        self.lines.clear();
        self.lines.shrink_to(MAX_IDLE_BUFFER);
        written
    }

    fn write_lines(&mut self, key: &SessionKey, entries: Vec<Entry>, sync: bool) -> Result<(), StoreError> {
        let sizes: usize = entries.iter().map(approximate_size).sum();
        self.lines.reserve(sizes.min(MAX_ENCODED_BYTES));
        for entry in entries {
            self.encoder.entry(&entry, &mut self.lines);
            if self.lines.len() >= MAX_ENCODED_BYTES {
                self.log.write(key, &self.lines, false)?;
                self.lines.clear();
            }
        }
        if sync {
            self.encoder.checksum(&mut self.lines);
        }
        self.log.write(key, &self.lines, sync)
    }
}
