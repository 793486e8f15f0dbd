//! The loop that claims sessions.

use crate::Profile;
use crate::inbox::OpenInboxes;
use crate::session::WorkerSession;
use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use windlass::store::{Owner, SessionKey, StoreError, StoreErrorKind};
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
    ends_when_idle: bool,
    watcher: Watcher,
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

/// Change of a worker, for people who watch it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum WorkerEvent {
    /// A session was claimed.
    #[non_exhaustive]
    Claimed {
        /// Session that this worker runs from now on.
        key: SessionKey,
        /// Name of its profile.
        profile: String,
        /// Name of its workspace.
        workspace: String,
        /// Number of claims without an entry in between, this one included.
        attempts: u32,
    },
    /// A session was given back.
    #[non_exhaustive]
    Ended {
        /// Session that other workers may claim from now on.
        key: SessionKey,
        /// End of the session in this worker.
        end: SessionEnd,
    },
    /// The database cannot be reached: no session is claimed until it can.
    #[non_exhaustive]
    Unavailable {
        /// Error of the database, as text for people.
        message: String,
    },
}

/// End of a session in a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionEnd {
    /// Nothing was left to do, or it waits for an answer.
    Settled,
    /// Left to the next worker, because this one ends.
    HandedOver,
    /// The lease was lost, or the session could not be opened.
    #[non_exhaustive]
    Lost {
        /// Error that ended the session here, as text for people.
        message: String,
    },
}

/// Callback for events of a worker.
#[derive(Clone, Default)]
pub(crate) struct Watcher(Option<Arc<dyn Fn(WorkerEvent) + Send + Sync>>);

impl Watcher {
    pub(crate) fn report(&self, event: WorkerEvent) {
        if let Some(watch) = &self.0 {
            watch(event);
        }
    }
}

impl fmt::Debug for Watcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Watcher").field(&self.0.is_some()).finish()
    }
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
            ends_when_idle: false,
            watcher: Watcher::default(),
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

    /// Ends the worker once it has no session open and can claim none. A database out of reach is an error then.
    pub fn until_idle(mut self) -> Self {
        self.ends_when_idle = true;
        self
    }

    /// Calls `watch` for each [`WorkerEvent`]. It must not block.
    pub fn watch(mut self, watch: impl Fn(WorkerEvent) + Send + Sync + 'static) -> Self {
        self.watcher = Watcher(Some(Arc::new(watch)));
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
            report.count(ended.ok().as_ref());
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
        let mut inboxes = OpenInboxes::default();
        loop {
            let room = self.capacity.saturating_sub(running.len()).min(CLAIMED_AT_ONCE);
            let claimed = match self.store.claim(&self.owner, &offer, room).await {
                Ok(claimed) => claimed,
                Err(error) if error.kind == StoreErrorKind::Unavailable && !self.ends_when_idle => {
                    tracing::warn!(%error, "no session is claimed");
                    self.watcher.report(WorkerEvent::Unavailable { message: error.to_string() });
                    Vec::new()
                }
                Err(error) => return Err(error.into()),
            };
            if self.ends_when_idle && claimed.is_empty() && running.is_empty() {
                return Ok(());
            }
            for claimed in claimed {
                report.claimed += 1;
                let messages = inboxes.add(&claimed.key);
                match self.session(claimed, messages) {
                    Some(session) => drop(running.spawn(session.run(draining.clone()))),
                    None => report.count(None),
                }
            }
            inboxes.notify(&self.store).await?;
            tokio::select! {
                biased;
                () = &mut shutdown => return Ok(()),
                () = tokio::time::sleep(self.poll) => {}
            }
            while let Some(ended) = running.try_join_next() {
                report.count(ended.ok().as_ref());
            }
        }
    }

    /// Returns the session of a claim. `None`: the worker has not its profile or workspace.
    fn session(&self, claimed: ClaimedSession, messages: Arc<Notify>) -> Option<WorkerSession> {
        let profile = self.profiles.get(&claimed.profile)?.clone();
        let workspace = self.workspaces.get(&claimed.workspace)?.clone();
        let store = Arc::new(self.store.in_project(claimed.key.project.clone()));
        let (poll, grace, watcher) = (self.poll, self.grace, self.watcher.clone());
        Some(WorkerSession { store, claimed, profile, workspace, poll, messages, grace, watcher })
    }
}

impl WorkerReport {
    /// Counts a session. `None`: its task failed.
    fn count(&mut self, end: Option<&SessionEnd>) {
        match end {
            Some(SessionEnd::Settled) => self.settled += 1,
            Some(SessionEnd::HandedOver) => self.handed_over += 1,
            Some(SessionEnd::Lost { .. }) | None => self.lost += 1,
        }
    }
}
