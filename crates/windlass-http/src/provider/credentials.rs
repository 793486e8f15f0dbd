//! Sources of credentials: the port, and the sources that need nothing but this machine.

mod aws;
mod clock;
mod command;
mod environment;
mod file;
mod google;
mod read;
mod refreshing;

#[cfg(feature = "aws-chain")]
pub use aws::AwsChainCredentials;
pub use aws::{AwsAccess, AwsProfileCredentials};
pub use clock::Clock;
pub use command::CommandCredentials;
pub use environment::EnvironmentCredentials;
pub use file::FileCredentials;
#[cfg(feature = "google-adc")]
pub use google::GoogleAdcCredentials;
pub use google::{GoogleUserCredentials, google_credentials};
pub use refreshing::RefreshingCredentials;

use super::Secrets;
use crate::Secret;
use async_trait::async_trait;
use std::fmt::Debug;
use std::sync::Arc;
use windlass_model::ModelError;
use windlass_types::Timestamp;

/// Source of credentials for an API.
///
/// The source is asked before each request, so slow sources belong into [`RefreshingCredentials`], which keeps a
/// credential until shortly before it expires and refreshes it once for all callers.
///
/// ```
/// # mod windlass { pub mod provider { pub use windlass_http::provider::*; pub use windlass_model::ModelError; } }
/// use windlass::provider::{Credential, Credentials, ModelError};
///
/// /// Hands out what another part of the program keeps fresh.
/// #[derive(Debug)]
/// struct Kept(std::sync::RwLock<String>);
///
/// #[async_trait::async_trait]
/// impl Credentials for Kept {
///     async fn credential(&self) -> Result<Credential, ModelError> {
///         let token = self.0.read().unwrap_or_else(|poisoned| poisoned.into_inner());
///         Ok(Credential::bearer(token.as_str()))
///     }
/// }
/// ```
#[async_trait]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a source of credentials",
    note = "a `Credential` is one itself; for others implement `Credentials`"
)]
pub trait Credentials: Debug + Send + Sync + 'static {
    /// Returns a credential that is valid now.
    ///
    /// Cancel safety: the call may be dropped at any time.
    ///
    /// # Errors
    /// Fails if there is no credential: `Authentication` or `Configuration` if only the user can change that, a
    /// transient kind otherwise.
    async fn credential(&self) -> Result<Credential, ModelError>;

    /// Records that the API did not accept a credential (401 or 403), so that the next call of
    /// [`credential`](Self::credential) does not return a kept copy of it.
    fn refused(&self, credential: &Credential) {
        let _ = credential;
    }
}

const _: fn(&dyn Credentials) = |_| {};

/// Returns another credential of a source, for a call that was refused because of its credential. `None` if the source
/// has no other.
#[doc(hidden)]
pub async fn other_credential(source: &dyn Credentials, refused: &Credential) -> Option<Credential> {
    source.refused(refused);
    source.credential().await.ok().filter(|other| other != refused)
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<T: Credentials + ?Sized> Credentials for Arc<T> {
    async fn credential(&self) -> Result<Credential, ModelError> {
        (**self).credential().await
    }

    fn refused(&self, credential: &Credential) {
        (**self).refused(credential);
    }
}

/// Credential of a request. Its debug form shows no secret.
///
/// A credential is a source of itself, for keys that do not change.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Credential {
    /// Secret of the credential.
    pub key: CredentialKey,
    /// Time of expiry. `None` if unknown or never.
    pub expires_at: Option<Timestamp>,
}

/// Kinds of secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CredentialKey {
    /// Token, sent as `authorization: Bearer`.
    Bearer(Secret),
    /// Keys of AWS, which sign requests and are not sent.
    Aws(AwsKeys),
}

/// Keys of AWS.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AwsKeys {
    /// Id of the key, which requests show.
    pub access_key_id: Secret,
    /// Secret key.
    pub secret_access_key: Secret,
    /// Token that is sent beside the signature of a temporary key.
    pub session_token: Option<Secret>,
}

impl AwsKeys {
    /// Creates keys without a session token.
    pub fn new(access_key_id: impl AsRef<str>, secret_access_key: impl AsRef<str>) -> Self {
        Self {
            access_key_id: Secret::new(access_key_id),
            secret_access_key: Secret::new(secret_access_key),
            session_token: None,
        }
    }

    /// Adds the session token of temporary keys. An empty token is ignored.
    #[must_use]
    pub fn with_session_token(mut self, token: impl AsRef<str>) -> Self {
        self.session_token = Some(Secret::new(token)).filter(|token| !token.is_empty());
        self
    }
}

impl Credential {
    /// Creates a token, sent as `authorization: Bearer`.
    pub fn bearer(token: impl AsRef<str>) -> Self {
        Self { key: CredentialKey::Bearer(Secret::new(token)), expires_at: None }
    }

    /// Creates a credential of AWS keys.
    pub fn aws(keys: AwsKeys) -> Self {
        Self { key: CredentialKey::Aws(keys), expires_at: None }
    }

    /// Sets the time of expiry.
    #[must_use]
    pub fn expiring_at(mut self, at: Option<Timestamp>) -> Self {
        self.expires_at = at;
        self
    }

    /// Adds the secrets of this credential to those that are masked in texts.
    pub fn keep_out(&self, secrets: &mut Secrets) {
        match &self.key {
            CredentialKey::Bearer(token) => secrets.push(token.clone()),
            CredentialKey::Aws(keys) => {
                secrets.push(keys.secret_access_key.clone());
                secrets.push(keys.access_key_id.clone());
                keys.session_token.iter().for_each(|token| secrets.push(token.clone()));
            }
        }
    }
}

#[async_trait]
impl Credentials for Credential {
    async fn credential(&self) -> Result<Credential, ModelError> {
        Ok(self.clone())
    }
}

#[cfg(test)]
mod tests;
