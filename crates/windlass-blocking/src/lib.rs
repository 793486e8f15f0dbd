//! Work that blocks, such as disk access, on the threads of a tokio runtime.
//!
//! `tokio::task::spawn_blocking` panics where the system has no thread left. Here that is an error, which a crate reports
//! in its own terms: the call of a tool fails, and the program lives on.
#![cfg_attr(docsrs, feature(doc_cfg))]

use std::panic::{AssertUnwindSafe, catch_unwind};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

/// Reason why blocking work was not done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BlockingError {
    /// The runtime ended before the work.
    #[error("the program is ending")]
    Ending,
    /// The system has no thread for the work.
    #[error("no thread can be started: the system or the account has reached its limit")]
    NoThread,
}

/// Runs `work` on the blocking threads of the current tokio runtime, or right here when there is none. A panic of the
/// work is resumed in the caller.
///
/// Cancel safety: dropping the future leaves the work to end by itself.
///
/// ```
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let text = windlass_blocking::run_blocking(|| std::fs::read_to_string("notes.txt")).await??;
/// # drop(text);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// The system has no thread for the work, or the runtime ends before it.
pub async fn run_blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, BlockingError> {
    let Ok(runtime) = Handle::try_current() else { return Ok(work()) };
    match start_blocking(&runtime, work)?.await {
        Ok(done) => Ok(done),
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(BlockingError::Ending),
        },
    }
}

/// Hands `work` to the blocking threads of a runtime. It runs whether or not the handle is awaited.
///
/// # Errors
/// The system has no thread for the work.
pub fn start_blocking<T: Send + 'static>(
    runtime: &Handle,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, BlockingError> {
    // A pool without threads panics where none can be started.
    catch_unwind(AssertUnwindSafe(|| runtime.spawn_blocking(work))).map_err(|_| BlockingError::NoThread)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_without_a_thread_is_an_error() {
        // No system has room for such a stack.
        let runtime = tokio::runtime::Builder::new_current_thread().thread_stack_size(1 << 60).build().unwrap();
        assert_eq!(runtime.block_on(run_blocking(|| 1)), Err(BlockingError::NoThread));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        assert_eq!(runtime.block_on(run_blocking(|| 1)), Ok(1));
        // Once a thread is there, work waits for it.
        runtime.block_on(async {
            let panicked = tokio::spawn(run_blocking(|| panic!("of the test"))).await;
            assert!(panicked.is_err_and(|error| error.is_panic()));
        });
    }
}
