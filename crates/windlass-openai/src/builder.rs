use std::time::Duration;

use windlass_http::provider::{Secrets, custom_header, from_http};
use windlass_http::{HeaderMap, HeaderValue, HttpClient, HttpOptions, Secret};
use windlass_model::ModelError;
use windlass_types::{ModelErrorKind, ModelInfo};

use crate::OpenAi;
use crate::responses::ResponsesSettings;

const BASE_URL: &str = "https://api.openai.com/v1";

/// Models may reason for minutes before the first word, and send nothing meanwhile.
const IDLE_TIMEOUT: Duration = Duration::from_secs(300);

/// Builder of an [`OpenAi`] provider.
#[derive(Clone, Debug)]
#[must_use]
pub struct OpenAiBuilder {
    key: Option<Secret>,
    base_url: Option<String>,
    organization: Option<String>,
    project: Option<String>,
    headers: Vec<(String, Secret)>,
    options: HttpOptions,
    settings: ResponsesSettings,
}

impl Default for OpenAiBuilder {
    fn default() -> Self {
        let mut options = HttpOptions::default();
        options.idle_timeout = IDLE_TIMEOUT;
        Self {
            key: None,
            base_url: None,
            organization: None,
            project: None,
            headers: Vec::new(),
            options,
            settings: ResponsesSettings::default(),
        }
    }
}

impl OpenAiBuilder {
    /// Sets the short name of the provider. The name is part of the origin of messages: reasoning is sent back only to
    /// a provider of the same name, so endpoints that cannot read each other's reasoning need different names. Default:
    /// `openai`.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.settings.name = name.into();
        self
    }

    /// Sets the API key. An empty key is ignored. The key is sent as `authorization: Bearer`, to hosts of Azure as
    /// `api-key`.
    pub fn api_key(mut self, key: impl AsRef<str>) -> Self {
        self.key = Some(Secret::new(key)).filter(|key| !key.is_empty());
        self
    }

    /// Sets the base URL, with the version: the part before `/responses`. Default: `https://api.openai.com/v1`. For
    /// Azure it is `https://RESOURCE.openai.azure.com/openai/v1`, and models are named by their deployments.
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = Some(url.into());
        self
    }

    /// Sets the organization that is billed, for keys that belong to several.
    pub fn organization(mut self, id: impl Into<String>) -> Self {
        self.organization = Some(id.into());
        self
    }

    /// Sets the project that is billed, for keys that belong to several.
    pub fn project(mut self, id: impl Into<String>) -> Self {
        self.project = Some(id.into());
        self
    }

    /// Adds a header to every request; it replaces a default header of the same name.
    pub fn header(mut self, name: impl Into<String>, value: impl AsRef<str>) -> Self {
        self.headers.push((name.into(), Secret::new(value)));
        self
    }

    /// Describes a model by its exact name, such as a deployment of Azure. The description takes precedence over the
    /// known one. A model reasons if its description has adaptive thinking, a thinking budget or efforts.
    pub fn model(mut self, name: impl Into<String>, info: ModelInfo) -> Self {
        self.settings.models.push((name.into(), info));
        self
    }

    /// Sets whether summaries of the reasoning are requested. Default: yes. The API refuses them to organizations that
    /// are not verified.
    pub fn reasoning_summaries(mut self, on: bool) -> Self {
        self.settings.summaries = on;
        self
    }

    windlass_http::connection_methods!(
        options,
        "Default: 300 s, because models may reason for minutes before their first word."
    );

    /// Reads the settings that [`OpenAi::from_env`] names from a lookup.
    pub fn lookup(mut self, lookup: impl Fn(&str) -> Option<String>) -> Self {
        self.options.look_up(&lookup);
        let lookup = |name: &str| lookup(name).filter(|value| !value.trim().is_empty());
        if let Some(key) = lookup("OPENAI_API_KEY") {
            self = self.api_key(key);
        }
        if let Some(url) = lookup("OPENAI_BASE_URL") {
            self = self.base_url(url.trim());
        }
        if let Some(id) = lookup("OPENAI_ORG_ID").or_else(|| lookup("OPENAI_ORGANIZATION")) {
            self = self.organization(id.trim());
        }
        if let Some(id) = lookup("OPENAI_PROJECT_ID") {
            self = self.project(id.trim());
        }
        self
    }

    /// Builds the provider. The first request opens the connection.
    ///
    /// # Errors
    /// `Authentication` without a key; `Configuration` for an unusable base URL or header.
    pub fn build(self) -> Result<OpenAi, ModelError> {
        let mut secrets = Secrets::default();
        let mut headers = HeaderMap::new();
        headers.insert("content-type", HeaderValue::from_static("application/json"));
        for (name, id) in [("openai-organization", &self.organization), ("openai-project", &self.project)] {
            if let Some(id) = id {
                headers.insert(name, plain_header(name, id)?);
            }
        }
        for (name, value) in self.headers {
            let (name, header) = custom_header(&name, &value, "")?;
            headers.insert(name, header);
            secrets.push(value);
        }
        let base_url = self.base_url.as_deref().unwrap_or(BASE_URL);
        let client = HttpClient::new(base_url, self.options).map_err(from_http)?;
        let own = ["authorization", "api-key"].iter().any(|name| headers.contains_key(*name));
        match self.key {
            Some(key) => {
                let (name, prefix) = credential_header(client.host());
                headers.insert(name, key.header(prefix).map_err(from_http)?);
                secrets.push(key);
            }
            None if own => {}
            None => {
                return Err(ModelError::new(
                    ModelErrorKind::Authentication,
                    "no API key: set OPENAI_API_KEY, or give it to the builder",
                ));
            }
        }
        Ok(OpenAi::assembled(client, headers, secrets, self.settings))
    }
}

/// Returns the header of the key and the prefix of its value. Azure takes a bearer token only from its own identity
/// service.
fn credential_header(host: &str) -> (&'static str, &'static str) {
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    if name.ends_with(".azure.com") || name.ends_with(".azure.us") {
        ("api-key", "")
    } else {
        ("authorization", "Bearer ")
    }
}

fn plain_header(name: &str, value: &str) -> Result<HeaderValue, ModelError> {
    HeaderValue::from_str(value)
        .map_err(|_| ModelError::new(ModelErrorKind::Configuration, format!("the value for {name} cannot be a header")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn azure_has_the_key_in_a_header_of_its_own() {
        for (host, name) in [
            ("api.openai.com", "authorization"),
            ("localhost:8080", "authorization"),
            ("mine.openai.azure.com", "api-key"),
            ("mine.services.ai.azure.com:443", "api-key"),
            ("mine.openai.azure.us", "api-key"),
            ("azure.com.example.org", "authorization"),
        ] {
            assert_eq!(credential_header(host).0, name, "{host}");
        }
    }
}
