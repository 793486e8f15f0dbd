//! Disk access that does not block other tasks.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

/// Work that was not done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotDone {
    /// The program ended before.
    #[error("the program is ending")]
    Ending,
    /// The system has no thread for it.
    #[error("no thread can be started: the system or the account has reached its limit")]
    NoThread,
}

/// Runs `work` on the blocking pool of the current tokio runtime, or right here
/// when there is none. A panic is resumed in the caller.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, NotDone> {
    let Ok(runtime) = Handle::try_current() else {
        return Ok(work());
    };
    match started(&runtime, work)?.await {
        Ok(done) => Ok(done),
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(NotDone::Ending),
        },
    }
}

/// Flag for work on another thread, set when this is dropped.
#[derive(Debug, Default)]
pub(crate) struct DropFlag(Arc<AtomicBool>);

impl DropFlag {
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }
}

impl Drop for DropFlag {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Hands work to the pool. A pool without threads panics where none can be started.
fn started<T: Send + 'static>(
    runtime: &Handle,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, NotDone> {
    catch_unwind(AssertUnwindSafe(|| runtime.spawn_blocking(work))).map_err(|_| NotDone::NoThread)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_without_a_thread_is_an_error() {
        // No system has room for such a stack.
        let runtime = tokio::runtime::Builder::new_current_thread().thread_stack_size(1 << 60).build().unwrap();
        assert_eq!(runtime.block_on(blocking(|| 1)), Err(NotDone::NoThread));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        assert_eq!(runtime.block_on(blocking(|| 1)), Ok(1));
        // Once a thread is there, work waits for it.
        runtime.block_on(async {
            let panicked = tokio::spawn(blocking(|| panic!("of the test"))).await;
            assert!(panicked.is_err_and(|error| error.is_panic()));
        });
    }
}
