//! A flag that stops work on another thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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
