//! Common part of checkpoints on disk and in memory.

use super::CheckpointLimits;
use super::baseline::Baseline;
use super::history::{History, Unusable};
use super::record::{Kind, Record, State};
use super::shelf::Shelf;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Mutex as TurnMutex, RwLock};
use windlass_blocking::start_blocking;
use windlass_session::{Checkpoint, CheckpointError, CheckpointErrorKind};
use windlass_tool::{Clock, FileTree, Ids, WholeFile, WorkspaceError, WorkspaceErrorKind};
use windlass_types::{EntryId, ToolUseId};

/// Maximum size in bytes of files that are read concurrently. Larger ones are read one at a time.
const MAX_CONCURRENT_READ: u64 = 1024 * 1024;

/// Checkpoints over a shelf.
#[derive(Debug)]
pub(crate) struct Engine<S> {
    pub(crate) core: Arc<Core<S>>,
    pub(crate) tree: Arc<dyn FileTree>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    pub(crate) limits: CheckpointLimits,
    /// Held shared while contents are added, and exclusively while contents are removed or files rewound.
    pub(crate) turn: RwLock<()>,
    /// Lock for large files: one is in memory at a time.
    large: TurnMutex<()>,
    /// Baseline of the workspace. One survey runs at a time.
    pub(crate) baseline: TurnMutex<Baseline>,
    /// Directories that are never part of a baseline.
    pub(crate) own: Vec<PathBuf>,
    /// Predicate for files that may contain secrets, by their paths relative to the workspace.
    pub(crate) secrets: fn(&Path) -> bool,
    /// Held shared by work on a thread, even after its future is dropped.
    running_work: Arc<RwLock<()>>,
}

/// Part of the engine used on threads that may block.
#[derive(Debug)]
pub(crate) struct Core<S> {
    pub(crate) shelf: S,
    state: Mutex<CheckpointHistory>,
    /// Held while the index is read or written.
    writer: Mutex<Writer>,
}

/// Known history, and its records that are still to be written.
#[derive(Debug, Default)]
struct CheckpointHistory {
    history: Option<History>,
    pending: Vec<u8>,
    /// Total number of records.
    recorded: u64,
    /// Number of the last `Kept` record. A call may run only when it is durable.
    last_kept: u64,
}

#[derive(Debug, Default)]
struct Writer {
    written: u64,
    durable: u64,
    /// Error after which nothing more is written.
    failed: Option<CheckpointError>,
}

impl<S: Shelf> Core<S> {
    fn known(&self) -> MutexGuard<'_, CheckpointHistory> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads from the history. The index must have been read.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&History) -> T) -> Option<T> {
        self.known().history.as_ref().map(look)
    }

    /// Returns the total number of records.
    pub(crate) fn recorded(&self) -> u64 {
        self.known().recorded
    }

    /// Changes the history without a record.
    pub(crate) fn with<T>(&self, change: impl FnOnce(&mut History) -> T) -> Option<T> {
        self.known().history.as_mut().map(change)
    }

    /// Adds a record to be written later. Returns its number.
    pub(crate) fn record(&self, record: Record) -> u64 {
        let mut known = self.known();
        let CheckpointHistory { history, pending, recorded, last_kept } = &mut *known;
        *recorded += 1;
        if matches!(record, Record::Kept { .. }) {
            *last_kept = *recorded;
        }
        record.write(pending);
        if let Some(history) = history {
            history.apply(record);
        }
        *recorded
    }

    /// Reads the index, once. Returns `true` if there is one now.
    fn load(&self, create: bool) -> Result<bool, CheckpointError> {
        let _reading = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        if self.known().history.is_some() {
            return Ok(true);
        }
        let history = self.shelf.open(create)?;
        let is_there = history.is_some();
        self.known().history = history;
        Ok(is_there)
    }

    /// Writes all records up to this one, together with those that other calls wait for.
    pub(crate) fn write(&self, up_to: u64, sync: bool) -> Result<(), CheckpointError> {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = &writer.failed {
            return Err(error.clone());
        }
        if writer.durable >= up_to || (!sync && writer.written >= up_to) {
            return Ok(());
        }
        let (lines, recorded) = {
            let mut known = self.known();
            (std::mem::take(&mut known.pending), known.recorded)
        };
        match self.shelf.append(&lines, sync) {
            Ok(()) => {
                writer.written = recorded;
                if sync {
                    writer.durable = recorded;
                }
                Ok(())
            }
            Err(failure) => {
                if failure.again {
                    let mut known = self.known();
                    let later = std::mem::replace(&mut known.pending, lines);
                    known.pending.extend(later);
                } else {
                    writer.failed = Some(failure.error.clone());
                }
                Err(failure.error)
            }
        }
    }
}

impl<S: Shelf> Engine<S> {
    pub(crate) fn new(
        shelf: S,
        tree: Arc<dyn FileTree>,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn Ids>,
        limits: CheckpointLimits,
    ) -> Self {
        let core = Arc::new(Core { shelf, state: Mutex::default(), writer: Mutex::default() });
        Self {
            core,
            tree,
            clock,
            ids,
            limits,
            turn: RwLock::new(()),
            large: TurnMutex::new(()),
            baseline: TurnMutex::default(),
            own: Vec::new(),
            secrets: |_| false,
            running_work: Arc::default(),
        }
    }

    /// Waits until no work is in progress on a thread.
    pub(crate) async fn settle(&self) {
        drop(self.running_work.write().await);
    }

    /// `true` if the path belongs to the session store itself.
    pub(crate) fn is_own(&self, path: &Path) -> bool {
        self.own.iter().any(|own| path.starts_with(own))
    }

    /// Runs work on a thread that may block.
    pub(crate) async fn off_thread<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Core<S>) -> Result<T, CheckpointError> + Send + 'static,
    ) -> Result<T, CheckpointError> {
        let core = Arc::clone(&self.core);
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return work(&core) };
        let running_work = Arc::clone(&self.running_work).read_owned().await;
        let work = move || {
            let result = work(&core);
            // In this order: a waiter for the work finds the files of the store closed, if this was their last user.
            drop(core);
            drop(running_work);
            result
        };
        let no_thread = |error| CheckpointError::new(CheckpointErrorKind::Io, format!("files cannot be kept: {error}"));
        start_blocking(&runtime, work).map_err(no_thread)?.await.unwrap_or_else(|error| {
            Err(CheckpointError::new(CheckpointErrorKind::Io, format!("keeping files was stopped: {error}")))
        })
    }

    /// Makes sure that the index has been read. Returns `true` if there is one.
    pub(crate) async fn loaded(&self, create: bool) -> Result<bool, CheckpointError> {
        if self.core.look(|_| ()).is_some() {
            return Ok(true);
        }
        self.off_thread(move |core| core.load(create)).await
    }

    pub(crate) async fn write(&self, up_to: u64, sync: bool) -> Result<(), CheckpointError> {
        self.off_thread(move |core| core.write(up_to, sync)).await
    }

    /// Records the beginning of a checkpoint.
    pub(crate) fn record_begin(&self, id: &EntryId, kind: Kind) -> u64 {
        self.core.record(Record::Begin { id: id.clone(), kind, at: self.clock.now() })
    }

    pub(crate) fn fresh_id(&self) -> EntryId {
        EntryId::from_bits(self.ids.bits())
    }

    pub(crate) async fn begin(&self, prompt: &EntryId) -> Result<(), CheckpointError> {
        self.loaded(true).await?;
        if self.core.look(|history| history.has(prompt)) == Some(true) {
            return Ok(());
        }
        let number = self.record_begin(prompt, Kind::Prompt);
        self.write(number, false).await
    }

    pub(crate) async fn keep(
        &self,
        prompt: &EntryId,
        tool_use: &ToolUseId,
        paths: &[PathBuf],
    ) -> Result<(), CheckpointError> {
        self.loaded(true).await?;
        if self.core.look(|history| history.has(prompt)) == Some(false) {
            self.record_begin(prompt, Kind::Prompt);
        }
        for path in paths {
            if self.core.look(|history| history.is_kept(path)) == Some(true) {
                self.notice_others(path).await;
                continue;
            }
            let _one_at_a_time;
            let mut found = self.tree.read_whole(path, MAX_CONCURRENT_READ.min(self.limits.file_bytes)).await;
            if matches!(found, Ok(WholeFile::TooLarge { .. })) {
                _one_at_a_time = self.large.lock().await;
                found = self.tree.read_whole(path, self.limits.file_bytes).await;
            }
            // The content is pinned until the record names it.
            let (state, _pin) = self.store_found(path, found).await?;
            let (id, tool, path) = (prompt.clone(), Some(tool_use.clone()), path.clone());
            self.core.record(Record::Kept { id, tool, path, state });
        }
        self.recorded_by_tools(paths).await;
        // Includes records that an earlier attempt could not write.
        let last_kept = self.core.known().last_kept;
        self.write(last_kept, true).await
    }

    /// Records that others have changed a file since a tool did, if they have.
    async fn notice_others(&self, path: &Path) {
        let found = self.tree.read_whole(path, self.limits.file_bytes).await;
        if let Some(now) = found.as_ref().ok().and_then(seen) {
            self.record_others(path, &now);
        }
    }

    /// Records that others have changed a file, if its state differs from the one a tool has left.
    pub(crate) fn record_others(&self, path: &Path, now: &State) {
        if self.core.look(|history| history.is_new_to_others(path, now)) == Some(true) {
            self.core.record(Record::Others { path: path.to_owned() });
        }
    }

    /// Stores the content found at a path.
    async fn store_found(
        &self,
        path: &Path,
        found: Result<WholeFile, WorkspaceError>,
    ) -> Result<(State, Option<Pin<S>>), CheckpointError> {
        let unkept = |why: String| Ok((State::Unkept { why }, None));
        match found {
            Ok(WholeFile::File(file)) => {
                let state = state_of(&file.content, file.mode);
                match self.store(&state, file.content, true).await? {
                    Some(pin) => Ok((state, Some(pin))),
                    None => unkept("there was no room to keep it".to_owned()),
                }
            }
            Ok(WholeFile::Absent { missing_parents }) => Ok((State::Absent { parents: missing_parents }, None)),
            Ok(WholeFile::TooLarge { size }) => {
                unkept(format!("it was too large to be kept ({size} bytes; the limit is {})", self.limits.file_bytes))
            }
            Err(error) => match link_or_like(error.kind) {
                Some(why) => unkept(format!("it was not kept: {why}")),
                None if error.kind == WorkspaceErrorKind::AccessDenied => {
                    unkept("it was not kept: it could not be read".to_owned())
                }
                None => Err(CheckpointError::new(
                    CheckpointErrorKind::Io,
                    format!("{} could not be read: {error}", path.display()),
                )),
            },
        }
    }

    /// Stores a content, if there is space, which may require dropping contents of the oldest checkpoints. `None` when
    /// there is none. The pin must live until a record names the content.
    pub(crate) async fn store(
        &self,
        state: &State,
        content: Vec<u8>,
        sync: bool,
    ) -> Result<Option<Pin<S>>, CheckpointError> {
        let State::File { size, .. } = *state else { return Ok(Some(Pin::of_no_content(&self.core))) };
        loop {
            {
                let _shared = self.turn.read().await;
                if let Some(pin) = self.pin(state) {
                    self.put(&pin, content, sync).await?;
                    return Ok(Some(pin));
                }
            }
            let _alone = self.turn.write().await;
            if !self.make_room(size, None).await? {
                return Ok(None);
            }
        }
    }

    /// Stores a content like [`Self::store`], for a caller that holds the turn exclusively. Contents of `needed` and
    /// later checkpoints are not dropped.
    pub(crate) async fn store_alone(
        &self,
        state: &State,
        content: Vec<u8>,
        needed: &EntryId,
    ) -> Result<Option<Pin<S>>, CheckpointError> {
        let State::File { size, .. } = *state else { return Ok(Some(Pin::of_no_content(&self.core))) };
        let mut pin = self.pin(state);
        if pin.is_none() && self.make_room(size, Some(needed)).await? {
            pin = self.pin(state);
        }
        if let Some(pin) = &pin {
            self.put(pin, content, true).await?;
        }
        Ok(pin)
    }

    fn pin(&self, state: &State) -> Option<Pin<S>> {
        let State::File { hash, size, .. } = *state else { return None };
        let limit = self.limits.total_bytes;
        let is_stored = self.core.with(|history| history.pin(hash, size, limit))??;
        Some(Pin { core: Arc::clone(&self.core), hash: Some(hash), is_stored })
    }

    async fn make_room(&self, size: u64, needed: Option<&EntryId>) -> Result<bool, CheckpointError> {
        let limit = self.limits.total_bytes;
        let Some(Some(room)) = self.core.with(|history| history.make_room(size, limit, needed)) else {
            return Ok(false);
        };
        if let Some(through) = room.through {
            tracing::warn!(%through, "the oldest file checkpoints were dropped to make room");
            self.core.record(Record::Dropped { through });
        }
        self.off_thread(move |core| {
            core.shelf.remove(&room.removed);
            Ok(true)
        })
        .await
    }

    /// Stores a pinned content, unless it is stored already.
    async fn put(&self, pin: &Pin<S>, content: Vec<u8>, sync: bool) -> Result<(), CheckpointError> {
        let Some(hash) = pin.hash.filter(|_| !pin.is_stored) else { return Ok(()) };
        self.off_thread(move |core| {
            core.shelf.put(&hash, &content, sync)?;
            core.with(|history| history.stored(&hash));
            Ok(())
        })
        .await
    }

    pub(crate) async fn changed(&self, paths: &[PathBuf]) -> Result<(), CheckpointError> {
        self.loaded(true).await?;
        let mut last = 0;
        for path in paths {
            let found = self.tree.read_whole(path, MAX_CONCURRENT_READ.min(self.limits.file_bytes)).await;
            let state = found.ok().as_ref().and_then(seen);
            let state = state.unwrap_or_else(|| State::Unkept { why: "it was not read again".to_owned() });
            last = self.core.record(Record::Left { path: path.clone(), state });
        }
        self.recorded_by_tools(paths).await;
        self.write(last, false).await
    }

    pub(crate) async fn list(&self) -> Result<Vec<Checkpoint>, CheckpointError> {
        self.loaded(false).await?;
        Ok(self.core.look(History::list).unwrap_or_default())
    }

    /// Returns the states of files at a checkpoint.
    pub(crate) async fn targets(&self, to: &EntryId) -> Result<Vec<(PathBuf, State)>, CheckpointError> {
        self.loaded(false).await?;
        match self.core.look(|history| history.targets(to)) {
            None | Some(Err(Unusable::Unknown)) => Err(CheckpointError::unknown(to)),
            Some(Err(Unusable::Damaged)) => Err(CheckpointError::new(
                CheckpointErrorKind::Damaged,
                format!("the index of file checkpoints is damaged behind message {to}: rewind to a later one"),
            )),
            Some(Ok(targets)) => Ok(targets.into_iter().collect()),
        }
    }
}

/// Guard that prevents a content from being dropped, and its space from being used, until a record names it.
#[derive(Debug)]
pub(crate) struct Pin<S: Shelf> {
    core: Arc<Core<S>>,
    /// Hash of the content; `None` without a content.
    hash: Option<blake3::Hash>,
    /// `true` if the content was on the shelf when it was pinned.
    is_stored: bool,
}

impl<S: Shelf> Pin<S> {
    fn of_no_content(core: &Arc<Core<S>>) -> Self {
        Self { core: Arc::clone(core), hash: None, is_stored: true }
    }
}

impl<S: Shelf> Drop for Pin<S> {
    fn drop(&mut self) {
        if let Some(hash) = &self.hash {
            self.core.with(|history| history.unpin(hash));
        }
    }
}

/// Returns the hash and size of a file.
pub(crate) fn state_of(content: &[u8], mode: Option<u32>) -> State {
    State::File { hash: blake3::hash(content), size: content.len() as u64, mode: mode.map(|mode| mode & 0o777) }
}

/// Returns the hash and size of the content that was read, unless it is too large.
pub(crate) fn seen(found: &WholeFile) -> Option<State> {
    match found {
        WholeFile::Absent { missing_parents } => Some(State::Absent { parents: *missing_parents }),
        WholeFile::File(file) => Some(state_of(&file.content, file.mode)),
        WholeFile::TooLarge { .. } => None,
    }
}

/// Returns the reason why a path does not lead to a regular file without links.
pub(crate) fn link_or_like(kind: WorkspaceErrorKind) -> Option<&'static str> {
    match kind {
        WorkspaceErrorKind::Changed | WorkspaceErrorKind::LinkCycle => Some("a link stands on the way"),
        WorkspaceErrorKind::IsDirectory => Some("a directory stands there"),
        WorkspaceErrorKind::NotDirectory => Some("a part of the path is no directory"),
        WorkspaceErrorKind::NotRegular => Some("no regular file stands there"),
        _ => None,
    }
}
