use super::compat::{Auth, Compat, Protocol};
use super::endpoint::Endpoint;
use super::ollama::CONTEXT_SIZE;
use super::provider::{ChatCompletions, ChatState};
use std::borrow::Cow;
use std::sync::Arc;
use windlass_http::provider::{Secrets, ServerWindows, Vendor, custom_header, from_http};
use windlass_http::{HeaderMap, HeaderName, HeaderValue, HttpClient, HttpOptions, Secret};
use windlass_model::{Catalogue, ModelError};
use windlass_types::{JsonText, ModelErrorKind};

/// Builder of a [`ChatCompletions`] provider.
#[derive(Clone, Debug)]
#[must_use]
pub struct ChatCompletionsBuilder {
    endpoint: Endpoint,
    key: Option<Secret>,
    base_url: Option<String>,
    settings: Vec<JsonText>,
    headers: Vec<(String, Secret)>,
    options: HttpOptions,
    catalogue: Catalogue,
    context_size: Option<String>,
}

impl Default for ChatCompletionsBuilder {
    fn default() -> Self {
        Self {
            endpoint: Endpoint::new("openai-compatible", ""),
            key: None,
            base_url: None,
            settings: Vec::new(),
            headers: Vec::new(),
            options: HttpOptions::default(),
            catalogue: Catalogue::default(),
            context_size: None,
        }
    }
}

impl ChatCompletionsBuilder {
    /// Sets the endpoint: its name, base URL, environment variables and compatibility profile.
    pub fn endpoint(mut self, endpoint: Endpoint) -> Self {
        self.endpoint = endpoint;
        self
    }

    /// Sets the name of the provider. Messages of the model keep it as part of their origin. Default: that of
    /// the endpoint.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.endpoint.name = Cow::Owned(name.into());
        self
    }

    /// Sets the key. An empty key is ignored.
    pub fn api_key(mut self, key: impl AsRef<str>) -> Self {
        self.key = Some(Secret::new(key)).filter(|key| !key.is_empty());
        self
    }

    /// Sets the base URL, including the vendor's version path, such as `https://api.openai.com/v1`. Default: that of
    /// the endpoint.
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = Some(url.into());
        self
    }

    /// Makes the key optional. Without a key, requests have no authentication header.
    pub fn key_optional(mut self) -> Self {
        self.endpoint.compat.transport.key_optional = true;
        self
    }

    /// Changes the compatibility profile of the endpoint.
    pub fn compat(mut self, change: impl FnOnce(&mut Compat)) -> Self {
        change(&mut self.endpoint.compat);
        self
    }

    /// Overrides members of the profile with those of a JSON object, which has the members of [`Compat`] that differ.
    /// [`build`](Self::build) applies several objects in order.
    pub fn compat_settings(mut self, settings: JsonText) -> Self {
        self.settings.push(settings);
        self
    }

    /// Adds a header to every request; it replaces a default header of the same name.
    pub fn header(mut self, name: impl Into<String>, value: impl AsRef<str>) -> Self {
        self.headers.push((name.into(), Secret::new(value)));
        self
    }

    windlass_http::connection_methods!(
        options,
        "Default: 120 s. A server on the own machine may need longer to load a model."
    );

    /// Sets the catalogue of models, with the user's own limits and prices. Default: the built-in tables.
    pub fn catalogue(mut self, catalogue: Catalogue) -> Self {
        self.catalogue = catalogue;
        self
    }

    /// Sets the context size requested from Ollama, in tokens. It becomes the context window of all models. Default:
    /// 32,768.
    pub fn context_size(mut self, tokens: u32) -> Self {
        self.context_size = Some(tokens.to_string());
        self
    }

    /// Reads the key, the base URL and the context size from the variables of the endpoint, proxies from `HTTPS_PROXY`,
    /// `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`, and certificate authorities from `SSL_CERT_FILE` and
    /// `NODE_EXTRA_CA_CERTS`.
    pub fn lookup(mut self, lookup: impl Fn(&str) -> Option<String>) -> Self {
        self.options.look_up(&lookup);
        let lookup = |name: &str| lookup(name).filter(|value| !name.is_empty() && !value.trim().is_empty());
        if let Some(key) = self.endpoint.key_variables.iter().find_map(|name| lookup(name)) {
            self = self.api_key(key);
        } else if let Some(token) = lookup("AZURE_OPENAI_AD_TOKEN").filter(|_| self.endpoint.name == "azure") {
            // A token of the identity service is sent in another header than a key.
            self.endpoint.compat.transport.auth = Auth::Bearer;
            self = self.api_key(token);
        }
        if self.endpoint.key_variables.iter().any(|name| name == "OPENAI_API_KEY") {
            self = self.with_billing_headers(&lookup);
        }
        let is_ollama = self.endpoint.compat.transport.protocol == Protocol::Ollama;
        if let Some(url) = lookup(&self.endpoint.base_url_variable) {
            self.base_url = Some(if is_ollama { ollama_base_url(&url) } else { url });
        }
        if let Some(size) = lookup("OLLAMA_CONTEXT_LENGTH").filter(|_| is_ollama) {
            self.context_size = Some(size);
        }
        self
    }

    /// Adds OpenAI's headers for the organization and the project that are billed. Other vendors get none.
    fn with_billing_headers(mut self, lookup: &impl Fn(&str) -> Option<String>) -> Self {
        let is_openai = self.endpoint.name == "openai";
        let organization = || lookup("OPENAI_ORG_ID").or_else(|| lookup("OPENAI_ORGANIZATION"));
        if let Some(id) = organization().filter(|_| is_openai) {
            self = self.header("openai-organization", id.trim());
        }
        if let Some(id) = lookup("OPENAI_PROJECT_ID").filter(|_| is_openai) {
            self = self.header("openai-project", id.trim());
        }
        self
    }

    /// Calls [`lookup`](Self::lookup) with the environment of the process.
    #[expect(clippy::disallowed_methods, reason = "reads the environment because its caller asks for that by name")]
    pub fn env(self) -> Self {
        self.lookup(|name| std::env::var(name).ok())
    }

    /// Builds the provider. The first request opens the connection.
    ///
    /// # Errors
    /// `Authentication` without a required key; `Configuration` for unusable settings, base URL or headers.
    pub fn build(mut self) -> Result<ChatCompletions, ModelError> {
        for settings in std::mem::take(&mut self.settings) {
            self.endpoint.compat = self.endpoint.compat.with_settings(&settings).map_err(|error| {
                configuration_error(format!("the profile of {} cannot be read: {error}", self.endpoint.name))
            })?;
        }
        let vendor = self.vendor();
        let (headers, secrets) = self.headers(&vendor)?;
        let base_url = self.full_base_url()?;
        let client = HttpClient::new(&base_url, self.options).map_err(from_http)?;
        let context_size = match self.context_size.as_deref().map(str::trim) {
            None => CONTEXT_SIZE,
            Some(size) => size.parse().ok().filter(|size| *size > 0).ok_or_else(|| {
                configuration_error(format!(
                    "the context size {size:?} is not a number of tokens; check OLLAMA_CONTEXT_LENGTH"
                ))
            })?,
        };
        let (catalogue, endpoint) = (self.catalogue, self.endpoint);
        Ok(ChatCompletions {
            inner: Arc::new(ChatState {
                client,
                headers,
                secrets,
                catalogue,
                endpoint,
                vendor,
                context_size,
                windows: ServerWindows::default(),
            }),
        })
    }

    fn vendor(&self) -> Vendor {
        let name_or = |name: Option<&str>, otherwise: &'static str| match name.filter(|name| !name.is_empty()) {
            Some(name) => Cow::Owned(name.to_owned()),
            None => Cow::Borrowed(otherwise),
        };
        Vendor {
            key: name_or(self.endpoint.key_variables.first().map(|name| &**name), "the API key"),
            base_url: name_or(Some(&self.endpoint.base_url_variable), "the base URL"),
        }
    }

    fn full_base_url(&self) -> Result<String, ModelError> {
        let endpoint = &self.endpoint;
        let url = self.base_url.as_deref().unwrap_or(&endpoint.base_url).trim().trim_end_matches('/');
        if url.is_empty() {
            let setting = self.vendor().base_url;
            return Err(configuration_error(format!("{} has no base URL: set {setting}", endpoint.name)));
        }
        let has_path = url.split_once("://").is_none_or(|(_, rest)| rest.contains('/'));
        Ok(if has_path { url.to_owned() } else { format!("{url}{}", endpoint.base_path) })
    }

    fn headers(&self, vendor: &Vendor) -> Result<(HeaderMap, Secrets), ModelError> {
        let mut secrets = Secrets::default();
        let mut headers = HeaderMap::new();
        headers.insert("content-type", HeaderValue::from_static("application/json"));
        for (name, value) in &self.headers {
            let (parsed, header) = custom_header(name, value, "")?;
            headers.insert(parsed, header);
            secrets.push(value.clone());
        }
        let transport = &self.endpoint.compat.transport;
        let (name, prefix) = match &transport.auth {
            Auth::Bearer => ("authorization", "Bearer "),
            Auth::Header(name) => (&**name, ""),
        };
        let name = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| configuration_error(format!("{name:?} cannot be the header of the key")))?;
        if headers.contains_key(&name) {
            return Ok((headers, secrets));
        }
        match &self.key {
            Some(key) => {
                headers.insert(name, key.header(prefix).map_err(from_http)?);
                secrets.push(key.clone());
            }
            None if transport.key_optional => {}
            None => {
                let text = format!("no API key for {}: set {}", self.endpoint.name, vendor.key);
                return Err(ModelError::new(ModelErrorKind::Authentication, text));
            }
        }
        Ok((headers, secrets))
    }
}

fn configuration_error(text: String) -> ModelError {
    ModelError::new(ModelErrorKind::Configuration, text)
}

/// Converts `OLLAMA_HOST`, which may be a host, a host and a port, or a URL, to a URL. `0.0.0.0` becomes `127.0.0.1`,
/// because clients cannot connect to the address of all interfaces.
fn ollama_base_url(host: &str) -> String {
    let host = host.trim().trim_end_matches('/');
    if host.contains("://") {
        return host.to_owned();
    }
    let host = host.replacen("0.0.0.0", "127.0.0.1", 1);
    let has_port =
        host.rsplit_once(':').is_some_and(|(_, port)| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()));
    let host = host.strip_prefix(':').map(|port| format!("127.0.0.1:{port}")).unwrap_or(host);
    if has_port { format!("http://{host}") } else { format!("http://{host}:11434") }
}
