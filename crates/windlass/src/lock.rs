//! A lock that survives a panic of its holder.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A mutex whose value stays in use after a panic of its holder: each change of the values here is complete.
#[derive(Debug, Default)]
pub(crate) struct Lock<T>(Mutex<T>);

impl<T> Lock<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
