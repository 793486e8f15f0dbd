//! Requirements of a session on its tokio runtime.

use crate::error::Error;
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
#[cfg(all(unix, any(feature = "anthropic", feature = "mcp", feature = "tools")))]
fn check_io() -> Result<(), Error> {
    catch_unwind(|| drop(tokio::net::UnixDatagram::unbound()))
        .map_err(|_| Error::NoRuntime { missing: "this tokio runtime has no I/O" })
}

#[cfg(not(all(unix, any(feature = "anthropic", feature = "mcp", feature = "tools"))))]
fn check_io() -> Result<(), Error> {
    Ok(())
}

/// Files are read and written on threads of the runtime. A write to a file of tokio answers with an error where the first of them
/// cannot be started; all other such work panics.
#[cfg(all(unix, feature = "tools"))]
fn check_threads() -> Result<(), Error> {
    use std::task::{Context, Poll, Waker};
    use tokio::io::AsyncWriteExt as _;
    let Ok(sink) = std::fs::File::options().write(true).open("/dev/null") else { return Ok(()) };
    let mut sink = tokio::fs::File::from_std(sink);
    // The write is handed to the thread at once, which is not waited for.
    let written = std::pin::pin!(sink.write_all(b"\n")).poll(&mut Context::from_waker(Waker::noop()));
    match written {
        Poll::Ready(Err(_)) => Err(Error::NoThread),
        _ => Ok(()),
    }
}

#[cfg(not(all(unix, feature = "tools")))]
fn check_threads() -> Result<(), Error> {
    Ok(())
}
