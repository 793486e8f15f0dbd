//! JSONL session store.

use crate::answers::Answers;
use crate::blocking::blocking;
use crate::checkpoint::collect::{self, CheckpointRetention, CollectedCheckpoints};
use crate::locate::{self, FoundSession, Roots, SessionList};
use crate::lock::{LockError, LockedLog};
use crate::log::{Log, LogEnd};
use crate::open;
use crate::remove::remove;
use crate::session::OpenSession;
use crate::{LogObserver, SessionSearch, agents, disk, index, left_behind};
use async_trait::async_trait;
use std::collections::{BTreeSet, HashMap};
use std::io::{BufReader, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use windlass_session::{
    AgentSummary, Annotation, Durability, Lease, Loaded, LogEncoder, LogHeader, LogReader, Owner, PendingAnswers,
    ProjectKey, SearchWords, SessionKey, SessionStore, SessionSummary, StoreError, StoreErrorKind, StoredAnswer,
    read_agent_log, read_log,
};
use windlass_tool::private_file::sync_dir;
use windlass_types::{Entry, QuestionId, SessionId};

/// Store of sessions in files: `projects/<slug>/<session>.jsonl` under a home, their agents in
/// `projects/<slug>/<session>/subagents/agent-<id>.jsonl`. Cheap to clone.
///
/// A file is created when a new session is opened, since it carries the lock, readable by its user only. While it is
/// empty it is not a session, and it is removed if nothing was appended. A durable append is one write and one data
/// sync; appends that wait at the same time share them. Each synced batch ends in a checksum line.
///
/// After a failed write or sync a lease accepts no more entries: every append returns the same error until the session
/// is opened again.
#[derive(Debug, Clone)]
pub struct JsonlStore {
    inner: Arc<StoreState>,
}

#[derive(Debug)]
struct StoreState {
    roots: Roots,
    open: Mutex<HashMap<SessionKey, Weak<OpenSession>>>,
    epoch: AtomicU64,
    observer: Option<Arc<dyn LogObserver>>,
}

/// Guard that releases the session when it is dropped.
struct LeaseGuard {
    session: Arc<OpenSession>,
    store: Arc<StoreState>,
}

impl Drop for LeaseGuard {
    fn drop(&mut self) {
        self.session.release();
    }
}

impl JsonlStore {
    /// Returns the directories named by the sessions of a project in the home, and by sessions of its subdirectories,
    /// from the first `most` logs. Blocks for as long as the disk takes.
    ///
    /// # Errors
    /// The home cannot be read.
    pub fn recorded_directories(&self, project: &ProjectKey, most: usize) -> std::io::Result<BTreeSet<PathBuf>> {
        self.inner.roots.recorded_directories(project, most)
    }

    /// Returns a store in this home. No file is read or created yet.
    pub fn new(home: impl Into<PathBuf>) -> Self {
        Self::with_imports(home, Vec::new())
    }

    /// Returns a store that also finds the sessions of other homes. Those are read-only: a session from there that is
    /// continued is copied first.
    pub fn with_imports(home: impl Into<PathBuf>, imports: Vec<PathBuf>) -> Self {
        let roots = Roots { home: home.into(), imports };
        Self { inner: Arc::new(StoreState { roots, open: Mutex::default(), epoch: AtomicU64::new(0), observer: None }) }
    }

    /// Returns a store of the same homes that reports to an observer how far each log is durable.
    #[must_use]
    pub fn observed(&self, observer: Arc<dyn LogObserver>) -> Self {
        let roots = self.inner.roots.clone();
        let (open, epoch) = (Mutex::default(), AtomicU64::new(0));
        Self { inner: Arc::new(StoreState { roots, open, epoch, observer: Some(observer) }) }
    }

    /// Returns the file in which a session is or would be written.
    pub fn log_path(&self, key: &SessionKey) -> PathBuf {
        self.inner.roots.log_path(key)
    }

    /// Drops the file checkpoints of sessions of this home that were unused for long, or that occupy too much space.
    /// Conversations stay. Checkpoints of a session in use stay, too.
    ///
    /// # Errors
    /// The home cannot be read. The outcome names problems with single sessions.
    pub async fn collect_checkpoints(
        &self,
        retention: CheckpointRetention,
    ) -> Result<CollectedCheckpoints, StoreError> {
        let projects = self.inner.roots.home.join("projects");
        blocking(move || collect::collect(&projects, retention)).await
    }

    /// Removes the files left in this home by killed processes: temporary files that never got their final name, such
    /// as those of a fork, and unused locks of logs. Returns the number of files.
    ///
    /// # Errors
    /// The home cannot be read.
    pub async fn remove_left_behind(&self) -> Result<usize, StoreError> {
        let home = self.inner.roots.home.clone();
        blocking(move || left_behind::remove(&home)).await
    }

    /// Finds a session by its id alone, in any project. `None` also for an invalid session id.
    ///
    /// # Errors
    /// The homes cannot be read.
    pub async fn find(&self, session: &SessionId) -> Result<Option<FoundSession>, StoreError> {
        if !session.is_uuid() {
            return Ok(None);
        }
        let (roots, session) = (self.inner.roots.clone(), session.clone());
        blocking(move || roots.find_anywhere(&session)).await
    }

    /// Returns the sessions of a project, like [`SessionStore::list`], and the other entries with the name of a
    /// session: a pipe, a device, a directory, a link.
    ///
    /// # Errors
    /// The project's sessions cannot be accessed.
    pub async fn list_all(&self, project: &ProjectKey) -> Result<SessionList, StoreError> {
        let (roots, project) = (self.inner.roots.clone(), project.clone());
        blocking(move || roots.list(&project)).await
    }

    /// Returns the sessions of all projects in all homes, the last changed first: a list that can be narrowed.
    pub fn sessions_by_time(&self) -> SessionSearch {
        SessionSearch::new(self.inner.roots.clone(), None)
    }

    /// Returns the sessions that contain all words of a text, the last changed first: a search that can be narrowed. A
    /// word also matches as the beginning of another one. Prompts, texts of the model, titles and tags are searched. A
    /// text without words matches nothing.
    pub fn search(&self, text: &str) -> SessionSearch {
        SessionSearch::new(self.inner.roots.clone(), Some(SearchWords::of(text)))
    }

    pub(crate) fn roots(&self) -> &Roots {
        &self.inner.roots
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<SessionKey, Weak<OpenSession>>> {
        self.inner.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the session if this store has it open, released or not.
    fn open_session(&self, key: &SessionKey) -> Option<Arc<OpenSession>> {
        self.sessions().get(key)?.upgrade()
    }

    /// Waits until this process does not write the session any more.
    async fn wait_for_release(&self, key: &SessionKey) -> Result<(), StoreError> {
        while let Some(session) = self.open_session(key) {
            if !session.is_released() {
                return Err(StoreError::in_use(key, &session.owner));
            }
            // The error was returned to the caller that released the session.
            let _ = session.flush(false).await;
            self.forget(&session);
        }
        Ok(())
    }

    /// Returns the parts of a session that this store has open: itself and its agents.
    fn open_parts(&self, key: &SessionKey) -> Vec<SessionKey> {
        self.sessions().keys().filter(|other| key.covers(other)).cloned().collect()
    }

    fn forget(&self, session: &Arc<OpenSession>) {
        let mut sessions = self.sessions();
        if sessions.get(&session.key).is_some_and(|open| open.as_ptr() == Arc::as_ptr(session)) {
            sessions.remove(&session.key);
        }
    }

    async fn with_answers<T: Send + 'static>(
        &self,
        key: &SessionKey,
        work: impl FnOnce(&Answers) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let key = key.of_session();
        locate::check(&key)?;
        let roots = self.inner.roots.clone();
        blocking(move || work(&Answers::of(&roots.place(&key)?))).await
    }

    fn session_of<'a>(&self, lease: &'a Lease) -> Result<&'a Arc<OpenSession>, StoreError> {
        let guard = lease.guard::<LeaseGuard>().filter(|guard| Arc::ptr_eq(&guard.store, &self.inner));
        guard.map(|guard| &guard.session).ok_or_else(|| StoreError::lease_lost(lease.key()))
    }
}

#[async_trait]
impl SessionStore for JsonlStore {
    async fn open(&self, key: &SessionKey, owner: &Owner, header: LogHeader) -> Result<Lease, StoreError> {
        locate::check(key)?;
        self.wait_for_release(key).await?;
        let (roots, session_key) = (self.inner.roots.clone(), key.clone());
        let (log, seq) = blocking(move || open_log(&roots, &session_key)).await?;
        let log = log.described(meta(key, &header), seq).observed(self.inner.observer.clone(), seq);
        let encoder = LogEncoder::of(key, header);
        let session = Arc::new(OpenSession::new(key.clone(), owner.clone(), log, encoder, seq));
        {
            let mut sessions = self.sessions();
            let other = sessions.get(key).and_then(Weak::upgrade).filter(|other| !other.is_released());
            if let Some(other) = other {
                return Err(StoreError::in_use(key, &other.owner));
            }
            sessions.retain(|_, session| session.strong_count() > 0);
            sessions.insert(key.clone(), Arc::downgrade(&session));
        }
        let epoch = self.inner.epoch.fetch_add(1, Ordering::Relaxed) + 1;
        Ok(Lease::new(key.clone(), epoch, seq, LeaseGuard { session, store: self.inner.clone() }))
    }

    async fn append(
        &self,
        lease: &Lease,
        expected_seq: u64,
        entries: Vec<Entry>,
        durability: Durability,
    ) -> Result<u64, StoreError> {
        self.session_of(lease)?.append(expected_seq, entries, durability).await
    }

    async fn load(&self, key: &SessionKey) -> Result<Loaded, StoreError> {
        locate::check(key)?;
        let open = self.open_session(key).filter(|session| !session.is_released());
        let seq = match &open {
            Some(session) => {
                let seq = session.seq();
                // Entries written before an error are worth reading.
                let _ = session.flush(false).await;
                Some(seq)
            }
            None => None,
        };
        let (roots, session_key) = (self.inner.roots.clone(), key.clone());
        let log = blocking(move || {
            let path = roots.find(&session_key)?.ok_or_else(|| StoreError::not_found(&session_key))?;
            let file = open::read(&path).map_err(|error| disk::error(&path, "read", &error))?;
            let file = BufReader::with_capacity(64 * 1024, file);
            let log = if session_key.agent.is_some() { read_agent_log(file) } else { read_log(file) };
            log.map_err(|error| disk::error(&path, "read", &error))
        })
        .await?;
        Ok(Loaded::new(log.entries, seq.unwrap_or(log.bytes), log.report))
    }

    async fn list(&self, project: &ProjectKey) -> Result<Vec<SessionSummary>, StoreError> {
        let listed = self.list_all(project).await?;
        for skipped in &listed.skipped {
            tracing::warn!(%skipped, "a path that is named like a session is no log");
        }
        Ok(listed.sessions)
    }

    async fn delete(&self, key: &SessionKey) -> Result<(), StoreError> {
        locate::check(key)?;
        for part in self.open_parts(key) {
            self.wait_for_release(&part).await?;
        }
        let (roots, key) = (self.inner.roots.clone(), key.clone());
        blocking(move || {
            let log = roots.place(&key)?;
            remove(&log, &key)?;
            index::forget(&roots, &log);
            Ok(())
        })
        .await
    }

    async fn create(
        &self,
        key: &SessionKey,
        _owner: &Owner,
        header: LogHeader,
        entries: Vec<Entry>,
    ) -> Result<(), StoreError> {
        locate::check(key)?;
        self.wait_for_release(key).await?;
        let (roots, observer, key) = (self.inner.roots.clone(), self.inner.observer.clone(), key.clone());
        blocking(move || {
            if roots.find(&key)?.is_some() {
                return Err(StoreError::exists(&key));
            }
            let path = roots.place(&key)?;
            let meta = meta(&key, &header);
            let mut encoder = LogEncoder::of(&key, header);
            let mut lines = Vec::new();
            entries.iter().for_each(|entry| encoder.entry(entry, &mut lines));
            encoder.checksum(&mut lines);
            disk::create_whole(&path, &key, &lines)?;
            if let Some(meta) = &meta {
                // Otherwise the log would exist without its metadata.
                let folder = path.parent().unwrap_or(Path::new("."));
                let written = disk::replace_whole(&agents::meta_path(&path), meta)
                    .and_then(|()| sync_dir(folder).map_err(|error| disk::error(folder, "sync", &error)));
                written.inspect_err(|_| drop(remove(&path, &key)))?;
            }
            if let Some(observer) = observer {
                observer.opened(&path, 0);
                observer.written(&path, lines.len() as u64);
            }
            Ok(())
        })
        .await
    }

    /// Appends the annotation without a lease: the line goes to the end of the log, in one write.
    async fn annotate(&self, key: &SessionKey, _owner: &Owner, annotation: &Annotation) -> Result<(), StoreError> {
        locate::check(key)?;
        if key.agent.is_some() {
            return Err(StoreError::not_listed(key));
        }
        if let Some(session) = self.open_session(key) {
            // The error is returned to the caller that appended.
            let _ = session.flush(false).await;
        }
        let line = annotation.to_line(&key.session);
        let (roots, observer, key) = (self.inner.roots.clone(), self.inner.observer.clone(), key.clone());
        blocking(move || {
            let path = roots.place(&key)?;
            let source = roots.find(&key)?.ok_or_else(|| StoreError::not_found(&key))?;
            if source != path {
                disk::create_dirs(path.parent().unwrap_or(Path::new(".")))?;
                disk::copy_whole(&source, &path)?;
            }
            let end = disk::append_line(&path, &line)?.ok_or_else(|| StoreError::not_found(&key))?;
            if let Some(observer) = observer {
                observer.written(&path, end);
            }
            Ok(())
        })
        .await
    }

    async fn agents(&self, key: &SessionKey) -> Result<Vec<AgentSummary>, StoreError> {
        let key = key.of_session();
        locate::check(&key)?;
        for part in self.open_parts(&key) {
            if let Some(agent) = self.open_session(&part) {
                // The error is returned to the caller that appended.
                let _ = agent.flush(false).await;
            }
        }
        let roots = self.inner.roots.clone();
        blocking(move || roots.agents(&key)).await
    }

    fn answers(&self) -> Option<&dyn PendingAnswers> {
        Some(self)
    }

    fn reader(&self) -> Option<&dyn LogReader> {
        Some(self)
    }

    async fn close(&self, lease: Lease) -> Result<(), StoreError> {
        let session = self.session_of(&lease)?.clone();
        let result = session.flush(true).await;
        drop(lease);
        self.forget(&session);
        result
    }
}

#[async_trait]
impl PendingAnswers for JsonlStore {
    async fn give(&self, key: &SessionKey, answer: &StoredAnswer) -> Result<(), StoreError> {
        let answer = answer.clone();
        self.with_answers(key, move |answers| answers.give(&answer)).await
    }

    async fn answer_to(&self, key: &SessionKey, question: &QuestionId) -> Result<Option<StoredAnswer>, StoreError> {
        let question = question.clone();
        self.with_answers(key, move |answers| answers.find(&question)).await
    }

    async fn take(&self, key: &SessionKey, question: &QuestionId) -> Result<bool, StoreError> {
        let question = question.clone();
        self.with_answers(key, move |answers| answers.take(&question)).await
    }
}

/// Opens an existing log, or prepares for a new one. Returns the position.
fn open_log(roots: &Roots, key: &SessionKey) -> Result<(Log, u64), StoreError> {
    let path = roots.place(key)?;
    match LockedLog::open(&path, false) {
        Ok(mut file) => {
            let length = file.metadata().map_err(|error| disk::error(&path, "read", &error))?.len();
            let end = LogEnd::of(&mut file, length).map_err(|error| disk::error(&path, "read", &error))?;
            Ok((Log::new(path, Some(file), None).ending(end), length))
        }
        Err(LockError::Io(error)) if error.kind() == ErrorKind::NotFound => {
            let import = roots.find(key)?;
            let length =
                import.as_deref().map(|path| path.metadata().map_err(|error| disk::error(path, "read", &error)));
            let length = length.transpose()?.map_or(0, |metadata| metadata.len());
            let is_new = import.is_none() && key.agent.is_none();
            let mut log = Log::new(path, None, import);
            if is_new {
                // Only an existing file can be locked against a second opener.
                match log.create(key) {
                    // Another program opened it, wrote and closed it since the first check.
                    Err(error) if error.kind == StoreErrorKind::Conflict => return open_log(roots, key),
                    created => created?,
                }
            }
            Ok((log, length))
        }
        Err(error) => Err(error.of_session(&path, "open", key)),
    }
}

/// Returns the metadata beside the log of an agent.
fn meta(key: &SessionKey, header: &LogHeader) -> Option<String> {
    key.agent.as_ref().and(header.agent.as_ref()).map(|agent| agent.to_json())
}
