use std::sync::Arc;

use windlass_http::provider::{Clock, Credential, Credentials, Secrets, ServerWindows, custom_header, from_http};
use windlass_http::{HeaderMap, HeaderValue, HttpClient, HttpOptions, Secret};
use windlass_model::{Catalogue, ModelError};
use windlass_types::{ModelErrorKind, Timestamp};

#[cfg(feature = "bedrock")]
use crate::platform::BedrockEndpoints;
use crate::{
    Anthropic,
    error::MessagesErrors,
    form::RefusedFields,
    platform::{Platform, Vertex, vendor},
    provider::AnthropicState,
};

const BASE_URL: &str = "https://api.anthropic.com";
const API_VERSION: &str = "2023-06-01";

/// Service that is called.
#[derive(Clone, Debug, Default)]
pub(crate) enum ServicePlatform {
    #[default]
    Anthropic,
    #[cfg(feature = "bedrock")]
    Bedrock {
        region: String,
    },
    Vertex {
        project: String,
        region: String,
    },
}

/// Builder of an [`Anthropic`] provider.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct AnthropicBuilder {
    place: ServicePlatform,
    key: Option<Secret>,
    credentials: Option<Arc<dyn Credentials>>,
    base_url: Option<String>,
    betas: Vec<String>,
    headers: Vec<(String, Secret)>,
    options: HttpOptions,
    catalogue: Catalogue,
    stand_ins: Vec<(String, String)>,
    clock: Clock,
}

impl AnthropicBuilder {
    pub(crate) fn on(place: ServicePlatform) -> Self {
        Self { place, ..Self::default() }
    }

    /// Sets the API key, sent as `x-api-key`, and to clouds as `authorization: Bearer`. An empty key counts as none.
    pub fn api_key(mut self, key: impl AsRef<str>) -> Self {
        if !matches!(self.place, ServicePlatform::Anthropic) {
            return self.auth_token(key);
        }
        self.key = Some(Secret::new(key)).filter(|key| !key.is_empty());
        self
    }

    /// Sets a token, sent as `authorization: Bearer` and used instead of the key. An empty token counts as none.
    pub fn auth_token(mut self, token: impl AsRef<str>) -> Self {
        let given = !token.as_ref().trim().is_empty();
        self.credentials = given.then(|| Arc::new(Credential::bearer(token)) as Arc<dyn Credentials>);
        self
    }

    /// Sets a source of credentials, used instead of the key and asked before each request: tokens, sent as
    /// `authorization: Bearer`, or on Bedrock keys of AWS, which sign the requests. A request that is refused because
    /// of its credential is sent once more if the source then has another one.
    pub fn credentials(mut self, source: impl Credentials) -> Self {
        self.credentials = Some(Arc::new(source));
        self
    }

    /// Sets the base URL, without `/v1`. Default: `https://api.anthropic.com`.
    ///
    /// On Bedrock the base URL is the part before `/v1/messages`, by default
    /// `https://bedrock-runtime.{region}.amazonaws.com/anthropic`; on Vertex AI the part before `/projects`, by default
    /// the host of the region with `/v1`.
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = Some(url.into());
        self
    }

    /// Enables a beta for every request.
    pub fn beta(mut self, beta: impl Into<String>) -> Self {
        self.betas.push(beta.into());
        self
    }

    /// Adds a header to every request; it replaces a default header of the same name.
    pub fn header(mut self, name: impl Into<String>, value: impl AsRef<str>) -> Self {
        self.headers.push((name.into(), Secret::new(value)));
        self
    }

    windlass_http::connection_methods!(options, "Default: 120 s.");

    /// Sets the catalogue of models: aliases, limits, prices. Default: the built-in tables.
    pub fn catalogue(mut self, catalogue: Catalogue) -> Self {
        self.catalogue = catalogue;
        self
    }

    /// Returns the models that the provider would know; no key is needed.
    pub fn known_models(&self) -> Vec<windlass_model::KnownModel> {
        let api = windlass_types::Api::new("anthropic", windlass_types::Api::MESSAGES);
        let mut models = self.catalogue.known_models(&api);
        for known in &mut models {
            known.info.web_search = crate::web_search::price(&known.id);
        }
        models
    }

    /// Sets the model behind an id that does not show it, such as the ARN of an application inference profile: its
    /// limits, abilities and prices are those of that model.
    pub fn stands_for(mut self, id: impl Into<String>, model: impl Into<String>) -> Self {
        self.stand_ins.push((id.into(), model.into()));
        self
    }

    /// Sets the clock by which requests are signed. Default: that of this machine.
    pub fn clock(mut self, now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        self.clock = Clock::new(now);
        self
    }

    /// Reads the settings that [`Anthropic::from_env`] names from a lookup. For a cloud: all but keys, tokens and the
    /// address of the API.
    pub fn lookup(mut self, lookup: impl Fn(&str) -> Option<String>) -> Self {
        self.options.look_up(&lookup);
        let lookup = |name: &str| lookup(name).filter(|value| !value.trim().is_empty());
        if matches!(self.place, ServicePlatform::Anthropic) {
            if let Some(key) = lookup("ANTHROPIC_API_KEY") {
                self = self.api_key(key);
            }
            if let Some(token) = lookup("ANTHROPIC_AUTH_TOKEN") {
                self = self.auth_token(token);
            }
            if let Some(url) = lookup("ANTHROPIC_BASE_URL") {
                self = self.base_url(url);
            }
        }
        for beta in lookup("ANTHROPIC_BETAS").iter().flat_map(|betas| betas.split(',')) {
            self = self.beta(beta);
        }
        for alias in ["opus", "sonnet", "haiku"] {
            if let Some(model) = lookup(&format!("ANTHROPIC_DEFAULT_{}_MODEL", alias.to_ascii_uppercase())) {
                self.catalogue = self.catalogue.with_alias(alias, model.trim());
            }
        }
        for line in lookup("ANTHROPIC_CUSTOM_HEADERS").iter().flat_map(|headers| headers.lines()) {
            match line.split_once(':') {
                Some((name, value)) => self = self.header(name.trim(), value),
                // Kept, so that building fails and names the line.
                None if !line.trim().is_empty() => self = self.header(line.trim(), ""),
                None => {}
            }
        }
        self
    }

    /// Builds the provider. The first request opens the connection.
    ///
    /// # Errors
    /// `Authentication` without key, token and source of credentials; `Configuration` for an unusable base URL, region,
    /// project or header.
    pub fn build(self) -> Result<Anthropic, ModelError> {
        let mut secrets = Secrets::default();
        let mut headers = self.own_headers(&mut secrets)?;
        let own = ["x-api-key", "authorization"].iter().any(|name| headers.contains_key(*name));
        let credentials = match (self.credentials, self.key) {
            (Some(source), _) => Some(source),
            (None, Some(key)) => {
                headers.insert("x-api-key", key.header("").map_err(from_http)?);
                secrets.push(key);
                None
            }
            (None, None) if own => None,
            (None, None) => return Err(no_key(&self.place)),
        };
        let platform = platform(self.place, self.base_url.as_deref(), self.options)?;
        let betas = self.betas.iter().map(|beta| beta.trim().to_owned()).filter(|beta| !beta.is_empty()).collect();
        let faults = MessagesErrors { vendor: vendor(platform.name()), secrets };
        Ok(Anthropic::assembled(AnthropicState {
            platform,
            headers,
            credentials,
            betas,
            faults,
            catalogue: self.catalogue,
            stand_ins: self.stand_ins,
            clock: self.clock,
            refused: RefusedFields::default(),
            windows: ServerWindows::default(),
        }))
    }

    /// Returns the headers of every request. The user's own headers are secret.
    fn own_headers(&self, secrets: &mut Secrets) -> Result<HeaderMap, ModelError> {
        let mut headers = HeaderMap::new();
        headers.insert("content-type", HeaderValue::from_static("application/json"));
        // Vertex AI has the version in the body.
        if !matches!(self.place, ServicePlatform::Vertex { .. }) {
            headers.insert("anthropic-version", HeaderValue::from_static(API_VERSION));
        }
        for (name, value) in &self.headers {
            let (name, parsed) = custom_header(name, value, "; ANTHROPIC_CUSTOM_HEADERS takes lines of `Name: value`")?;
            headers.insert(name, parsed);
            secrets.push(value.clone());
        }
        Ok(headers)
    }
}

fn platform(place: ServicePlatform, base_url: Option<&str>, options: HttpOptions) -> Result<Platform, ModelError> {
    Ok(match place {
        ServicePlatform::Anthropic => {
            let url = base_url.unwrap_or(BASE_URL);
            Platform::Anthropic(HttpClient::new(url, options).map_err(from_http)?)
        }
        #[cfg(feature = "bedrock")]
        ServicePlatform::Bedrock { region } => {
            Platform::Bedrock(Box::new(BedrockEndpoints::new(region, base_url.map(str::to_owned), options)?))
        }
        ServicePlatform::Vertex { project, region } => {
            Platform::Vertex(Vertex::new(project, region, base_url, options)?)
        }
    })
}

fn no_key(place: &ServicePlatform) -> ModelError {
    let text = match place {
        ServicePlatform::Anthropic => "no API key: set ANTHROPIC_API_KEY, or ANTHROPIC_AUTH_TOKEN for a gateway",
        #[cfg(feature = "bedrock")]
        ServicePlatform::Bedrock { .. } => {
            "no credentials of AWS: set AWS_BEARER_TOKEN_BEDROCK, or give a source of credentials"
        }
        ServicePlatform::Vertex { .. } => "no access token: give a source of credentials",
    };
    ModelError::new(ModelErrorKind::Authentication, text)
}
