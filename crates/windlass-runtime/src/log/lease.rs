//! The lease of a session's log while the session is open.

use std::time::Duration;
use tokio::time::{Instant, sleep, sleep_until, timeout_at};
use windlass_session::{Lease, SessionStore, StoreError, StoreErrorKind};

/// Renewals within the term of a lease.
const RENEWALS: u32 = 3;

/// Part of the term that is left for the end of effects, before another owner may begin: one fifth.
const MARGIN: u32 = 5;

/// Wait before a renewal is repeated that the store could not answer.
const REPEAT: Duration = Duration::from_millis(200);

/// Deadline of a lease that expires.
#[derive(Debug)]
pub(crate) struct LeaseDeadline {
    /// Time from which the lease held at the latest: the beginning of the call that opened or renewed it.
    asked: Instant,
    /// Time for which it holds from then on. `None`: it never expires.
    term: Option<Duration>,
}

impl LeaseDeadline {
    /// Returns the deadline of a lease. `asked`: the time before the session was opened.
    pub(crate) fn new(lease: &Lease, asked: Instant) -> Self {
        Self { asked, term: lease.term() }
    }

    /// Renews the lease until it is lost, and returns the reason: the store refused the renewal, or could not be reached
    /// until shortly before the lease expires. Cancel safe. Never returns for a lease that never expires.
    pub(crate) async fn lost(&mut self, store: &dyn SessionStore, lease: &Lease) -> StoreError {
        loop {
            let Some(term) = self.term else { return std::future::pending().await };
            sleep_until(self.asked + term / RENEWALS).await;
            let last = self.asked + (term - term / MARGIN);
            match timeout_at(last, renewed(store, lease)).await {
                Ok(Ok(renewed)) => *self = renewed,
                Ok(Err(error)) => return error,
                Err(_) => return StoreError::lease_expired(lease.key(), term),
            }
        }
    }
}

/// Renews a lease, as often as the store is unavailable.
async fn renewed(store: &dyn SessionStore, lease: &Lease) -> Result<LeaseDeadline, StoreError> {
    loop {
        #[expect(
            clippy::disallowed_methods,
            reason = "a lease ends a term after it was asked for, on the clock of the timers"
        )]
        let requested_at = Instant::now();
        match store.renew(lease).await {
            Err(error) if error.kind == StoreErrorKind::Unavailable => sleep(REPEAT).await,
            renewed => return Ok(LeaseDeadline { asked: requested_at, term: renewed? }),
        }
    }
}
