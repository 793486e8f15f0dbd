use crate::endpoint;
use crate::error::ConverseErrors;
use crate::provider::{Bedrock, ConverseState};
use crate::service::RegionalService;
use crate::whole::WholeModels;
use std::collections::BTreeMap;
use std::sync::Arc;
use windlass_http::provider::{AwsAccess, Clock, Credentials, Secrets, Vendor, custom_header, from_http};
use windlass_http::{HeaderMap, HeaderValue, HttpOptions, Secret};
use windlass_model::ModelError;
use windlass_types::{ModelErrorKind, Timestamp};

/// Builder of a [`Bedrock`] provider.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct BedrockBuilder {
    region: Option<String>,
    key: Option<Secret>,
    credentials: Option<Arc<dyn Credentials>>,
    base_url: Option<String>,
    headers: Vec<(String, Secret)>,
    stand_ins: BTreeMap<String, String>,
    options: HttpOptions,
    clock: Clock,
}

impl BedrockBuilder {
    /// Sets the region: `us-east-1`. The region in a model's ARN takes precedence.
    pub fn region(mut self, region: impl Into<String>) -> Self {
        self.region = Some(region.into());
        self
    }

    /// Sets an API key of Bedrock, sent as `authorization: Bearer`. An empty key counts as none.
    pub fn api_key(mut self, key: impl AsRef<str>) -> Self {
        (self.key, self.credentials) = (Some(Secret::new(key)).filter(|key| !key.is_empty()), None);
        self
    }

    /// Sets a source of credentials, asked before each request: keys of AWS, which sign the requests, or API keys. A
    /// request that is refused because of its credential is sent once more if the source then has another one.
    pub fn credentials(mut self, source: impl Credentials) -> Self {
        self.key = None;
        self.credentials = Some(Arc::new(source));
        self
    }

    /// Sets the clock by which requests are signed. Default: that of this machine.
    pub fn clock(mut self, now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        self.clock = Clock::new(now);
        self
    }

    /// Sets the base URL, without `/model`. Default: `https://bedrock-runtime.{region}.amazonaws.com`.
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = Some(url.into());
        self
    }

    /// Sets the model behind an id that does not show it, such as the ARN of an application inference profile: its
    /// limits and abilities are those of that model.
    pub fn stands_for(mut self, id: impl Into<String>, model: impl Into<String>) -> Self {
        self.stand_ins.insert(id.into(), model.into());
        self
    }

    /// Adds a header to every request; it replaces a default header of the same name.
    pub fn header(mut self, name: impl Into<String>, value: impl AsRef<str>) -> Self {
        self.headers.push((name.into(), Secret::new(value)));
        self
    }

    windlass_http::connection_methods!(options, "Default: 120 s.");

    /// Reads the settings that [`Bedrock::from_env`] names from a lookup. May read the files of profiles.
    pub fn lookup(mut self, lookup: impl Fn(&str) -> Option<String>) -> Self {
        let get = |name: &str| lookup(name).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        self.options.look_up(&lookup);
        let access = AwsAccess::from_lookup(&lookup);
        self.region = access.region.or(self.region);
        if let Some(credentials) = access.credentials {
            self = self.credentials(credentials);
        }
        let own = ["AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "AWS_ENDPOINT_URL"].iter().find_map(|name| get(name));
        let gateway = || {
            let url = get("ANTHROPIC_BEDROCK_BASE_URL")?;
            let base = url.trim_end_matches('/');
            Some(base.strip_suffix("/anthropic").unwrap_or(base).to_owned())
        };
        match own.or_else(gateway) {
            Some(url) => self.base_url(url),
            None => self,
        }
    }

    /// Builds the provider. The first request opens the connection.
    ///
    /// # Errors
    /// `Authentication` without credentials; `Configuration` without a region, and for an unusable base URL, region or
    /// header.
    pub fn build(self) -> Result<Bedrock, ModelError> {
        let mut secrets = Secrets::default();
        let mut headers = HeaderMap::new();
        headers.insert("content-type", HeaderValue::from_static("application/json"));
        if let Some(key) = self.key {
            headers.insert("authorization", key.header("Bearer ").map_err(from_http)?);
            secrets.push(key);
        }
        for (name, value) in &self.headers {
            let (name, value) = custom_header(name, value, "")?;
            headers.insert(name, value);
        }
        for (_, value) in self.headers {
            secrets.push(value);
        }
        if self.credentials.is_none() && !headers.contains_key("authorization") {
            let text = "no credentials: set AWS_BEARER_TOKEN_BEDROCK, AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";
            return Err(ModelError::new(ModelErrorKind::Authentication, text));
        }
        if let Some(region) = &self.region
            && !endpoint::is_region(region)
        {
            let text = format!("{region:?} is no region: it looks like us-east-1");
            return Err(ModelError::new(ModelErrorKind::Configuration, text));
        }
        let service = RegionalService::new(self.base_url, self.region, self.options)?;
        let vendor = Vendor::new("the AWS credentials or AWS_BEARER_TOKEN_BEDROCK", "the region");
        Ok(Bedrock::assembled(ConverseState {
            service,
            headers,
            credentials: self.credentials,
            stand_ins: self.stand_ins,
            faults: ConverseErrors { vendor, secrets },
            clock: self.clock,
            whole: WholeModels::default(),
        }))
    }
}
