//! Credentials and region from the places of the vendor's own tools: variables, and the files of profiles.

#[cfg(feature = "aws-chain")]
mod chain;
mod profile;

#[cfg(feature = "aws-chain")]
pub use chain::AwsChainCredentials;
pub use profile::AwsProfileCredentials;

use super::{Credential, Credentials, EnvironmentCredentials, RefreshingCredentials};
use std::sync::Arc;

/// Access to AWS according to variables and files.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AwsAccess {
    /// Source of credentials. `None` if neither variables nor files name any.
    pub credentials: Option<Arc<dyn Credentials>>,
    /// Region, if one is named.
    pub region: Option<String>,
}

impl AwsAccess {
    /// Uses the first available one of: the key of Bedrock in `AWS_BEARER_TOKEN_BEDROCK`; the profile in `AWS_PROFILE`;
    /// the keys in `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`; the profile `default`. A named
    /// profile takes precedence over keys that merely happen to be set. With the feature `aws-chain`, profiles may sign
    /// in and take roles, and the chain of the vendor is asked if nothing is named.
    ///
    /// The region is that of `AWS_REGION`, `AWS_DEFAULT_REGION`, or of the profile. Reads the files of profiles for it,
    /// if necessary.
    pub fn from_lookup(lookup: &dyn Fn(&str) -> Option<String>) -> Self {
        let get = |name: &str| lookup(name).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        let profile = AwsProfileCredentials::from_lookup(lookup);
        let region = get("AWS_REGION").or_else(|| get("AWS_DEFAULT_REGION")).or_else(|| profile.region());
        let named = get("AWS_PROFILE").or_else(|| get("AWS_DEFAULT_PROFILE")).is_some();
        let keys = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"].iter().all(|name| get(name).is_some());
        let credentials: Option<Arc<dyn Credentials>> = match get("AWS_BEARER_TOKEN_BEDROCK") {
            Some(token) => Some(Arc::new(Credential::bearer(token))),
            None if keys && !named => Some(Arc::new(environment(&get))),
            None => of_profile(profile, named, region.as_deref()),
        };
        Self { credentials, region }
    }
}

#[cfg(not(feature = "aws-chain"))]
fn of_profile(profile: AwsProfileCredentials, named: bool, _: Option<&str>) -> Option<Arc<dyn Credentials>> {
    (named || profile.exists()).then(|| Arc::new(RefreshingCredentials::new(profile)) as Arc<dyn Credentials>)
}

#[cfg(feature = "aws-chain")]
fn of_profile(profile: AwsProfileCredentials, named: bool, region: Option<&str>) -> Option<Arc<dyn Credentials>> {
    let mut chain = AwsChainCredentials::new();
    if named {
        chain = chain.profile(profile.name());
    }
    if let Some(region) = region {
        chain = chain.region(region);
    }
    Some(Arc::new(RefreshingCredentials::new(ProfileOrChain { profile, chain })))
}

/// Keys in the files, with the vendor's chain as the fallback.
#[cfg(feature = "aws-chain")]
#[derive(Debug)]
struct ProfileOrChain {
    profile: AwsProfileCredentials,
    chain: AwsChainCredentials,
}

#[cfg(feature = "aws-chain")]
#[async_trait::async_trait]
impl Credentials for ProfileOrChain {
    async fn credential(&self) -> Result<Credential, windlass_model::ModelError> {
        match self.profile.credential().await {
            Err(error) if error.kind == windlass_types::ModelErrorKind::Authentication => self.chain.credential().await,
            found => found,
        }
    }
}

/// Captures the keys that the variables hold now.
fn environment(get: &dyn Fn(&str) -> Option<String>) -> EnvironmentCredentials {
    const NAMES: [&str; 4] =
        ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_CREDENTIAL_EXPIRATION"];
    let held: Vec<_> = NAMES.into_iter().filter_map(|name| Some((name, get(name)?))).collect();
    EnvironmentCredentials::aws(move |name| {
        held.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone())
    })
}

#[cfg(test)]
mod tests;
