//! Report of a conformance kit that a promise is broken.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt;

/// A promise of a port that an implementation does not keep, in a sentence with the operation and its outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation(String);

impl Violation {
    /// Returns a broken promise, for your own rules beside those of the kits.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Violation {}

/// Time that a kit waits for a process or file to go that should be gone. Shorter than the life of the leftovers of a
/// broken implementation.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);
/// Time that a kit waits for an answer that should come at once: generous, for busy machines.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

pub(crate) fn ensure(holds: bool, text: impl FnOnce() -> String) -> Result<(), Violation> {
    if holds { Ok(()) } else { Err(Violation::new(text())) }
}

/// Waits for a future that must be ready within [`LONGEST_WAIT`] and without a panic.
pub(crate) async fn within<T>(what: &str, work: impl Future<Output = T>) -> Result<T, Violation> {
    match tokio::time::timeout(LONGEST_WAIT, AssertUnwindSafe(work).catch_unwind()).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(panic)) => Err(Violation::new(format!("{what}: it panicked: {}", panic_text(&*panic)))),
        Err(_) => Err(Violation::new(format!("{what}: no answer in {} s", LONGEST_WAIT.as_secs()))),
    }
}

/// Runs code that must not panic.
pub(crate) fn calmly<T>(what: &str, work: impl FnOnce() -> T) -> Result<T, Violation> {
    std::panic::catch_unwind(AssertUnwindSafe(work))
        .map_err(|panic| Violation::new(format!("{what}: it panicked: {}", panic_text(&*panic))))
}

pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without words")
}
