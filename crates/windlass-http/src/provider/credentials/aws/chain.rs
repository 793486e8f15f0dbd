use super::super::{AwsKeys, Credential, Credentials};
use async_trait::async_trait;
use aws_config::{BehaviorVersion, ConfigLoader, Region, SdkConfig};
use aws_credential_types::provider::ProvideCredentials;
use aws_credential_types::provider::error::CredentialsError;
use aws_smithy_http_client::Builder;
use aws_smithy_http_client::tls::{Provider, rustls_provider::CryptoMode};
use std::fmt;
use std::sync::Arc;
use std::time::UNIX_EPOCH;
use tokio::sync::OnceCell;
use windlass_model::ModelError;
use windlass_types::{ModelErrorKind, Timestamp};

/// Keys of AWS from the vendor's own chain: variables, profiles that sign in or take roles, web identities, and the
/// services of containers and machines.
///
/// The chain reads the environment of the process and the files that it names. Wrap this source into
/// [`RefreshingCredentials`](super::super::RefreshingCredentials).
#[derive(Clone, Default)]
pub struct AwsChainCredentials {
    profile: Option<String>,
    region: Option<String>,
    config: Arc<OnceCell<SdkConfig>>,
}

impl AwsChainCredentials {
    /// Creates the chain as configured by the environment of the process.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the profile. Default: that in `AWS_PROFILE`, else `default`.
    #[must_use]
    pub fn profile(self, name: impl Into<String>) -> Self {
        Self { profile: Some(name.into()), config: Arc::default(), ..self }
    }

    /// Sets the region in which roles are taken. Default: that of variables and profile.
    #[must_use]
    pub fn region(self, region: impl Into<String>) -> Self {
        Self { region: Some(region.into()), config: Arc::default(), ..self }
    }

    async fn load(&self) -> SdkConfig {
        let client = Builder::new().tls_provider(Provider::Rustls(CryptoMode::Ring)).build_https();
        let mut loader: ConfigLoader = aws_config::defaults(BehaviorVersion::latest()).http_client(client);
        if let Some(profile) = &self.profile {
            loader = loader.profile_name(profile);
        }
        if let Some(region) = &self.region {
            loader = loader.region(Region::new(region.clone()));
        }
        loader.load().await
    }
}

impl fmt::Debug for AwsChainCredentials {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("AwsChainCredentials").field("profile", &self.profile).finish_non_exhaustive()
    }
}

#[async_trait]
impl Credentials for AwsChainCredentials {
    async fn credential(&self) -> Result<Credential, ModelError> {
        let config = self.config.get_or_init(|| self.load()).await;
        let error = |kind, what: &str| ModelError::new(kind, format!("the credential chain of AWS {what}")).unbilled();
        let source =
            config.credentials_provider().ok_or_else(|| error(ModelErrorKind::Authentication, "has no source"))?;
        let found = source.provide_credentials().await.map_err(|failure| {
            let (kind, what) = match failure {
                CredentialsError::CredentialsNotLoaded(_) => (ModelErrorKind::Authentication, "found no credentials"),
                CredentialsError::InvalidConfiguration(_) => {
                    (ModelErrorKind::Configuration, "is set up in a way that it cannot use")
                }
                CredentialsError::ProviderTimedOut(_) => (ModelErrorKind::Timeout, "took too long"),
                _ => (ModelErrorKind::Connection, "failed"),
            };
            error(kind, what).with_source(failure)
        })?;
        let token = found.session_token().unwrap_or_default();
        let keys = AwsKeys::new(found.access_key_id(), found.secret_access_key()).with_session_token(token);
        let since = found.expiry().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        Ok(Credential::aws(keys).expiring_at(since.map(|since| Timestamp::from_millis(0).after(since))))
    }
}

#[cfg(test)]
mod tests;
