use crate::endpoint::GeminiEndpoint;
use crate::error::GeminiErrors;
use crate::provider::{Gemini, RequestKey};
use std::sync::Arc;
use windlass_http::provider::{Credential, Credentials, Secrets, Vendor, custom_header, from_http};
use windlass_http::{HeaderMap, HeaderValue, HttpClient, HttpOptions, Secret};
use windlass_model::ModelError;
use windlass_types::ModelErrorKind;

/// Builder of a [`Gemini`] provider.
#[derive(Clone, Debug)]
#[must_use]
pub struct GeminiBuilder {
    endpoint: GeminiEndpoint,
    key: Option<Secret>,
    credentials: Option<Arc<dyn Credentials>>,
    base_url: Option<String>,
    headers: Vec<(String, Secret)>,
    options: HttpOptions,
}

impl GeminiBuilder {
    pub(crate) fn new(endpoint: GeminiEndpoint) -> Self {
        Self {
            endpoint,
            key: None,
            credentials: None,
            base_url: None,
            headers: Vec::new(),
            options: HttpOptions::default(),
        }
    }

    /// Sets the API key, sent as `x-goog-api-key`. An empty key counts as none.
    pub fn api_key(mut self, key: impl AsRef<str>) -> Self {
        self.key = Some(Secret::new(key)).filter(|key| !key.is_empty());
        self
    }

    /// Sets a source of access tokens, sent as `authorization: Bearer` and used instead of a key.
    pub fn credentials(mut self, source: impl Credentials) -> Self {
        self.credentials = Some(Arc::new(source));
        self
    }

    /// Sets one access token, for as long as it is valid. An empty token counts as none.
    pub fn token(mut self, token: impl AsRef<str>) -> Self {
        let given = !token.as_ref().trim().is_empty();
        self.credentials = given.then(|| Arc::new(Credential::bearer(token)) as Arc<dyn Credentials>);
        self
    }

    /// Sets the base URL, without `/v1beta`. Default: `https://generativelanguage.googleapis.com`, and on Vertex AI
    /// the host of the location.
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = Some(url.into());
        self
    }

    /// Adds a header to every request; it replaces a default header of the same name.
    pub fn header(mut self, name: impl Into<String>, value: impl AsRef<str>) -> Self {
        self.headers.push((name.into(), Secret::new(value)));
        self
    }

    windlass_http::connection_methods!(options, "Default: 120 s.");

    /// Reads the settings that [`Gemini::from_env`] names from a lookup. On Vertex AI only those of proxies and
    /// certificate authorities.
    pub fn lookup(mut self, lookup: impl Fn(&str) -> Option<String>) -> Self {
        self.options.look_up(&lookup);
        if self.endpoint != GeminiEndpoint::Gemini {
            return self;
        }
        let lookup = |name: &str| lookup(name).filter(|value| !value.trim().is_empty());
        if let Some(key) = lookup("GEMINI_API_KEY").or_else(|| lookup("GOOGLE_API_KEY")) {
            self = self.api_key(key);
        }
        if let Some(url) = lookup("GOOGLE_GEMINI_BASE_URL") {
            self = self.base_url(url);
        }
        self
    }

    /// Builds the provider. The first request opens the connection.
    ///
    /// # Errors
    /// `Authentication` without key and source of tokens; `Configuration` for an unusable base URL, project, location
    /// or header.
    pub fn build(self) -> Result<Gemini, ModelError> {
        let mut secrets = Secrets::default();
        let mut headers = HeaderMap::new();
        headers.insert("content-type", HeaderValue::from_static("application/json"));
        for (name, value) in &self.headers {
            let (name, value) = custom_header(name, value, "")?;
            headers.insert(name, value);
        }
        for (_, value) in self.headers {
            secrets.push(value);
        }
        let own = ["x-goog-api-key", "authorization"].iter().any(|name| headers.contains_key(*name));
        let key = match (self.credentials, self.key) {
            (Some(source), _) => RequestKey::Tokens(source),
            (None, Some(key)) => {
                headers.insert("x-goog-api-key", key.header("").map_err(from_http)?);
                secrets.push(key);
                RequestKey::InHeaders
            }
            (None, None) if own => RequestKey::InHeaders,
            (None, None) => return Err(no_key(&self.endpoint)),
        };
        check_names(&self.endpoint)?;
        let base_url = self.base_url.unwrap_or_else(|| self.endpoint.base_url());
        let client = HttpClient::new(&base_url, self.options).map_err(from_http)?;
        let faults = GeminiErrors { vendor: vendor(&self.endpoint), secrets };
        Ok(Gemini::assembled(client, headers, key, self.endpoint, faults))
    }
}

/// Returns the names of the service's settings.
fn vendor(endpoint: &GeminiEndpoint) -> Vendor {
    match endpoint {
        GeminiEndpoint::Gemini => Vendor::new("GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL"),
        GeminiEndpoint::Vertex { .. } => Vendor::new("the access token", "the project, the location and the base URL"),
    }
}

fn no_key(endpoint: &GeminiEndpoint) -> ModelError {
    let text = match endpoint {
        GeminiEndpoint::Gemini => "no API key: set GEMINI_API_KEY or GOOGLE_API_KEY",
        GeminiEndpoint::Vertex { .. } => "no access token: give one with `.token(..)`, or a source of them",
    };
    ModelError::new(ModelErrorKind::Authentication, text)
}

/// Checks project and location, which become part of addresses.
fn check_names(endpoint: &GeminiEndpoint) -> Result<(), ModelError> {
    let GeminiEndpoint::Vertex { project, location } = endpoint else { return Ok(()) };
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_:.".contains(&byte);
    for (what, name) in [("project", project), ("location", location)] {
        let is_name = !name.is_empty() && name.bytes().all(plain) && !name.starts_with('.');
        if !is_name || (what == "location" && name.contains(['.', ':'])) {
            let text = format!("the {what} {name:?} is none: it holds letters, digits and hyphens");
            return Err(ModelError::new(ModelErrorKind::Configuration, text));
        }
    }
    Ok(())
}
