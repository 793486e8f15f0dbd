//! Options of stored sessions.

use super::{OptionChange, Options};
use std::sync::Arc;
use windlass_context::Masks;
use windlass_session::{Checkpoints, SessionStore};

/// Storage of a session beside its [home](crate::SessionBuilder::persist). Values that are not set stay as they are.
/// A store alone can be given as it is: `.storage(store)`.
///
/// ```
/// use windlass::{options::StorageOptions, session::Masks};
///
/// let session = windlass::session().storage(StorageOptions::new().mask_log(Masks::new()).entrypoint("my-bot"));
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct StorageOptions {
    store: Option<Arc<dyn SessionStore>>,
    masks: Option<Masks>,
    entrypoint: Option<String>,
    checkpoint_store: Option<Arc<dyn Checkpoints>>,
    /// Values that features bring.
    pub(crate) changes: Vec<OptionChange>,
}

impl StorageOptions {
    /// No value is set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stores the session in a store of your own.
    pub fn store(mut self, store: Arc<dyn SessionStore>) -> Self {
        self.store = Some(store);
        self
    }

    /// Replaces secrets by `[redacted]` in the texts of the log: those of known forms, and the given values. This changes
    /// history: a resumed session reads the masked texts, the provider's cache does not serve its requests, and a masked
    /// call with an open permission request is asked about anew. Checkpoints of files and large results beside the log
    /// stay exact. Default: the log is exact, and only its user can read it.
    pub fn mask_log(mut self, masks: Masks) -> Self {
        self.masks = Some(masks);
        self
    }

    /// Name of the program in the session log. Default: `sdk-rust`.
    pub fn entrypoint(mut self, name: impl Into<String>) -> Self {
        self.entrypoint = Some(name.into());
        self
    }

    /// Stores file checkpoints in a store of your own instead of beside the session.
    pub fn checkpoint_store(mut self, checkpoints: Arc<dyn Checkpoints>) -> Self {
        self.checkpoint_store = Some(checkpoints);
        self
    }

    pub(crate) fn apply(self, options: &mut Options) {
        let storage = &mut options.storage;
        storage.store = self.store.or(storage.store.take());
        storage.masks = self.masks.or(storage.masks.take());
        storage.entrypoint = self.entrypoint.or(storage.entrypoint.take());
        storage.checkpoints = self.checkpoint_store.or(storage.checkpoints.take());
        self.changes.iter().for_each(|change| change.apply(options));
    }
}

impl<S: SessionStore> From<Arc<S>> for StorageOptions {
    fn from(store: Arc<S>) -> Self {
        Self::new().store(store)
    }
}

impl From<Arc<dyn SessionStore>> for StorageOptions {
    fn from(store: Arc<dyn SessionStore>) -> Self {
        Self::new().store(store)
    }
}

impl std::fmt::Debug for StorageOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StorageOptions")
            .field("has_store", &self.store.is_some())
            .field("masks_log", &self.masks.is_some())
            .field("entrypoint", &self.entrypoint)
            .finish_non_exhaustive()
    }
}
