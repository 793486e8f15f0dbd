use super::{Clock, Credential, Credentials};
use async_trait::async_trait;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared, WeakShared};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use windlass_model::ModelError;
use windlass_types::{ErrorClass, ModelErrorKind, Timestamp};

/// Pause after a failed refresh while the old credential is still valid.
const PAUSE: Duration = Duration::from_secs(30);

/// Keeps the credential of a source until shortly before it expires.
///
/// All callers share one refresh, which continues when the caller that began it is dropped, and ends when all are
/// dropped. While the old credential is valid, a failed refresh fails no request. After that its error is a transient
/// one, unless the source never had a credential, or reports a wrong configuration. A credential without a time of
/// expiry is kept until the API refuses it.
#[derive(Clone)]
pub struct RefreshingCredentials {
    inner: Arc<RefreshState>,
}

struct RefreshState {
    source: Arc<dyn Credentials>,
    clock: Clock,
    early: Duration,
    state: Mutex<CredentialState>,
}

#[derive(Default)]
struct CredentialState {
    kept: Option<CachedCredential>,
    /// Refresh in progress, held by its callers.
    running: Option<WeakShared<Refresh>>,
    /// End of the pause after a failed refresh.
    paused_until: Option<Timestamp>,
    /// `true` once the source had a credential.
    had_one: bool,
}

struct CachedCredential {
    credential: Credential,
    since: Timestamp,
}

type Refresh = BoxFuture<'static, Result<Credential, Arc<ModelError>>>;

impl RefreshingCredentials {
    /// Wraps a source.
    pub fn new(source: impl Credentials) -> Self {
        Self::assembled(Arc::new(source), Clock::default(), Duration::from_secs(300))
    }

    /// Sets the time before its expiry at which a credential is refreshed, at most half of its lifetime. Default: 5
    /// minutes.
    #[must_use]
    pub fn early(self, span: Duration) -> Self {
        Self::assembled(Arc::clone(&self.inner.source), self.inner.clock.clone(), span)
    }

    /// Sets the clock. Default: that of this machine.
    #[must_use]
    pub fn clock(self, now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self::assembled(Arc::clone(&self.inner.source), Clock::new(now), self.inner.early)
    }

    fn assembled(source: Arc<dyn Credentials>, clock: Clock, early: Duration) -> Self {
        Self { inner: Arc::new(RefreshState { source, clock, early, state: Mutex::default() }) }
    }
}

impl fmt::Debug for RefreshingCredentials {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("RefreshingCredentials").field("source", &self.inner.source).finish_non_exhaustive()
    }
}

impl CachedCredential {
    fn is_fresh(&self, now: Timestamp, early: Duration) -> bool {
        let Some(expiry) = self.credential.expires_at else { return true };
        let margin = early.min(expiry.since(self.since) / 2);
        now.after(margin) < expiry
    }

    fn is_valid(&self, now: Timestamp) -> bool {
        self.credential.expires_at.is_none_or(|expiry| now < expiry)
    }
}

impl RefreshState {
    fn state(&self) -> MutexGuard<'_, CredentialState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the kept credential, or the refresh to wait for.
    fn at_hand(self: &Arc<Self>) -> Result<Credential, Shared<Refresh>> {
        let now = self.clock.now();
        let mut state = self.state();
        if let Some(kept) = &state.kept {
            let paused = state.paused_until.is_some_and(|until| now < until) && kept.is_valid(now);
            if paused || kept.is_fresh(now, self.early) {
                return Ok(kept.credential.clone());
            }
        }
        if let Some(running) = state.running.as_ref().and_then(WeakShared::upgrade) {
            return Err(running);
        }
        let refresh = Arc::clone(self).refresh().boxed().shared();
        state.running = refresh.downgrade();
        Err(refresh)
    }

    async fn refresh(self: Arc<Self>) -> Result<Credential, Arc<ModelError>> {
        let outcome = self.source.credential().await;
        let now = self.clock.now();
        let mut state = self.state();
        state.running = None;
        match outcome {
            Ok(credential) => {
                state.kept = Some(CachedCredential { credential: credential.clone(), since: now });
                (state.paused_until, state.had_one) = (None, true);
                Ok(credential)
            }
            Err(error) => {
                state.kept.take_if(|kept| !kept.is_valid(now));
                let Some(kept) = &state.kept else { return Err(Arc::new(transient(error, state.had_one))) };
                let credential = kept.credential.clone();
                state.paused_until = Some(now.after(PAUSE));
                Ok(credential)
            }
        }
    }
}

/// Converts the error of a refresh: a source that worked before will probably work again.
fn transient(mut error: ModelError, had_one: bool) -> ModelError {
    if had_one && error.class() == ErrorClass::Final && error.kind != ModelErrorKind::Configuration {
        error.kind = ModelErrorKind::Connection;
        error.message = format!("the credential could not be refreshed: {}", error.message);
    }
    error
}

#[async_trait]
impl Credentials for RefreshingCredentials {
    async fn credential(&self) -> Result<Credential, ModelError> {
        let refresh = match self.inner.at_hand() {
            Ok(credential) => return Ok(credential),
            Err(refresh) => refresh,
        };
        refresh.await.map_err(|error| {
            let wait = error.retry_after;
            ModelError::new(error.kind, error.message.clone()).with_retry_after(wait).with_source(error).unbilled()
        })
    }

    fn refused(&self, credential: &Credential) {
        self.inner.state().kept.take_if(|kept| kept.credential == *credential);
        self.inner.source.refused(credential);
    }
}
