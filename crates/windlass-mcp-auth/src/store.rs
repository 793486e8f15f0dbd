//! Stores of logins.

mod file;
mod memory;

pub use file::FileTokenStore;
pub use memory::MemoryTokenStore;

use crate::SecretText;
use crate::client::AuthClient;
use crate::discover::DiscoveredServer;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Key of a login: a server and an account.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct LoginKey {
    /// Address of the server, in the form used to connect.
    pub server: String,
    /// Name that distinguishes several logins to one server; often empty.
    pub account: String,
}

impl LoginKey {
    /// Creates the key of a server and an account.
    #[must_use]
    pub fn new(server: impl Into<String>, account: impl Into<String>) -> Self {
        Self { server: server.into(), account: account.into() }
    }
}

/// Stored login: the client, its tokens, and the servers they are for. Its serialized form holds the tokens, so keep
/// that text at a place for secrets. Its debug form does not show them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedLogin {
    pub(crate) issuer: String,
    pub(crate) token_endpoint: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) revocation_endpoint: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) resource: Option<String>,
    pub(crate) client: AuthClient,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) access_token: Option<SecretText>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) refresh_token: Option<SecretText>,
    /// End of the access token, in milliseconds since the Unix epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) expires_at: Option<u64>,
    /// Time of the next renewal, in milliseconds since the Unix epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) renew_at: Option<u64>,
    /// Scopes that were requested or granted.
    #[serde(default)]
    pub(crate) scopes: Vec<String>,
    /// Scopes that a request needed and the tokens do not have: the next login requests them too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) wanted: Vec<String>,
}

impl SavedLogin {
    /// Creates the login of a client that has no tokens yet.
    pub(crate) fn without_tokens(found: DiscoveredServer, client: AuthClient, scopes: Vec<String>) -> Self {
        Self {
            issuer: found.server.issuer,
            token_endpoint: found.server.token_endpoint,
            revocation_endpoint: None,
            resource: found.resource,
            client,
            access_token: None,
            refresh_token: None,
            expires_at: None,
            renew_at: None,
            scopes,
            wanted: Vec::new(),
        }
    }

    /// Returns the issuer of the tokens.
    #[must_use]
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// `true` if the login holds a token.
    #[must_use]
    pub fn has_tokens(&self) -> bool {
        self.access_token.is_some() || self.refresh_token.is_some()
    }
}

/// Failure of a store: the reason, for people, without secrets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TokenStoreError(String);

impl TokenStoreError {
    /// Creates an error with the reason.
    #[must_use]
    pub fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

impl From<std::io::Error> for TokenStoreError {
    fn from(error: std::io::Error) -> Self {
        Self(error.to_string())
    }
}

/// Stores logins. Implement it to keep them in a keyring, a vault or a database of a host.
///
/// ```
/// use std::collections::HashMap;
/// use std::sync::Mutex;
/// use windlass_mcp_auth::{LoginKey, SavedLogin, StoreLock, TokenStore, TokenStoreError};
///
/// /// A vault that keeps texts.
/// #[derive(Debug, Default)]
/// struct Vault(Mutex<HashMap<LoginKey, String>>);
///
/// #[async_trait::async_trait]
/// impl TokenStore for Vault {
///     async fn load(&self, key: &LoginKey) -> Result<Option<SavedLogin>, TokenStoreError> {
///         let kept = self.0.lock().expect("no panic");
///         Ok(kept.get(key).and_then(|text| serde_json::from_str(text).ok()))
///     }
///     async fn save(&self, key: &LoginKey, login: &SavedLogin) -> Result<(), TokenStoreError> {
///         let text = serde_json::to_string(login).map_err(|error| TokenStoreError::new(error.to_string()))?;
///         self.0.lock().expect("no panic").insert(key.clone(), text);
///         Ok(())
///     }
///     async fn remove(&self, key: &LoginKey) -> Result<(), TokenStoreError> {
///         self.0.lock().expect("no panic").remove(key);
///         Ok(())
///     }
///     async fn lock(&self, _: &LoginKey) -> Result<StoreLock, TokenStoreError> {
///         Ok(StoreLock::none())
///     }
/// }
/// ```
#[async_trait]
pub trait TokenStore: fmt::Debug + Send + Sync + 'static {
    /// Returns the login of a key, if there is one.
    ///
    /// # Errors
    /// Fails if the store cannot be read. A damaged login counts as none.
    async fn load(&self, key: &LoginKey) -> Result<Option<SavedLogin>, TokenStoreError>;

    /// Stores a login, in place of the one before. When the call returns, the login must survive the end of the
    /// process: a token that is lost after it was renewed cannot be renewed again.
    ///
    /// # Errors
    /// Fails if the login is not stored. The login before is unchanged.
    async fn save(&self, key: &LoginKey, login: &SavedLogin) -> Result<(), TokenStoreError>;

    /// Removes a login. A missing one is no error.
    ///
    /// # Errors
    /// Fails if the login is still there.
    async fn remove(&self, key: &LoginKey) -> Result<(), TokenStoreError>;

    /// Keeps others from renewing the tokens of a key until the lock is dropped: many servers permit one renewal of a
    /// token, and revoke all of them at a second one. A store that only one process uses needs no lock: within a
    /// process each key is renewed by one task at a time anyway.
    ///
    /// # Errors
    /// Fails if the lock is held for too long.
    async fn lock(&self, key: &LoginKey) -> Result<StoreLock, TokenStoreError>;
}

/// Lock that is held while tokens are renewed. Dropping it ends the lock.
#[derive(Debug)]
pub struct StoreLock(#[expect(dead_code, reason = "held until it is dropped")] Option<Box<dyn StoreGuard>>);

/// Any value that ends a lock when it is dropped.
trait StoreGuard: fmt::Debug + Send + Sync {}
impl<T: fmt::Debug + Send + Sync> StoreGuard for T {}

impl StoreLock {
    /// Returns no lock.
    #[must_use]
    pub fn none() -> Self {
        Self(None)
    }

    /// Creates a lock that ends when `guard` is dropped.
    #[must_use]
    pub fn of(guard: impl fmt::Debug + Send + Sync + 'static) -> Self {
        Self(Some(Box::new(guard)))
    }
}

const fn _is_object_safe(_: &dyn TokenStore) {}
