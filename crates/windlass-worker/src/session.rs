//! One session of a worker, from its claim to its release.

use crate::Profile;
use crate::inbox::{PassedMessages, is_unavailable};
use crate::profile::ProfileError;
use crate::worker::{SessionEnd, Watcher, WorkerEvent};
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, watch};
use windlass::EventKind;
use windlass::session::{LastRun, Session, SessionBuilder, SessionError};
use windlass::store::{SessionStore as _, StoreError};
use windlass_postgres::{ClaimedSession, PgStore, SessionState};

/// A session that this worker has claimed.
#[derive(Debug)]
pub(crate) struct WorkerSession {
    pub(crate) store: Arc<PgStore>,
    pub(crate) claimed: ClaimedSession,
    pub(crate) profile: Profile,
    pub(crate) workspace: PathBuf,
    pub(crate) poll: Duration,
    /// Notified when the session has messages in its inbox.
    pub(crate) messages: Arc<Notify>,
    pub(crate) grace: Duration,
    pub(crate) watcher: Watcher,
}

/// Reason why a session ends here before it is settled.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("its profile opens no session: {0}")]
    Profile(ProfileError),
    #[error(transparent)]
    Open(#[from] windlass::Error),
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Step that follows.
enum Step {
    Watch,
    Settle,
    HandOver,
    Ended,
}

impl WorkerSession {
    /// Runs the session until nothing is left to do, or until the worker drains.
    pub(crate) async fn run(self, draining: watch::Receiver<bool>) -> SessionEnd {
        let key = self.claimed.key.clone();
        let (session, attempts) = (&key.session, self.claimed.attempts);
        tracing::info!(%session, profile = self.claimed.profile, attempts, "session claimed");
        let watcher = self.watcher.clone();
        watcher.report(WorkerEvent::Claimed {
            key: key.clone(),
            profile: self.claimed.profile.clone(),
            workspace: self.claimed.workspace.clone(),
            attempts,
        });
        // After an error the lease is given back or expires, and a worker claims the session again.
        let end = self.drive(draining).await.unwrap_or_else(|error| SessionEnd::Lost { message: error.to_string() });
        tracing::info!(%session, ?end, "session given back");
        watcher.report(WorkerEvent::Ended { key, end: end.clone() });
        end
    }

    async fn open(&self) -> Result<Session, Failure> {
        let limits = &self.claimed.limits;
        let options = self.profile.options(&self.workspace, limits.max_turns).map_err(Failure::Profile)?;
        let id = self.claimed.key.session.to_string();
        let options = options.storage(Arc::clone(&self.store) as Arc<dyn windlass::store::SessionStore>);
        let options = if self.claimed.exists { options.resume(id) } else { options.session_id(id) };
        Ok(opening(options).await?)
    }

    async fn drive(&self, mut draining: watch::Receiver<bool>) -> Result<SessionEnd, Failure> {
        let mut session = self.open().await?;
        let key = &self.claimed.key;
        let mut passed = self.begin(&session).await?;
        loop {
            passed.pass(&self.store, key, &session.handle).await?;
            match self.watch(&mut session, &mut draining).await? {
                Step::Watch => {}
                Step::Ended => return Ok(SessionEnd::Lost { message: "the session has ended".to_owned() }),
                Step::HandOver => return self.hand_over(session).await,
                Step::Settle => {
                    passed.settle(&self.store, key).await?;
                    if passed.pass(&self.store, key, &session.handle).await? > 0 {
                        continue;
                    }
                    return self.settle(session).await;
                }
            }
        }
    }

    /// Continues what the log of the session left open: a run that waits for answers, one that was cut or handed over, or
    /// messages that were accepted and have not joined. Returns the inbox without these messages.
    async fn begin(&self, session: &Session) -> Result<PassedMessages, Failure> {
        let last = match self.claimed.exists {
            true => LastRun::of(&self.store.load(&self.claimed.key).await?.entries),
            false => LastRun::default(),
        };
        let is_unfinished = last.open().is_some() || !last.queued().is_empty();
        if is_unfinished || !session.pending_questions.is_empty() {
            session.handle.continue_run()?;
        }
        Ok(PassedMessages::with_queued(last.queued().iter().map(|queued| queued.id.clone())))
    }

    /// Reads events until there are messages, or the session is settled.
    async fn watch(&self, session: &mut Session, draining: &mut watch::Receiver<bool>) -> Result<Step, Failure> {
        let quiet = session.handle.quiet();
        tokio::pin!(quiet);
        loop {
            tokio::select! {
                biased;
                drains = drains(draining) => return Ok(if drains { Step::HandOver } else { Step::Ended }),
                event = session.events.try_next() => match event? {
                    Some(event) => self.report(&event.kind).await?,
                    None => return Ok(Step::Ended),
                },
                () = &mut quiet => return Ok(Step::Settle),
                () = self.messages.notified() => return Ok(Step::Watch),
            }
        }
    }

    /// Stores the tokens of questions, for services that answer them.
    async fn report(&self, event: &EventKind) -> Result<(), StoreError> {
        if let EventKind::PermissionRequested(request) = event
            && let Some(token) = &request.token
        {
            while is_unavailable(&self.store.keep_token(&self.claimed.key, &request.id, token).await)? {
                tokio::time::sleep(self.poll).await;
            }
        }
        Ok(())
    }

    /// Gives a session back in which no run is in progress.
    async fn settle(&self, session: Session) -> Result<SessionEnd, Failure> {
        let waits = !session.handle.open_questions().is_empty();
        self.store.leave_as(&self.claimed.key, if waits { SessionState::Waits } else { SessionState::Idle });
        close(session).await?;
        Ok(SessionEnd::Settled)
    }

    /// Stops the run at its next safe point, within the grace period, and leaves the session to the next owner.
    async fn hand_over(&self, mut session: Session) -> Result<SessionEnd, Failure> {
        self.store.leave_as(&self.claimed.key, SessionState::Ready);
        let handle = session.handle.clone();
        let reading = async {
            // A full stream would hold up the end.
            while let Some(event) = session.events.try_next().await? {
                self.report(&event.kind).await?;
            }
            Ok::<(), Failure>(())
        };
        let handing = async { Ok(handle.hand_over(self.grace).await?) };
        tokio::try_join!(handing, reading)?;
        Ok(SessionEnd::HandedOver)
    }
}

type Opening = Pin<Box<dyn Future<Output = Result<Session, windlass::Error>> + Send>>;

/// Opens a session.
fn opening(options: SessionBuilder) -> Opening {
    Box::pin(options.open())
}

/// Waits until the worker drains. `false`: it is gone.
async fn drains(draining: &mut watch::Receiver<bool>) -> bool {
    draining.wait_for(|drains| *drains).await.is_ok()
}

/// Closes the session: its log is written and its lease given back.
async fn close(mut session: Session) -> Result<(), SessionError> {
    let closing = session.handle.close();
    let reading = async {
        // A full stream would hold up the end.
        while session.events.try_next().await?.is_some() {}
        Ok(())
    };
    tokio::try_join!(closing, reading).map(drop)
}
