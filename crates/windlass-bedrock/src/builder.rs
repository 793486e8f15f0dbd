use crate::endpoint;
use crate::error::Faults;
use crate::provider::{Bedrock, Key};
use crate::service::Service;
use std::collections::BTreeMap;
use std::time::Duration;
use windlass_http::provider::{Secrets, Vendor, custom_header, from_http};
use windlass_http::{HeaderMap, HeaderValue, HttpOptions, Secret};
use windlass_model::ModelError;
use windlass_types::ModelErrorKind;

/// Sets up a [`Bedrock`] provider.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct BedrockBuilder {
    region: Option<String>,
    key: Option<Secret>,
    base_url: Option<String>,
    headers: Vec<(String, Secret)>,
    profiles: BTreeMap<String, String>,
    options: HttpOptions,
}

impl BedrockBuilder {
    /// Sets the region: `us-east-1`. The ARN of a model names its own, which wins.
    pub fn region(mut self, region: impl Into<String>) -> Self {
        self.region = Some(region.into());
        self
    }

    /// Sets an API key of Bedrock, sent as `authorization: Bearer`. An empty one counts as none.
    pub fn api_key(mut self, key: impl AsRef<str>) -> Self {
        self.key = Some(Secret::new(key)).filter(|key| !key.is_empty());
        self
    }

    /// Sets the base URL, without `/model`. Default: `https://bedrock-runtime.{region}.amazonaws.com`.
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = Some(url.into());
        self
    }

    /// Says which model is behind a name that does not show it, such as the ARN of an application inference profile. What
    /// is known of that model then holds for the name.
    pub fn inference_profile(mut self, name: impl Into<String>, model: impl Into<String>) -> Self {
        self.profiles.insert(name.into(), model.into());
        self
    }

    /// Adds a header to every request; it replaces one that windlass would send.
    pub fn header(mut self, name: impl Into<String>, value: impl AsRef<str>) -> Self {
        self.headers.push((name.into(), Secret::new(value)));
        self
    }

    /// Sets the longest time to establish a connection. Default: 30 s.
    pub fn connect_timeout(mut self, limit: Duration) -> Self {
        self.options.connect_timeout = limit;
        self
    }

    /// Sets the longest time without a byte of an answer. Default: 120 s.
    pub fn idle_timeout(mut self, limit: Duration) -> Self {
        self.options.idle_timeout = limit;
        self
    }

    /// Sets the longest time in which nothing comes that adds to the answer. Default: 600 s.
    pub fn stall_timeout(mut self, limit: Duration) -> Self {
        self.options.stall_timeout = limit;
        self
    }

    /// Takes the settings that [`Bedrock::from_env`] names from a lookup.
    pub fn lookup(mut self, lookup: impl Fn(&str) -> Option<String>) -> Self {
        let first =
            |names: &[&str]| names.iter().find_map(|name| lookup(name).filter(|value| !value.trim().is_empty()));
        if let Some(region) = first(&["AWS_REGION", "AWS_DEFAULT_REGION"]) {
            self = self.region(region.trim());
        }
        if let Some(url) = first(&["AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "AWS_ENDPOINT_URL"]) {
            self = self.base_url(url);
        }
        if let Some(key) = first(&["AWS_BEARER_TOKEN_BEDROCK"]) {
            self = self.api_key(key);
        }
        self
    }

    /// Builds the provider. It connects at the first request.
    ///
    /// # Errors
    /// `Authentication` without credentials; `Configuration` without a region, and for a base URL, a region or a header
    /// that cannot be used.
    pub fn build(self) -> Result<Bedrock, ModelError> {
        let mut secrets = Secrets::default();
        let mut headers = HeaderMap::new();
        headers.insert("content-type", HeaderValue::from_static("application/json"));
        let key = match self.key {
            Some(key) => {
                headers.insert("authorization", key.header("Bearer ").map_err(from_http)?);
                secrets.push(key);
                Some(Key::InHeaders)
            }
            None => None,
        };
        for (name, value) in &self.headers {
            let (name, value) = custom_header(name, value, "")?;
            headers.insert(name, value);
        }
        for (_, value) in self.headers {
            secrets.push(value);
        }
        let Some(key) = key.or_else(|| headers.contains_key("authorization").then_some(Key::InHeaders)) else {
            let text = "no credentials: set AWS_BEARER_TOKEN_BEDROCK";
            return Err(ModelError::new(ModelErrorKind::Authentication, text));
        };
        if let Some(region) = &self.region
            && !endpoint::is_region(region)
        {
            let text = format!("{region:?} is no region: it looks like us-east-1");
            return Err(ModelError::new(ModelErrorKind::Configuration, text));
        }
        let service = Service::new(self.base_url, self.region, self.options)?;
        let vendor = Vendor::new("the AWS credentials or AWS_BEARER_TOKEN_BEDROCK", "the region");
        Ok(Bedrock::assembled(service, headers, key, self.profiles, Faults { vendor, secrets }))
    }
}
