//! Sessions in memory.

use crate::{
    AgentHeader, AgentSummary, Durability, Lease, Loaded, LogEncoder, LogHeader, Owner, PendingAnswers, ProjectKey,
    SUMMARY_BYTES, SessionKey, SessionStore, SessionSummary, StoreError, StoredAnswer, read_agent_log, read_log,
    summarize,
};
use async_trait::async_trait;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use windlass_types::{Entry, QuestionId, Timestamp};

/// Store that keeps sessions in memory, in the same lines as on disk, so that loads use the same reader. Its data is
/// gone with the last clone.
#[derive(Debug, Clone, Default)]
pub struct MemoryStore {
    state: Arc<Mutex<State>>,
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
    lease: Option<(u64, Owner, LogEncoder)>,
}

/// Guard that releases the lease when it is dropped.
struct Guard {
    store: MemoryStore,
    key: SessionKey,
    epoch: u64,
}

impl Drop for Guard {
    fn drop(&mut self) {
        let mut state = self.store.lock();
        if let Some(session) = state.sessions.get_mut(&self.key) {
            if session.lease.as_ref().is_some_and(|(epoch, ..)| *epoch == self.epoch) {
                session.lease = None;
            }
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
        let mut state = self.lock();
        state.count += 1;
        let epoch = state.count;
        let session = state.sessions.entry(key.clone()).or_default();
        if let Some((_, owner, _)) = &session.lease {
            return Err(StoreError::in_use(key, owner));
        }
        if !session.exists {
            session.agent.clone_from(&header.agent);
        }
        session.lease = Some((epoch, owner.clone(), LogEncoder::of(key, header)));
        let guard = Guard { store: self.clone(), key: key.clone(), epoch };
        Ok(Lease::new(key.clone(), epoch, session.seq, guard))
    }

    async fn append(
        &self,
        lease: &Lease,
        expected_seq: u64,
        entries: Vec<Entry>,
        durability: Durability,
    ) -> Result<u64, StoreError> {
        let key = lease.key();
        let mut state = self.lock();
        let is_ours = lease.guard::<Guard>().is_some_and(|guard| Arc::ptr_eq(&guard.store.state, &self.state));
        state.count += 1;
        let now = state.count;
        let session = state.sessions.get_mut(key).filter(|_| is_ours).ok_or_else(|| StoreError::lease_lost(key))?;
        let Session { log, exists, seq, changed, lease: Some((epoch, _, encoder)), .. } = session else {
            return Err(StoreError::lease_lost(key));
        };
        if *epoch != lease.epoch() {
            return Err(StoreError::lease_lost(key));
        }
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
        let mut state = self.lock();
        let mut leases = state.sessions.iter().filter(|(other, _)| key.covers(other));
        if let Some((other, owner)) = leases.find_map(|(other, session)| Some((other, &session.lease.as_ref()?.1))) {
            return Err(StoreError::in_use(other, owner));
        }
        state.sessions.retain(|other, _| !key.covers(other));
        state.answers.retain(|(other, _), _| !key.covers(other));
        Ok(())
    }

    fn answers(&self) -> Option<&dyn PendingAnswers> {
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

fn first_lines(log: &[u8]) -> &[u8] {
    log.get(..SUMMARY_BYTES).unwrap_or(log)
}
