//! One open session: entries in, lines on disk.

use crate::lock::{LockError, Locked};
use crate::{LogObserver, agents, disk, open};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;
use windlass_session::{Durability, END_OF_TORN_LINE, LogEncoder, Owner, SessionKey, StoreError};
use windlass_tool::private_file::sync_dir;
use windlass_types::Entry;

/// Most bytes that wait for the disk before an append waits with them.
const MOST_PENDING: usize = 8 * 1024 * 1024;

/// Largest buffer that an idle session keeps, in bytes.
const MOST_KEPT: usize = 8 * 1024;

/// An open session. At most one thread writes it at a time; what is appended
/// meanwhile goes out together, with one write and at most one sync.
#[derive(Debug)]
pub(crate) struct OpenSession {
    pub(crate) key: SessionKey,
    pub(crate) owner: Owner,
    state: Mutex<WriteState>,
}

#[derive(Debug)]
struct WriteState {
    log: Log,
    encoder: LogEncoder,
    seq: u64,
    pending: Vec<u8>,
    waiters: Vec<Waiter>,
    /// Whether a thread is writing, or about to.
    is_writing: bool,
    /// Whether entries were written since the last sync.
    is_unsynced: bool,
    /// The first error. No entry is written after it.
    failed: Option<StoreError>,
    is_released: bool,
}

#[derive(Debug)]
struct Waiter {
    needs_sync: bool,
    done: oneshot::Sender<Result<(), StoreError>>,
}

/// The file of a session. That of a new one is made when it is opened, for its lock, and removed if it stays empty.
#[derive(Debug)]
pub(crate) struct Log {
    pub(crate) path: PathBuf,
    /// Open and locked. That of an agent, and that of a session of another root, is absent until the first append makes it.
    pub(crate) file: Option<Locked>,
    /// The log in another root that this one continues.
    pub(crate) import: Option<PathBuf>,
    /// What stands beside the log of an agent, until it is written.
    meta: Option<String>,
    /// Whether the end of the file was made clean.
    is_clean: bool,
    /// The directories whose new names are not durable yet.
    new_names: Vec<PathBuf>,
    observer: Option<Arc<dyn LogObserver>>,
    /// Whether the observer knows of it.
    is_announced: bool,
}

impl OpenSession {
    pub(crate) fn new(key: SessionKey, owner: Owner, log: Log, encoder: LogEncoder, seq: u64) -> Self {
        let state = WriteState {
            log,
            encoder,
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
        // No panic comes between two changes that belong together.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The position after everything appended.
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
        entries: &[Entry],
        durability: Durability,
    ) -> Result<u64, StoreError> {
        let (seq, waiting) = {
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
            let WriteState { encoder, pending, .. } = &mut *state;
            for entry in entries {
                encoder.entry(entry, pending);
            }
            state.seq += entries.len() as u64;
            let waiting = match durability {
                Durability::Durable => self.wait(&mut state, true),
                Durability::Buffered if state.pending.len() > MOST_PENDING => self.wait(&mut state, false),
                Durability::Buffered => None,
            };
            if !state.pending.is_empty() || waiting.is_some() {
                self.start_writing(&mut state);
            }
            (state.seq, waiting)
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
            let waiting = self.wait(&mut state, sync);
            if waiting.is_some() {
                self.start_writing(&mut state);
            }
            waiting
        };
        finish(waiting).await
    }

    /// Gives the lease back. What is pending is still written, then the file is closed.
    pub(crate) fn release(&self) {
        let mut state = self.lock();
        state.is_released = true;
        if !state.is_writing {
            state.log.let_go();
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

    fn start_writing(self: &Arc<Self>, state: &mut WriteState) {
        if std::mem::replace(&mut state.is_writing, true) {
            return;
        }
        let job = Job(Some(self.clone()));
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => {
                runtime.spawn_blocking(move || job.run());
            }
            // Outside of a runtime there is no other thread to give it to.
            Err(_) => {
                std::thread::spawn(move || job.run());
            }
        }
    }

    /// Writes until no entry is pending.
    fn write(&self) {
        loop {
            let (bytes, waiters, mut log, failed) = {
                let mut state = self.lock();
                let waiters = std::mem::take(&mut state.waiters);
                if waiters.iter().any(|waiter| waiter.needs_sync) {
                    let WriteState { encoder, pending, .. } = &mut *state;
                    encoder.checksum(pending);
                }
                let failed = state.failed.clone();
                (std::mem::take(&mut state.pending), waiters, state.log.take(), failed)
            };
            let sync = waiters.iter().any(|waiter| waiter.needs_sync);
            let result = failed.map_or_else(|| log.write(&self.key, &bytes, sync), Err);
            let is_done;
            {
                let mut state = self.lock();
                state.log = log;
                state.is_unsynced = !sync && (state.is_unsynced || !bytes.is_empty());
                if let Err(error) = &result {
                    state.failed.get_or_insert_with(|| error.clone());
                }
                // The buffer is used again unless entries came in meanwhile.
                if state.pending.is_empty() && bytes.capacity() <= MOST_KEPT {
                    state.pending = bytes;
                    state.pending.clear();
                }
                is_done = state.pending.is_empty() && state.waiters.is_empty();
                if is_done {
                    // Before the result is sent, so that its receiver finds the file closed.
                    state.is_writing = false;
                    if state.is_released {
                        state.log.let_go();
                    }
                }
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

async fn finish(waiting: Option<oneshot::Receiver<Result<(), StoreError>>>) -> Result<(), StoreError> {
    let Some(waiting) = waiting else { return Ok(()) };
    waiting.await.unwrap_or_else(|_| {
        Err(StoreError::new(
            windlass_session::StoreErrorKind::Io,
            "the writer of the session log stopped: open it again",
        ))
    })
}

impl Drop for Log {
    fn drop(&mut self) {
        self.let_go();
    }
}

/// The task of writing a session. A runtime that shuts down drops tasks it has
/// not begun; this one then runs where it is dropped.
struct Job(Option<Arc<OpenSession>>);

impl Job {
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

impl Log {
    /// A log at this path.
    pub(crate) fn new(path: PathBuf, file: Option<Locked>, import: Option<PathBuf>) -> Self {
        Self {
            path,
            file,
            import,
            meta: None,
            is_clean: false,
            new_names: Vec::new(),
            observer: None,
            is_announced: false,
        }
    }

    /// Sets the description of the agent, which is written when its log comes into being.
    pub(crate) fn described(mut self, meta: Option<String>, len: u64) -> Self {
        self.meta = meta.filter(|_| len == 0);
        self
    }

    /// Reports to an observer how far it is durable, beginning with what it holds now.
    pub(crate) fn observed(mut self, observer: Option<Arc<dyn LogObserver>>, len: u64) -> Self {
        // A new one is no log before its first line.
        if let (Some(observer), Some(_), 1..) = (&observer, &self.file, len) {
            observer.opened(&self.path, len);
            self.is_announced = true;
        }
        self.observer = observer;
        self
    }

    /// Leaves an empty log behind, for the time in which this one is written.
    fn take(&mut self) -> Self {
        std::mem::replace(self, Self::new(PathBuf::new(), None, None))
    }

    fn write(&mut self, key: &SessionKey, bytes: &[u8], sync: bool) -> Result<(), StoreError> {
        if bytes.is_empty() && self.file.is_none() {
            return Ok(());
        }
        if self.file.is_none() {
            self.create(key)?;
        }
        // Under the lock, and before there is a line.
        if let Some(meta) = self.meta.take() {
            disk::replace_whole(&agents::meta_path(&self.path), &meta)?;
            let folder = self.path.parent().unwrap_or(Path::new("."));
            if !self.new_names.iter().any(|name| name == folder) {
                self.new_names.push(folder.to_owned());
            }
        }
        let Some(file) = &mut self.file else { return Ok(()) };
        let failed = |verb: &str, error: io::Error| disk::error(&self.path, verb, &error);
        if !self.is_clean && !bytes.is_empty() {
            if disk::is_torn(file).map_err(|error| failed("read", error))? {
                file.write_all(END_OF_TORN_LINE.as_bytes()).map_err(|error| failed("write", error))?;
            }
            self.is_clean = true;
        }
        if let Some(observer) = self.observer.as_ref().filter(|_| !self.is_announced && !bytes.is_empty()) {
            observer.opened(&self.path, file.metadata().map_err(|error| failed("read", error))?.len());
            self.is_announced = true;
        }
        file.write_all(bytes).map_err(|error| failed("write", error))?;
        if sync {
            file.sync_data().map_err(|error| failed("sync", error))?;
            for directory in self.new_names.drain(..) {
                sync_dir(&directory).map_err(|error| disk::error(&directory, "sync", &error))?;
            }
            if let Some(observer) = &self.observer {
                observer.written(&self.path, file.stream_position().map_err(|error| failed("read", error))?);
            }
        }
        Ok(())
    }

    /// Closes the file, and gives its lock back. A file that was made for its lock alone goes with it.
    fn let_go(&mut self) {
        let Some(file) = self.file.take() else { return };
        let is_empty = file.metadata().is_ok_and(|metadata| metadata.len() == 0);
        if is_empty && open::is_at(&file, &self.path).unwrap_or(false) {
            // What is left of a file that cannot be removed is no session: it is empty.
            let _ = std::fs::remove_file(&self.path);
        }
    }

    /// Makes the file, locked, or copies it from another root.
    pub(crate) fn create(&mut self, key: &SessionKey) -> Result<(), StoreError> {
        let (new_names, file) = disk::in_folder(&self.path, key, || self.make(key))?;
        self.new_names = new_names;
        let length = file.metadata().map_err(|error| disk::error(&self.path, "read", &error))?.len();
        if length > 0 && self.import.is_none() {
            return Err(StoreError::conflict(key, 0, length));
        }
        self.import = None;
        self.file = Some(file);
        Ok(())
    }

    /// Makes the file in its folder, if another log continues in it as its copy, and locks it.
    fn make(&self, key: &SessionKey) -> Result<Locked, StoreError> {
        if let Some(import) = &self.import {
            let (meta, copy) = (agents::meta_path(import), agents::meta_path(&self.path));
            if key.agent.is_some() && meta.is_file() && !copy.exists() {
                disk::copy_whole(&meta, &copy)?;
            }
            disk::copy_whole(import, &self.path)?;
        }
        let failed = |error: LockError| error.of_session(&self.path, "create", key);
        Locked::open(&self.path, self.import.is_none()).map_err(failed)
    }
}
