//! Session stores that fail.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use windlass_session::{
    AgentHeader, AgentSummary, Annotation, Durability, Lease, Loaded, LogHeader, Owner, ProjectKey, SessionKey,
    SessionStore, SessionSummary, StoreError, StoreErrorKind, annotate_by_append, create_by_append,
};
use windlass_types::Entry;

use super::plan::{FaultPlan, PlannedFailure};
use crate::Gate;

/// An operation of a [`FaultyStore`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "the operations of the port")]
pub enum StoreOperation {
    /// [`SessionStore::open`].
    Open,
    /// [`SessionStore::append`].
    Append,
    /// [`SessionStore::renew`].
    Renew,
    /// [`SessionStore::load`].
    Load,
    /// [`SessionStore::list`].
    List,
    /// [`SessionStore::agents`].
    Agents,
    /// [`SessionStore::delete`].
    Delete,
    /// [`SessionStore::close`].
    Close,
}

/// A session store that fails, waits, or loses unsynced entries on request of a test.
///
/// A failed append has the consequences that the port demands: every later append of that lease fails with the same
/// error, and so does its close.
///
/// ```
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(async {
/// use windlass_session::{Durability, MemoryStore, Owner, SessionStore};
/// use windlass_testkit::fault::FaultyStore;
/// use windlass_testkit::store::{entries, header, key};
///
/// let store = FaultyStore::new(MemoryStore::new());
/// let key = key("crash", 1);
/// let lease = store.open(&key, &Owner::new(1, "test"), header()).await.unwrap();
/// let (first, rest) = (entries()[..1].to_vec(), entries()[1..].to_vec());
/// let seq = store.append(&lease, lease.seq(), first.clone(), Durability::Durable).await.unwrap();
/// store.append(&lease, seq, rest, Durability::Buffered).await.unwrap();
///
/// store.crash();
/// assert!(store.load(&key).await.is_err());
/// drop(lease);
/// store.restart().await.unwrap();
/// assert_eq!(store.load(&key).await.unwrap().entries, first);
/// # });
/// ```
#[derive(Debug)]
pub struct FaultyStore<S>(Arc<FaultyLogs<S>>);

#[derive(Debug)]
struct FaultyLogs<S> {
    inner: S,
    plan: FaultPlan<StoreOperation, StoreErrorKind>,
    state: Mutex<FaultyStoreState>,
}

#[derive(Debug, Default)]
struct FaultyStoreState {
    crashed: bool,
    crash_at_append: Option<u64>,
    sessions: BTreeMap<SessionKey, SurvivingEntries>,
}

/// Entries of a session that would be left after a crash.
#[derive(Debug)]
struct SurvivingEntries {
    owner: Owner,
    header: LogHeader,
    entries: Vec<Entry>,
    synced: usize,
    epoch: u64,
    failed: Option<StoreError>,
}

impl<S> Clone for FaultyStore<S> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<S: SessionStore> FaultyStore<S> {
    /// Returns a store without faults so far.
    pub fn new(inner: S) -> Self {
        Self(Arc::new(FaultyLogs { inner, plan: FaultPlan::default(), state: Mutex::default() }))
    }

    /// Returns the wrapped store.
    pub fn inner(&self) -> &S {
        &self.0.inner
    }

    /// Plans that the n-th operation of this kind, from 1, fails without being done.
    pub fn fail(&self, operation: StoreOperation, nth: u64, kind: StoreErrorKind) {
        self.0.plan.fail(operation, nth, nth, PlannedFailure::Before(kind));
    }

    /// Plans that the n-th operation of this kind and all after it fail without being done.
    pub fn fail_from(&self, operation: StoreOperation, nth: u64, kind: StoreErrorKind) {
        self.0.plan.fail(operation, nth, u64::MAX, PlannedFailure::Before(kind));
    }

    /// Plans that the n-th operation of this kind is done and then fails, like an append whose sync failed.
    pub fn fail_late(&self, operation: StoreOperation, nth: u64, kind: StoreErrorKind) {
        self.0.plan.fail(operation, nth, nth, PlannedFailure::After(kind));
    }

    /// Plans that the n-th operation of this kind waits at the gate before it is done.
    pub fn wait_at(&self, operation: StoreOperation, nth: u64, gate: &Gate) {
        self.0.plan.wait_at(operation, nth, gate);
    }

    /// Plans a crash instead of the n-th append from now on, from 1.
    pub fn crash_at_append(&self, nth: u64) {
        let now = self.count(StoreOperation::Append);
        self.lock().crash_at_append = Some(now.saturating_add(nth));
    }

    /// Crashes: from now on all operations fail, as if the machine had lost its power.
    pub fn crash(&self) {
        self.lock().crashed = true;
    }

    /// `true` if the store crashed and was not restarted.
    pub fn is_crashed(&self) -> bool {
        self.lock().crashed
    }

    /// Restarts after a crash: appended entries that were not durable are gone.
    ///
    /// The leases from before must be dropped. Entries that other stores wrote into the same sessions meanwhile are
    /// gone as well.
    ///
    /// # Errors
    /// A lease is still held, or the wrapped store failed.
    pub async fn restart(&self) -> Result<(), StoreError> {
        loop {
            let next = self.lock().sessions.pop_first();
            let Some((key, kept)) = next else { break };
            if let Err(error) = self.cut(&key, &kept).await {
                self.lock().sessions.insert(key, kept);
                return Err(error);
            }
        }
        self.lock().crashed = false;
        Ok(())
    }

    /// Removes the entries that were not durable from one session.
    async fn cut(&self, key: &SessionKey, kept: &SurvivingEntries) -> Result<(), StoreError> {
        let SurvivingEntries { owner, header, entries, synced, .. } = kept;
        if *synced == entries.len() {
            return Ok(());
        }
        let durable = entries.get(..*synced).unwrap_or_default().to_vec();
        // The logs of a session's agents would be deleted with it.
        let mut agents = Vec::new();
        for agent in self.0.inner.agents(key).await?.into_iter().filter(|_| key.agent.is_none()) {
            let key = key.of_agent(agent.id.clone());
            agents.push((key.clone(), header_of(agent), self.0.inner.load(&key).await?.entries));
        }
        self.0.inner.delete(key).await?;
        self.write(key, owner, header.clone(), durable).await?;
        for (key, header, entries) in agents {
            self.write(&key, owner, header, entries).await?;
        }
        Ok(())
    }

    async fn write(
        &self,
        key: &SessionKey,
        owner: &Owner,
        header: LogHeader,
        entries: Vec<Entry>,
    ) -> Result<(), StoreError> {
        if entries.is_empty() {
            return Ok(());
        }
        let lease = self.0.inner.open(key, owner, header).await?;
        self.0.inner.append(&lease, lease.seq(), entries, Durability::Durable).await?;
        self.0.inner.close(lease).await
    }

    /// Returns the number of operations of this kind that were begun.
    pub fn count(&self, operation: StoreOperation) -> u64 {
        self.0.plan.count(operation)
    }

    fn lock(&self) -> MutexGuard<'_, FaultyStoreState> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn begin(&self, operation: StoreOperation) -> Result<Option<StoreError>, StoreError> {
        let failure = self.0.plan.begin(operation).await;
        if self.is_crashed() {
            return Err(StoreError::new(StoreErrorKind::Io, "the store has crashed: start it again"));
        }
        match failure {
            Some(PlannedFailure::Before(kind)) => Err(planned(operation, kind)),
            Some(PlannedFailure::After(kind)) => Ok(Some(planned(operation, kind))),
            None => Ok(None),
        }
    }

    /// Does an append between its count and its outcome.
    async fn appended(
        &self,
        lease: &Lease,
        expected_seq: u64,
        entries: Vec<Entry>,
        durability: Durability,
    ) -> Result<u64, StoreError> {
        let late = self.begin(StoreOperation::Append).await?;
        let count = self.count(StoreOperation::Append);
        {
            let mut state = self.lock();
            if state.crash_at_append.is_some_and(|nth| count >= nth) {
                (state.crashed, state.crash_at_append) = (true, None);
                return Err(StoreError::new(StoreErrorKind::Io, "the store has crashed: start it again"));
            }
        }
        let copies = entries.clone();
        let seq = self.0.inner.append(lease, expected_seq, entries, durability).await?;
        if let Some(kept) = self.lock().sessions.get_mut(lease.key()) {
            kept.entries.extend(copies);
            if durability == Durability::Durable {
                kept.synced = kept.entries.len();
            }
        }
        late.map_or(Ok(seq), Err)
    }
}

/// Returns the header with which a log of an agent can be written again.
fn header_of(agent: AgentSummary) -> LogHeader {
    let call = agent.tool_use_id.unwrap_or_else(|| "".into());
    LogHeader::default()
        .with_agent(AgentHeader::new(agent.agent_type, agent.description, call).with_parent(agent.parent))
}

fn planned(operation: StoreOperation, kind: StoreErrorKind) -> StoreError {
    StoreError::new(kind, format!("{operation:?} failed as the test planned ({kind:?})"))
}

/// `true` unless the call itself was refused, which is not a failed write.
fn is_of_the_store(error: &StoreError) -> bool {
    !matches!(error.kind, StoreErrorKind::Conflict | StoreErrorKind::LeaseLost | StoreErrorKind::Unavailable)
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl<S: SessionStore> SessionStore for FaultyStore<S> {
    fn answers(&self) -> Option<&dyn windlass_session::PendingAnswers> {
        self.0.inner.answers()
    }

    fn reader(&self) -> Option<&dyn windlass_session::LogReader> {
        self.0.inner.reader()
    }

    async fn open(&self, key: &SessionKey, owner: &Owner, header: LogHeader) -> Result<Lease, StoreError> {
        let late = self.begin(StoreOperation::Open).await?;
        let lease = self.0.inner.open(key, owner, header.clone()).await?;
        let before = match self.0.inner.load(key).await {
            Ok(loaded) => loaded.entries,
            Err(error) if error.kind == StoreErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(error),
        };
        {
            let mut state = self.lock();
            // Entries that an earlier lease left unsynced stay unsynced.
            let synced = state.sessions.get(key).map_or(before.len(), |kept| kept.synced.min(before.len()));
            let epoch = lease.epoch();
            let kept = SurvivingEntries { owner: owner.clone(), header, entries: before, synced, epoch, failed: None };
            state.sessions.insert(key.clone(), kept);
        }
        late.map_or(Ok(lease), Err)
    }

    async fn append(
        &self,
        lease: &Lease,
        expected_seq: u64,
        entries: Vec<Entry>,
        durability: Durability,
    ) -> Result<u64, StoreError> {
        let of_lease = |kept: &&mut SurvivingEntries| kept.epoch == lease.epoch();
        if let Some(failed) =
            self.lock().sessions.get_mut(lease.key()).filter(of_lease).and_then(|kept| kept.failed.clone())
        {
            return Err(failed);
        }
        let result = self.appended(lease, expected_seq, entries, durability).await;
        if let Err(error) = &result
            && is_of_the_store(error)
            && let Some(kept) = self.lock().sessions.get_mut(lease.key()).filter(of_lease)
        {
            kept.failed = Some(error.clone());
        }
        result
    }

    async fn renew(&self, lease: &Lease) -> Result<Option<Duration>, StoreError> {
        let late = self.begin(StoreOperation::Renew).await?;
        let renewed = self.0.inner.renew(lease).await?;
        late.map_or(Ok(renewed), Err)
    }

    async fn load(&self, key: &SessionKey) -> Result<Loaded, StoreError> {
        let late = self.begin(StoreOperation::Load).await?;
        let loaded = self.0.inner.load(key).await?;
        late.map_or(Ok(loaded), Err)
    }

    async fn list(&self, project: &ProjectKey) -> Result<Vec<SessionSummary>, StoreError> {
        let late = self.begin(StoreOperation::List).await?;
        let listed = self.0.inner.list(project).await?;
        late.map_or(Ok(listed), Err)
    }

    async fn agents(&self, key: &SessionKey) -> Result<Vec<AgentSummary>, StoreError> {
        let late = self.begin(StoreOperation::Agents).await?;
        let listed = self.0.inner.agents(key).await?;
        late.map_or(Ok(listed), Err)
    }

    async fn delete(&self, key: &SessionKey) -> Result<(), StoreError> {
        let late = self.begin(StoreOperation::Delete).await?;
        self.0.inner.delete(key).await?;
        self.lock().sessions.retain(|kept, _| !key.covers(kept));
        late.map_or(Ok(()), Err)
    }

    /// Uses the same steps as the default, each of which may fail.
    async fn create(
        &self,
        key: &SessionKey,
        owner: &Owner,
        header: LogHeader,
        entries: Vec<Entry>,
    ) -> Result<(), StoreError> {
        create_by_append(self, key, owner, header, entries).await
    }

    async fn annotate(&self, key: &SessionKey, owner: &Owner, annotation: &Annotation) -> Result<(), StoreError> {
        annotate_by_append(self, key, owner, annotation).await
    }

    async fn close(&self, lease: Lease) -> Result<(), StoreError> {
        let late = self.begin(StoreOperation::Close).await?;
        let (key, epoch) = (lease.key().clone(), lease.epoch());
        self.0.inner.close(lease).await?;
        let mut state = self.lock();
        let Some(kept) = state.sessions.get_mut(&key).filter(|kept| kept.epoch == epoch) else {
            return late.map_or(Ok(()), Err);
        };
        kept.synced = kept.entries.len();
        kept.failed.clone().or(late).map_or(Ok(()), Err)
    }
}
