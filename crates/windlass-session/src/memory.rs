//! Sessions in memory.

use crate::{
    AgentHeader, AgentSummary, Durability, Lease, Loaded, LogChunk, LogEncoder, LogHeader, LogReader, Owner,
    PendingAnswers, ProjectKey, SUMMARY_BYTES, SessionKey, SessionStore, SessionSummary, StoreError, StoredAnswer,
    read_agent_log, read_log, summarize,
};
use async_trait::async_trait;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use windlass_types::{Entry, QuestionId, Timestamp};

/// Store that keeps sessions in memory, in the same lines as on disk, so that loads use the same reader. Its data is
/// gone with the last clone.
#[derive(Debug, Clone, Default)]
pub struct MemoryStore {
    state: Arc<Mutex<State>>,
    expiry: Option<Expiry>,
}

/// Term of leases, and the clock that ends them.
#[derive(Clone)]
struct Expiry {
    term: Duration,
    clock: Arc<dyn Fn() -> Duration + Send + Sync>,
}

impl fmt::Debug for Expiry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Expiry").field("term", &self.term).finish_non_exhaustive()
    }
}

#[derive(Debug, Default)]
struct State {
    sessions: BTreeMap<SessionKey, Session>,
    /// Answers to permission requests, each with `true` if it was taken.
    answers: BTreeMap<(SessionKey, QuestionId), (StoredAnswer, bool)>,
    /// Counter that numbers leases and changes, so that each is distinct.
    count: u64,
}

#[derive(Debug, Default)]
struct Session {
    log: Vec<u8>,
    /// `true` if anything was appended.
    exists: bool,
    seq: u64,
    /// Time of the latest entry, and the number of that change.
    changed: (Timestamp, u64),
    /// Header of an agent's log, from the creation of the log.
    agent: Option<Arc<AgentHeader>>,
    lease: Option<HeldLease>,
}

#[derive(Debug)]
struct HeldLease {
    epoch: u64,
    owner: Owner,
    encoder: LogEncoder,
    /// Time at which it expires, by the store's clock. `None`: never.
    until: Option<Duration>,
}

impl HeldLease {
    fn is_over(&self, now: Option<Duration>) -> bool {
        matches!((self.until, now), (Some(until), Some(now)) if until <= now)
    }
}

/// Guard that releases the lease when it is dropped.
struct MemoryLeaseGuard {
    store: MemoryStore,
    key: SessionKey,
    epoch: u64,
}

impl Drop for MemoryLeaseGuard {
    fn drop(&mut self) {
        let mut state = self.store.lock();
        if let Some(session) = state.sessions.get_mut(&self.key)
            && session.lease.as_ref().is_some_and(|lease| lease.epoch == self.epoch)
        {
            session.lease = None;
            if !session.exists {
                state.sessions.remove(&self.key);
            }
        }
    }
}

impl MemoryStore {
    /// Returns a store without sessions.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a store whose leases expire after `term` unless they are renewed, like those of a store that machines
    /// share. `clock` returns the time since any fixed point.
    pub fn with_lease_term(term: Duration, clock: impl Fn() -> Duration + Send + Sync + 'static) -> Self {
        Self { expiry: Some(Expiry { term, clock: Arc::new(clock) }), ..Self::default() }
    }

    /// Returns the time of the store's clock. `None`: leases never expire.
    fn now(&self) -> Option<Duration> {
        self.expiry.as_ref().map(|expiry| (expiry.clock)())
    }

    /// Returns the time at which a lease expires that is taken or renewed now.
    fn until(&self) -> Option<Duration> {
        self.expiry.as_ref().map(|expiry| (expiry.clock)().saturating_add(expiry.term))
    }

    /// Returns the lines of a session, as a file would contain them.
    pub fn log(&self, key: &SessionKey) -> Option<Vec<u8>> {
        self.lock().sessions.get(key).filter(|session| session.exists).map(|session| session.log.clone())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No panic can happen between two changes that belong together.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl SessionStore for MemoryStore {
    async fn open(&self, key: &SessionKey, owner: &Owner, header: LogHeader) -> Result<Lease, StoreError> {
        key.check_agent()?;
        let (now, until) = (self.now(), self.until());
        let mut state = self.lock();
        state.count += 1;
        let epoch = state.count;
        let session = state.sessions.entry(key.clone()).or_default();
        if let Some(lease) = session.lease.as_ref().filter(|lease| !lease.is_over(now)) {
            return Err(StoreError::in_use(key, &lease.owner));
        }
        if !session.exists {
            session.agent.clone_from(&header.agent);
        }
        session.lease = Some(HeldLease { epoch, owner: owner.clone(), encoder: LogEncoder::of(key, header), until });
        let guard = MemoryLeaseGuard { store: self.clone(), key: key.clone(), epoch };
        let lease = Lease::new(key.clone(), epoch, session.seq, guard);
        Ok(match &self.expiry {
            Some(expiry) => lease.with_term(expiry.term),
            None => lease,
        })
    }

    async fn append(
        &self,
        lease: &Lease,
        expected_seq: u64,
        entries: Vec<Entry>,
        durability: Durability,
    ) -> Result<u64, StoreError> {
        let (key, time) = (lease.key(), self.now());
        let mut state = self.lock();
        let is_ours =
            lease.guard::<MemoryLeaseGuard>().is_some_and(|guard| Arc::ptr_eq(&guard.store.state, &self.state));
        state.count += 1;
        let now = state.count;
        let session = state.sessions.get_mut(key).filter(|_| is_ours).ok_or_else(|| StoreError::lease_lost(key))?;
        let Session { log, exists, seq, changed, lease: Some(held), .. } = session else {
            return Err(StoreError::lease_lost(key));
        };
        if held.epoch != lease.epoch() || held.is_over(time) {
            return Err(StoreError::lease_lost(key));
        }
        let encoder = &mut held.encoder;
        if *seq != expected_seq {
            return Err(StoreError::conflict(key, expected_seq, *seq));
        }
        for entry in &entries {
            encoder.entry(entry, log);
        }
        if durability == Durability::Durable {
            encoder.checksum(log);
        }
        if let Some(latest) = entries.iter().map(|entry| entry.timestamp).max() {
            (*exists, *changed) = (true, (changed.0.max(latest), now));
        }
        *seq += entries.len() as u64;
        Ok(*seq)
    }

    async fn renew(&self, lease: &Lease) -> Result<Option<Duration>, StoreError> {
        let Some(expiry) = &self.expiry else { return Ok(None) };
        let (now, until) = (self.now(), self.until());
        let mut state = self.lock();
        let held = state.sessions.get_mut(lease.key()).and_then(|session| session.lease.as_mut());
        match held.filter(|held| held.epoch == lease.epoch() && !held.is_over(now)) {
            Some(held) => {
                held.until = until;
                Ok(Some(expiry.term))
            }
            None => Err(StoreError::lease_lost(lease.key())),
        }
    }

    async fn load(&self, key: &SessionKey) -> Result<Loaded, StoreError> {
        key.check_agent()?;
        let (log, seq) = {
            let state = self.lock();
            let session = state.sessions.get(key).filter(|session| session.exists);
            session.map(|session| (session.log.clone(), session.seq)).ok_or_else(|| StoreError::not_found(key))?
        };
        let read = if key.agent.is_some() { read_agent_log(log.as_slice()) } else { read_log(log.as_slice()) };
        let log =
            read.map_err(|error| StoreError::new(crate::StoreErrorKind::Io, format!("reading {key}: {error}")))?;
        Ok(Loaded::new(log.entries, seq, log.report))
    }

    async fn list(&self, project: &ProjectKey) -> Result<Vec<SessionSummary>, StoreError> {
        let state = self.lock();
        let mut sessions: Vec<((Timestamp, u64), SessionSummary)> = state
            .sessions
            .iter()
            .filter(|(key, session)| key.project == *project && key.agent.is_none() && session.exists)
            .filter_map(|(key, session)| {
                let log = &session.log;
                let head = first_lines(log);
                let tail = log.get(log.len().saturating_sub(SUMMARY_BYTES)..).unwrap_or(log);
                let millis = session.changed.0.millis();
                Some((session.changed, summarize(&key.session, head, tail, millis, log.len() as u64)?))
            })
            .collect();
        sessions.sort_by_key(|(changed, _)| Reverse(*changed));
        Ok(sessions.into_iter().map(|(_, summary)| summary).collect())
    }

    async fn delete(&self, key: &SessionKey) -> Result<(), StoreError> {
        key.check_agent()?;
        let now = self.now();
        let mut state = self.lock();
        let mut leases = state.sessions.iter().filter(|(other, _)| key.covers(other));
        let held = |session: &Session| {
            session.lease.as_ref().filter(|lease| !lease.is_over(now)).map(|lease| lease.owner.clone())
        };
        if let Some((other, owner)) = leases.find_map(|(other, session)| Some((other, held(session)?))) {
            return Err(StoreError::in_use(other, owner));
        }
        state.sessions.retain(|other, _| !key.covers(other));
        state.answers.retain(|(other, _), _| !key.covers(other));
        Ok(())
    }

    fn answers(&self) -> Option<&dyn PendingAnswers> {
        Some(self)
    }

    fn reader(&self) -> Option<&dyn LogReader> {
        Some(self)
    }

    async fn agents(&self, key: &SessionKey) -> Result<Vec<AgentSummary>, StoreError> {
        let session = key.of_session();
        let state = self.lock();
        let logs = state.sessions.iter().filter(|(other, log)| session.covers(other) && log.exists);
        let mut agents: Vec<AgentSummary> = logs
            .filter_map(|(other, log)| {
                let meta = log.agent.as_ref().map(|agent| agent.to_json()).unwrap_or_default();
                Some(AgentSummary::read(other.agent.clone()?, meta.as_bytes(), first_lines(&log.log)))
            })
            .collect();
        AgentSummary::sort(&mut agents);
        agents.truncate(AgentSummary::MOST);
        Ok(agents)
    }

    async fn close(&self, lease: Lease) -> Result<(), StoreError> {
        drop(lease);
        Ok(())
    }
}

#[async_trait]
impl PendingAnswers for MemoryStore {
    async fn give(&self, key: &SessionKey, answer: &StoredAnswer) -> Result<(), StoreError> {
        let mut state = self.lock();
        let place = (key.clone(), answer.question.clone());
        if state.answers.contains_key(&place) {
            return Err(StoreError::answered(&answer.question));
        }
        state.answers.insert(place, (answer.clone(), false));
        Ok(())
    }

    async fn answer_to(&self, key: &SessionKey, question: &QuestionId) -> Result<Option<StoredAnswer>, StoreError> {
        let state = self.lock();
        let found = state.answers.get(&(key.clone(), question.clone()));
        Ok(found.map(|(answer, _)| answer.clone()))
    }

    async fn take(&self, key: &SessionKey, question: &QuestionId) -> Result<bool, StoreError> {
        let mut state = self.lock();
        let found = state.answers.get_mut(&(key.clone(), question.clone()));
        Ok(found.is_some_and(|(_, taken)| !std::mem::replace(taken, true)))
    }
}

#[async_trait]
impl LogReader for MemoryStore {
    async fn read(&self, key: &SessionKey, position: u64) -> Result<LogChunk, StoreError> {
        let state = self.lock();
        let session = state.sessions.get(key).filter(|session| session.exists);
        let session = session.ok_or_else(|| StoreError::not_found(key))?;
        let rest = usize::try_from(position).ok().and_then(|from| session.log.get(from..));
        Ok(LogChunk::new(position, rest.unwrap_or_default().to_vec(), false))
    }
}

fn first_lines(log: &[u8]) -> &[u8] {
    log.get(..SUMMARY_BYTES).unwrap_or(log)
}
