//! The loop that claims sessions.

use crate::Profile;
use crate::session::WorkerSession;
use std::collections::BTreeMap;
use std::future::Future;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinSet;
use windlass::store::{Owner, StoreError, StoreErrorKind};
use windlass_postgres::{ClaimedSession, PgStore, WorkerOffer};

/// Wait between two looks for sessions and messages.
const POLL: Duration = Duration::from_millis(250);

/// Maximum number of sessions that are open at once.
const CAPACITY: usize = 50;

/// Maximum number of sessions of one claim: each is opened before its lease expires.
const CLAIMED_AT_ONCE: usize = 8;

/// Time limit for the hand-over of sessions.
const GRACE: Duration = Duration::from_secs(30);

/// Runs sessions of a shared store.
#[derive(Debug)]
#[must_use = "a worker does nothing until it runs"]
pub struct Worker {
    store: PgStore,
    owner: Owner,
    profiles: BTreeMap<String, Profile>,
    workspaces: BTreeMap<String, PathBuf>,
    capacity: usize,
    poll: Duration,
    grace: Duration,
}

/// Reason why a worker ends.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkerError {
    /// There is no profile, or no workspace.
    #[error("the worker has no {what}: it would run no session; add one")]
    #[non_exhaustive]
    Nothing {
        /// `profile` or `workspace`.
        what: &'static str,
    },
    /// The store refused a claim.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Sessions that a worker ran.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerReport {
    /// Number of sessions that it claimed.
    pub claimed: u64,
    /// Number of sessions that it gave back when nothing was left to do.
    pub settled: u64,
    /// Number of sessions that it handed over at its end.
    pub handed_over: u64,
    /// Number of sessions that it lost or could not open.
    pub lost: u64,
}

/// End of a session of this worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SessionEnd {
    Settled,
    HandedOver,
    Lost,
}

impl Worker {
    /// Returns a worker without profiles and workspaces. `program`: its name, for people.
    pub fn new(store: PgStore, program: impl Into<String>) -> Self {
        Self {
            store,
            owner: Owner::new(std::process::id(), program),
            profiles: BTreeMap::new(),
            workspaces: BTreeMap::new(),
            capacity: CAPACITY,
            poll: POLL,
            grace: GRACE,
        }
    }

    /// Sets the name of the machine, for people.
    pub fn on_host(mut self, host: impl Into<String>) -> Self {
        self.owner = self.owner.on_host(host);
        self
    }

    /// Adds a profile. Sessions of other profiles are left to other workers.
    pub fn profile(mut self, name: impl Into<String>, profile: Profile) -> Self {
        self.profiles.insert(name.into(), profile);
        self
    }

    /// Adds a workspace, at its path on this machine. Sessions of other workspaces are left to other workers.
    pub fn workspace(mut self, name: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        self.workspaces.insert(name.into(), path.into());
        self
    }

    /// Sets the maximum number of sessions that are open at once. Default: 50.
    pub fn capacity(mut self, most: usize) -> Self {
        self.capacity = most.max(1);
        self
    }

    /// Sets the time between two looks for sessions and messages. Default: 250 ms.
    pub fn poll_interval(mut self, interval: Duration) -> Self {
        self.poll = interval.max(Duration::from_millis(10));
        self
    }

    /// Sets the time limit for the hand-over of sessions at the end. Default: 30 s.
    pub fn grace(mut self, limit: Duration) -> Self {
        self.grace = limit;
        self
    }

    /// Runs sessions until `shutdown` is ready, then hands over those that are open. A database out of reach is waited for.
    ///
    /// # Errors
    /// The worker could run no session, or the database refused a claim.
    pub async fn run(self, shutdown: impl Future<Output = ()>) -> Result<WorkerReport, WorkerError> {
        for (what, is_empty) in [("profile", self.profiles.is_empty()), ("workspace", self.workspaces.is_empty())] {
            if is_empty {
                return Err(WorkerError::Nothing { what });
            }
        }
        let (drain, draining) = watch::channel(false);
        let mut running = JoinSet::new();
        let mut report = WorkerReport::default();
        let claimed = self.claim_until(shutdown, &draining, &mut running, &mut report).await;
        drain.send_replace(true);
        while let Some(ended) = running.join_next().await {
            report.count(ended.unwrap_or(SessionEnd::Lost));
        }
        claimed.map(|()| report)
    }

    async fn claim_until(
        &self,
        shutdown: impl Future<Output = ()>,
        draining: &watch::Receiver<bool>,
        running: &mut JoinSet<SessionEnd>,
        report: &mut WorkerReport,
    ) -> Result<(), WorkerError> {
        let offer =
            WorkerOffer::new(self.profiles.keys().cloned().collect(), self.workspaces.keys().cloned().collect());
        let mut shutdown = pin!(shutdown);
        loop {
            let room = self.capacity.saturating_sub(running.len()).min(CLAIMED_AT_ONCE);
            let claimed = match self.store.claim(&self.owner, &offer, room).await {
                Ok(claimed) => claimed,
                Err(error) if error.kind == StoreErrorKind::Unavailable => {
                    tracing::warn!(%error, "no session is claimed");
                    Vec::new()
                }
                Err(error) => return Err(error.into()),
            };
            for claimed in claimed {
                report.claimed += 1;
                match self.session(claimed) {
                    Some(session) => drop(running.spawn(session.run(draining.clone()))),
                    None => report.count(SessionEnd::Lost),
                }
            }
            tokio::select! {
                biased;
                () = &mut shutdown => return Ok(()),
                () = tokio::time::sleep(self.poll) => {}
            }
            while let Some(ended) = running.try_join_next() {
                report.count(ended.unwrap_or(SessionEnd::Lost));
            }
        }
    }

    /// Returns the session of a claim. `None`: the worker has not its profile or workspace.
    fn session(&self, claimed: ClaimedSession) -> Option<WorkerSession> {
        let profile = self.profiles.get(&claimed.profile)?.clone();
        let workspace = self.workspaces.get(&claimed.workspace)?.clone();
        let store = Arc::new(self.store.in_project(claimed.key.project.clone()));
        Some(WorkerSession { store, claimed, profile, workspace, poll: self.poll, grace: self.grace })
    }
}

impl WorkerReport {
    fn count(&mut self, end: SessionEnd) {
        match end {
            SessionEnd::Settled => self.settled += 1,
            SessionEnd::HandedOver => self.handed_over += 1,
            SessionEnd::Lost => self.lost += 1,
        }
    }
}
