use super::{AwsKeys, Credential, Credentials};
use crate::Secret;
use async_trait::async_trait;
use std::fmt;
use std::sync::Arc;
use windlass_model::ModelError;
use windlass_types::{ModelErrorKind, Timestamp};

/// Credentials in variables, which are looked up at each request.
#[derive(Clone)]
pub struct EnvironmentCredentials {
    /// Variable of a bearer token; `None` for keys of AWS.
    bearer: Option<String>,
    lookup: Arc<VariableLookup>,
}

type VariableLookup = dyn Fn(&str) -> Option<String> + Send + Sync;

impl EnvironmentCredentials {
    /// Creates a source of the token in a variable.
    pub fn bearer(
        variable: impl Into<String>,
        lookup: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        Self { bearer: Some(variable.into()), lookup: Arc::new(lookup) }
    }

    /// Creates a source of the keys in `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`, which
    /// expire at `AWS_CREDENTIAL_EXPIRATION`, if that is set.
    pub fn aws(lookup: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self { bearer: None, lookup: Arc::new(lookup) }
    }

    fn get(&self, name: &str) -> Option<String> {
        (self.lookup)(name).filter(|value| !value.trim().is_empty())
    }

    fn required(&self, name: &str) -> Result<String, ModelError> {
        let missing = || ModelError::new(ModelErrorKind::Authentication, format!("{name} is not set")).unbilled();
        self.get(name).ok_or_else(missing)
    }
}

impl fmt::Debug for EnvironmentCredentials {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("EnvironmentCredentials").field("bearer", &self.bearer).finish_non_exhaustive()
    }
}

#[async_trait]
impl Credentials for EnvironmentCredentials {
    async fn credential(&self) -> Result<Credential, ModelError> {
        if let Some(variable) = &self.bearer {
            return Ok(Credential::bearer(self.required(variable)?));
        }
        let mut keys = AwsKeys::new(self.required("AWS_ACCESS_KEY_ID")?, self.required("AWS_SECRET_ACCESS_KEY")?);
        keys.session_token = self.get("AWS_SESSION_TOKEN").map(Secret::new);
        let expiry = self.get("AWS_CREDENTIAL_EXPIRATION").and_then(|text| Timestamp::parse(text.trim()));
        Ok(Credential::aws(keys).expiring_at(expiry))
    }
}
