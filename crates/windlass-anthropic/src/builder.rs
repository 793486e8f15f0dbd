use std::time::Duration;

use windlass_http::{HeaderMap, HeaderValue, HttpClient, HttpOptions, Secret};
use windlass_model::{Catalogue, ModelError};
use windlass_types::ModelErrorKind;

use crate::Anthropic;
use windlass_http::provider::{Secrets, custom_header, from_http};

const BASE_URL: &str = "https://api.anthropic.com";
const API_VERSION: &str = "2023-06-01";

/// Sets up an [`Anthropic`] provider.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct AnthropicBuilder {
    key: Option<Secret>,
    token: Option<Secret>,
    base_url: Option<String>,
    betas: Vec<String>,
    headers: Vec<(String, Secret)>,
    options: HttpOptions,
    catalogue: Catalogue,
}

impl AnthropicBuilder {
    /// Sets the API key, sent as `x-api-key`. An empty one counts as none.
    pub fn api_key(mut self, key: impl AsRef<str>) -> Self {
        self.key = Some(Secret::new(key)).filter(|key| !key.is_empty());
        self
    }

    /// Sets a token, sent as `authorization: Bearer` and used instead of the key.
    pub fn auth_token(mut self, token: impl AsRef<str>) -> Self {
        self.token = Some(Secret::new(token)).filter(|token| !token.is_empty());
        self
    }

    /// Sets the base URL, without `/v1`. Default: `https://api.anthropic.com`.
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = Some(url.into());
        self
    }

    /// Switches a beta on for every request.
    pub fn beta(mut self, beta: impl Into<String>) -> Self {
        self.betas.push(beta.into());
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

    /// Sets the longest time in which only pings come. Default: 600 s.
    pub fn stall_timeout(mut self, limit: Duration) -> Self {
        self.options.stall_timeout = limit;
        self
    }

    /// Sets the catalogue of models: aliases, limits, prices. Default: the built-in tables.
    pub fn catalogue(mut self, catalogue: Catalogue) -> Self {
        self.catalogue = catalogue;
        self
    }

    /// Takes the settings that [`Anthropic::from_env`] names from a lookup.
    pub fn lookup(mut self, lookup: impl Fn(&str) -> Option<String>) -> Self {
        let lookup = |name: &str| lookup(name).filter(|value| !value.trim().is_empty());
        if let Some(key) = lookup("ANTHROPIC_API_KEY") {
            self = self.api_key(key);
        }
        if let Some(token) = lookup("ANTHROPIC_AUTH_TOKEN") {
            self = self.auth_token(token);
        }
        if let Some(url) = lookup("ANTHROPIC_BASE_URL") {
            self = self.base_url(url);
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
                // Kept, so that building fails and names it.
                None if !line.trim().is_empty() => self = self.header(line.trim(), ""),
                None => {}
            }
        }
        self
    }

    /// Builds the provider. It connects at the first request.
    ///
    /// # Errors
    /// `Authentication` without key and token; `Configuration` for a base URL or a
    /// header that cannot be used.
    pub fn build(self) -> Result<Anthropic, ModelError> {
        let mut secrets = Secrets::default();
        let mut headers = HeaderMap::new();
        headers.insert("content-type", HeaderValue::from_static("application/json"));
        headers.insert("anthropic-version", HeaderValue::from_static(API_VERSION));
        for (name, value) in &self.headers {
            let (name, value) = custom_header(name, value, "; ANTHROPIC_CUSTOM_HEADERS takes lines of `Name: value`")?;
            headers.insert(name, value);
        }
        for (_, value) in self.headers {
            secrets.push(value);
        }
        let own = ["x-api-key", "authorization"].iter().any(|name| headers.contains_key(*name));
        match (self.token, self.key) {
            (Some(token), _) => {
                headers.insert("authorization", token.header("Bearer ").map_err(from_http)?);
                secrets.push(token);
            }
            (None, Some(key)) => {
                headers.insert("x-api-key", key.header("").map_err(from_http)?);
                secrets.push(key);
            }
            (None, None) if own => {}
            (None, None) => {
                return Err(ModelError::new(
                    ModelErrorKind::Authentication,
                    "no API key: set ANTHROPIC_API_KEY, or ANTHROPIC_AUTH_TOKEN for a gateway",
                ));
            }
        }
        let base_url = self.base_url.as_deref().unwrap_or(BASE_URL);
        let client = HttpClient::new(base_url, self.options).map_err(from_http)?;
        let betas = self.betas.iter().map(|beta| beta.trim().to_owned()).filter(|beta| !beta.is_empty()).collect();
        Ok(Anthropic::assembled(client, headers, betas, secrets, self.catalogue))
    }
}
