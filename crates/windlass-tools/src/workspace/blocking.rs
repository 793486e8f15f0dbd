//! Disk access that does not block other tasks.

use std::error::Error;
use std::fmt;

/// The program ended before the work was done.
#[derive(Debug)]
pub(crate) struct Ending;

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the program is ending")
    }
}

impl Error for Ending {}

/// Runs `work` on the blocking pool of the current tokio runtime, or right here when there is none. A panic is resumed
/// in the caller.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Ending> {
    let Ok(runtime) = tokio::runtime::Handle::try_current() else {
        return Ok(work());
    };
    match runtime.spawn_blocking(work).await {
        Ok(done) => Ok(done),
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(Ending),
        },
    }
}
