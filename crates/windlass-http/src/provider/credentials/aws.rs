//! Credentials and region where the vendor's own tools have them: variables, and the files of profiles.

mod profile;

pub use profile::AwsProfileCredentials;

use super::{Credential, Credentials, EnvironmentCredentials, RefreshingCredentials};
use std::sync::Arc;

/// What variables and files say about access to AWS.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AwsAccess {
    /// Where credentials come from. `None`: neither variables nor files name any.
    pub credentials: Option<Arc<dyn Credentials>>,
    /// The region, if one is named.
    pub region: Option<String>,
}

impl AwsAccess {
    /// Takes the first that is there of: the key of Bedrock in `AWS_BEARER_TOKEN_BEDROCK`; the profile in `AWS_PROFILE`;
    /// the keys in `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`; the profile `default`. A profile that
    /// is named goes before keys that merely happen to be set.
    ///
    /// The region is that of `AWS_REGION`, `AWS_DEFAULT_REGION`, or of the profile. Reads the files of profiles for it,
    /// if it has to.
    pub fn from_lookup(lookup: &dyn Fn(&str) -> Option<String>) -> Self {
        let get = |name: &str| lookup(name).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        let profile = AwsProfileCredentials::from_lookup(lookup);
        let region = get("AWS_REGION").or_else(|| get("AWS_DEFAULT_REGION")).or_else(|| profile.region());
        let named = get("AWS_PROFILE").or_else(|| get("AWS_DEFAULT_PROFILE")).is_some();
        let keys = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"].iter().all(|name| get(name).is_some());
        let credentials: Option<Arc<dyn Credentials>> = match get("AWS_BEARER_TOKEN_BEDROCK") {
            Some(token) => Some(Arc::new(Credential::bearer(token))),
            None if keys && !named => Some(Arc::new(environment(&get))),
            None if named || profile.exists() => Some(Arc::new(RefreshingCredentials::new(profile))),
            None => None,
        };
        Self { credentials, region }
    }
}

/// The keys that variables hold now.
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
