//! Logins that end with the process.

use super::{LoginKey, SavedLogin, StoreLock, TokenStore, TokenStoreError};
use async_trait::async_trait;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Store of logins in memory.
#[derive(Debug, Default)]
pub struct MemoryTokenStore(Mutex<HashMap<LoginKey, SavedLogin>>);

impl MemoryTokenStore {
    /// Creates an empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn logins(&self) -> MutexGuard<'_, HashMap<LoginKey, SavedLogin>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl TokenStore for MemoryTokenStore {
    async fn load(&self, key: &LoginKey) -> Result<Option<SavedLogin>, TokenStoreError> {
        Ok(self.logins().get(key).cloned())
    }

    async fn save(&self, key: &LoginKey, login: &SavedLogin) -> Result<(), TokenStoreError> {
        self.logins().insert(key.clone(), login.clone());
        Ok(())
    }

    async fn remove(&self, key: &LoginKey) -> Result<(), TokenStoreError> {
        self.logins().remove(key);
        Ok(())
    }

    async fn lock(&self, _: &LoginKey) -> Result<StoreLock, TokenStoreError> {
        Ok(StoreLock::none())
    }
}
