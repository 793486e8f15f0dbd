//! Tasks that belong to a handle.

use tokio::task::JoinHandle;

/// A task that does not outlive its handle.
#[derive(Debug)]
pub(crate) struct AbortOnDrop<T>(pub(crate) JoinHandle<T>);

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
