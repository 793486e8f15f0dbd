//! Work that blocks, on threads of the runtime.

use std::panic::{AssertUnwindSafe, catch_unwind};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use windlass_session::{StoreError, StoreErrorKind};

/// The reason why work was not begun.
pub(crate) const NO_THREAD: &str = "no thread can be started, the system or the account has reached its limit";

/// Hands work to the pool of a runtime. `None`: the pool has no thread, and none can be started, which it answers with a panic.
pub(crate) fn start_blocking<T: Send + 'static>(
    runtime: &Handle,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<JoinHandle<T>> {
    catch_unwind(AssertUnwindSafe(|| runtime.spawn_blocking(work))).ok()
}

/// Runs what blocks on a thread that may, when there is a runtime to give one.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    let Ok(runtime) = Handle::try_current() else { return work() };
    let Some(started) = start_blocking(&runtime, work) else {
        return Err(StoreError::new(StoreErrorKind::Io, format!("sessions cannot be read: {NO_THREAD}")));
    };
    started.await.unwrap_or_else(|error| {
        Err(StoreError::new(StoreErrorKind::Io, format!("reading sessions was stopped: {error}")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_without_a_thread_is_an_error() {
        // No system has room for such a stack.
        let runtime = tokio::runtime::Builder::new_current_thread().thread_stack_size(1 << 60).build().unwrap();
        let error = runtime.block_on(blocking(|| Ok(1))).unwrap_err();
        assert_eq!(error.kind, StoreErrorKind::Io);
        assert!(error.to_string().contains("no thread can be started"), "{error}");
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        assert_eq!(runtime.block_on(blocking(|| Ok(1))).unwrap(), 1);
    }
}
