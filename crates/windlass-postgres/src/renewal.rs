//! Renewals of leases, those of many sessions in one statement.

use crate::database::Database;
use crate::error::odd;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;
use windlass_session::StoreError;

const RENEW: &str = "select wl_renew($1, $2, $3, $4::float8 * interval '1 second')";

/// Renewals that are asked for while one statement is under way are sent together with the next one.
#[derive(Debug)]
pub(crate) struct Renewals {
    database: Arc<Database>,
    term: Duration,
    state: Mutex<RenewalState>,
}

#[derive(Debug, Default)]
struct RenewalState {
    waiting: Vec<Renewal>,
    is_sending: bool,
}

#[derive(Debug)]
struct Renewal {
    id: i64,
    epoch: i64,
    done: oneshot::Sender<Result<bool, StoreError>>,
}

impl Renewals {
    pub(crate) fn new(database: Arc<Database>, term: Duration) -> Arc<Self> {
        Arc::new(Self { database, term, state: Mutex::default() })
    }

    fn lock(&self) -> MutexGuard<'_, RenewalState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Renews a lease. `false`: it is lost.
    pub(crate) async fn renew(self: &Arc<Self>, id: i64, epoch: i64) -> Result<bool, StoreError> {
        let (done, renewed) = oneshot::channel();
        {
            let mut state = self.lock();
            state.waiting.push(Renewal { id, epoch, done });
            if !std::mem::replace(&mut state.is_sending, true) {
                tokio::spawn(Arc::clone(self).send_all());
            }
        }
        let stopped = |_| Err(StoreError::unavailable("the database", "the task of renewals stopped"));
        renewed.await.unwrap_or_else(stopped)
    }

    async fn send_all(self: Arc<Self>) {
        loop {
            let waiting = {
                let mut state = self.lock();
                state.is_sending = !state.waiting.is_empty();
                std::mem::take(&mut state.waiting)
            };
            if waiting.is_empty() {
                return;
            }
            // A database that hangs must not hold up later renewals for ever: their leases are lost then.
            let sent = tokio::time::timeout(self.term, self.send(&waiting)).await;
            let sent = sent.unwrap_or_else(|_| Err(StoreError::unavailable("the database", "it does not answer")));
            for renewal in waiting {
                let renewed = sent.as_ref().map(|kept| kept.contains(&renewal.id)).map_err(Clone::clone);
                // The receiver may have been dropped.
                let _ = renewal.done.send(renewed);
            }
        }
    }

    async fn send(&self, waiting: &[Renewal]) -> Result<HashSet<i64>, StoreError> {
        let ids: Vec<i64> = waiting.iter().map(|renewal| renewal.id).collect();
        let epochs: Vec<i64> = waiting.iter().map(|renewal| renewal.epoch).collect();
        let term = self.term.as_secs_f64();
        let rows = self.database.query(RENEW, &[&self.database.tenant(), &ids, &epochs, &term]).await?;
        rows.iter().map(|row| row.try_get(0).map_err(odd)).collect()
    }
}
