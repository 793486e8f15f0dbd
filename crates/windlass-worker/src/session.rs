//! One session of a worker, from its claim to its release.

use crate::Profile;
use crate::inbox::{PassedMessages, is_unavailable};
use crate::profile::ProfileError;
use crate::worker::SessionEnd;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use windlass::EventKind;
use windlass::session::{Prompt, Session, SessionBuilder, SessionError};
use windlass::store::{Entry, EntryKind, SessionStore as _, StoreError};
use windlass_postgres::{ClaimedSession, PgStore, SessionState};

/// Prompt of a run that goes on after its worker died.
const CONTINUE: &str = "The process that ran this session ended. Continue where it was.";

/// A session that this worker has claimed.
#[derive(Debug)]
pub(crate) struct WorkerSession {
    pub(crate) store: Arc<PgStore>,
    pub(crate) claimed: ClaimedSession,
    pub(crate) profile: Profile,
    pub(crate) workspace: PathBuf,
    pub(crate) poll: Duration,
    pub(crate) grace: Duration,
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
        let session = self.claimed.key.session.clone();
        tracing::info!(%session, profile = self.claimed.profile, attempts = self.claimed.attempts, "session claimed");
        match self.drive(draining).await {
            Ok(end) => {
                tracing::info!(%session, ?end, "session given back");
                end
            }
            // The lease is given back or expires, and a worker claims the session again.
            Err(error) => {
                tracing::warn!(%session, %error, "the session ends here");
                SessionEnd::Lost
            }
        }
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
        let mut passed = PassedMessages::default();
        self.begin(&session).await?;
        loop {
            passed.pass(&self.store, key, &session.handle).await?;
            match self.watch(&mut session, &mut draining).await? {
                Step::Watch => {}
                Step::Ended => return Ok(SessionEnd::Lost),
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

    /// Continues what the log of the session left open: a run whose questions were answered, or one that was cut.
    async fn begin(&self, session: &Session) -> Result<(), Failure> {
        if !session.pending_questions.is_empty() {
            return Ok(session.handle.continue_run()?);
        }
        if self.claimed.exists && has_open_run(&self.store.load(&self.claimed.key).await?.entries) {
            session.handle.prompt(Prompt::text(CONTINUE))?;
        }
        Ok(())
    }

    /// Reads events until messages are looked for again, or the session is settled.
    async fn watch(&self, session: &mut Session, draining: &mut watch::Receiver<bool>) -> Result<Step, Failure> {
        let quiet = session.handle.quiet();
        let pause = tokio::time::sleep(self.poll);
        tokio::pin!(quiet, pause);
        loop {
            tokio::select! {
                biased;
                drains = drains(draining) => return Ok(if drains { Step::HandOver } else { Step::Ended }),
                event = session.events.try_next() => match event? {
                    Some(event) => self.report(&event.kind).await?,
                    None => return Ok(Step::Ended),
                },
                () = &mut quiet => return Ok(Step::Settle),
                () = &mut pause => return Ok(Step::Watch),
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

    /// Lets the run end within the grace period, or leaves it to the next owner as it is.
    async fn hand_over(&self, mut session: Session) -> Result<SessionEnd, Failure> {
        let quiet = session.handle.quiet();
        let ended = async {
            tokio::pin!(quiet);
            loop {
                tokio::select! {
                    () = &mut quiet => return Ok::<(), Failure>(()),
                    event = session.events.try_next() => match event? {
                        Some(event) => self.report(&event.kind).await?,
                        None => return Ok(()),
                    },
                }
            }
        };
        if let Ok(ended) = tokio::time::timeout(self.grace, ended).await {
            ended?;
            return self.settle(session).await;
        }
        self.store.hand_over(&self.claimed.key);
        // The session ends with an error, because it cannot append its end.
        let _ = close(session).await;
        Ok(SessionEnd::HandedOver)
    }
}

type Opening = Pin<Box<dyn Future<Output = Result<Session, windlass::Error>> + Send>>;

/// Opens a session.
fn opening(options: SessionBuilder) -> Opening {
    Box::pin(options.open())
}

/// `true` if the last run of a log has not ended.
fn has_open_run(entries: &[Entry]) -> bool {
    let mut open = None;
    for entry in entries {
        match &entry.kind {
            EntryKind::User(user) if user.run.is_some() => open.clone_from(&user.run),
            EntryKind::RunFinished(record) if open.as_ref() == Some(&record.run) => open = None,
            _ => {}
        }
    }
    open.is_some()
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
