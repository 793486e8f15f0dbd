//! Requirements of a session on its tokio runtime.

use crate::error::Error;
use crate::local::check_threads;
use std::panic::catch_unwind;
use std::time::Duration;
use tokio::runtime::Handle;

/// Checks that the current runtime meets the requirements of a session.
///
/// tokio cannot be asked for its timers and its I/O: without them the first use panics, in the middle of a run. So each
/// is used once here, where a panic can be turned into an error. The panic hook of the program still reports it.
pub(crate) fn check() -> Result<(), Error> {
    Handle::try_current().map_err(|_| Error::NoRuntime { missing: "there is no tokio runtime" })?;
    catch_unwind(|| drop(tokio::time::sleep(Duration::ZERO)))
        .map_err(|_| Error::NoRuntime { missing: "this tokio runtime has no timers" })?;
    check_io()?;
    check_threads()
}

/// Checks for I/O, which connections and programs need. An unnamed socket reaches nothing; exhausted sockets are no
/// fault of the runtime.
fn check_io() -> Result<(), Error> {
    #[cfg(all(unix, any(feature = "anthropic", feature = "mcp", feature = "tools")))]
    catch_unwind(|| drop(tokio::net::UnixDatagram::unbound()))
        .map_err(|_| Error::NoRuntime { missing: "this tokio runtime has no I/O" })?;
    Ok(())
}
