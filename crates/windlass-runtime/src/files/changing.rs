//! Running work of a session that may change any file of the workspace.

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::task::AbortHandle;

/// Concurrent work that several callers can wait for.
pub(super) type SharedWork = Shared<BoxFuture<'static, ()>>;

/// Starts work that several callers can wait for.
pub(super) fn shared_work(work: impl Future<Output = ()> + Send + 'static) -> SharedWork {
    let work = work.boxed().shared();
    tokio::spawn(work.clone());
    work
}

/// Running work that may change any file.
#[derive(Debug, Default)]
pub(super) struct Changing {
    /// Number of calls and background tasks.
    pub(super) running: AtomicUsize,
    /// `true` if files may have changed since the last survey that was made while no work ran.
    pub(super) is_open: AtomicBool,
    /// The last survey after a call, made while the model is called. It ends after earlier ones.
    pub(super) survey: Mutex<Option<SharedWork>>,
    /// The baseline that is made concurrently before the first command, if it was begun.
    pub(super) baseline: Mutex<Option<(SharedWork, AbortHandle)>>,
}

impl Changing {
    /// Ends when the changes of all calls until now are known. `None` if they are.
    pub(super) fn surveyed(&self) -> Option<SharedWork> {
        self.survey.lock().unwrap_or_else(PoisonError::into_inner).clone().filter(|survey| survey.peek().is_none())
    }

    pub(super) fn baseline(&self) -> Option<(SharedWork, AbortHandle)> {
        self.baseline.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Waits for the end of work, if there is any.
pub(super) async fn ended(work: Option<SharedWork>) {
    if let Some(work) = work {
        work.await;
    }
}

/// One call or background task that may change any file while this lives.
#[derive(Debug)]
pub(super) struct OngoingChange(Arc<Changing>);

impl OngoingChange {
    pub(super) fn begin(changing: &Arc<Changing>) -> Self {
        changing.running.fetch_add(1, Ordering::SeqCst);
        changing.is_open.store(true, Ordering::SeqCst);
        Self(Arc::clone(changing))
    }
}

impl Drop for OngoingChange {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}
