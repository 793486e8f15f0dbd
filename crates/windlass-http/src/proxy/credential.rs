use std::fmt;

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};

use super::ProxyError;
use crate::{HttpError, HttpErrorKind, Secret};

pub(super) const API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// Headers that the HTTP client owns: another value would break the framing.
const FRAMING: [&str; 5] = ["host", "content-length", "transfer-encoding", "connection", "accept-encoding"];

/// Parts of the names of headers whose values are secret.
const CONFIDENTIAL: [&str; 5] = ["auth", "key", "token", "secret", "cookie"];

/// Credential for the upstream: a key or a token, and further headers. Its debug form shows the names of the headers
/// only.
#[derive(Clone)]
pub struct ProxyCredential {
    headers: HeaderMap,
    secrets: Vec<Secret>,
}

impl ProxyCredential {
    /// Creates a key, sent as `x-api-key`.
    ///
    /// # Errors
    /// Fails if the key is empty or no header can carry it.
    pub fn api_key(key: impl AsRef<str>) -> Result<Self, ProxyError> {
        Self::none().with(API_KEY, "", &Secret::new(key))
    }

    /// Creates a token, sent as `authorization: Bearer`.
    ///
    /// # Errors
    /// Fails if the token is empty or no header can carry it.
    pub fn auth_token(token: impl AsRef<str>) -> Result<Self, ProxyError> {
        Self::none().with(AUTHORIZATION, "Bearer ", &Secret::new(token))
    }

    /// Adds a header to every request; it replaces one that the client sends.
    ///
    /// # Errors
    /// Fails if the name or the value cannot be sent, or the name belongs to the framing of requests.
    pub fn header(self, name: impl AsRef<str>, value: impl AsRef<str>) -> Result<Self, ProxyError> {
        let given = name.as_ref().trim();
        let name = HeaderName::from_bytes(given.as_bytes()).map_err(|_| unusable(given, "is not a header name"))?;
        if FRAMING.contains(&name.as_str()) {
            return Err(unusable(given, "cannot be set"));
        }
        let value = Secret::new(value);
        if value.is_empty() {
            return Err(unusable(given, "has no value"));
        }
        if CONFIDENTIAL.iter().any(|word| name.as_str().contains(word)) {
            return self.with(name, "", &value);
        }
        let Self { mut headers, secrets } = self;
        headers.insert(name, value.header("").map_err(ProxyError::Configuration)?);
        Ok(Self { headers, secrets })
    }

    /// Reads the variables of [`ProxyOptions::lookup`](super::ProxyOptions::lookup).
    pub(super) fn lookup(lookup: &dyn Fn(&str) -> Option<String>) -> Result<Self, ProxyError> {
        let mut credential = Self::none();
        for line in lookup("ANTHROPIC_CUSTOM_HEADERS").iter().flat_map(|headers| headers.lines()) {
            match line.split_once(':') {
                Some((name, value)) => credential = credential.header(name, value)?,
                None if line.trim().is_empty() => {}
                None => return Err(unusable("", "is not of the form `Name: value`")),
            }
        }
        if let Some(token) = lookup("ANTHROPIC_AUTH_TOKEN") {
            return credential.with(AUTHORIZATION, "Bearer ", &Secret::new(token));
        }
        if let Some(key) = lookup("ANTHROPIC_API_KEY") {
            return credential.with(API_KEY, "", &Secret::new(key));
        }
        if [API_KEY, AUTHORIZATION].iter().any(|name| credential.headers.contains_key(name)) {
            return Ok(credential);
        }
        Err(ProxyError::NoCredential)
    }

    pub(super) fn headers(&self) -> &HeaderMap<HeaderValue> {
        &self.headers
    }

    /// Returns the texts that must not be shown.
    pub(super) fn secrets(&self) -> &[Secret] {
        &self.secrets
    }

    fn none() -> Self {
        Self { headers: HeaderMap::new(), secrets: Vec::new() }
    }

    fn with(mut self, name: HeaderName, prefix: &str, secret: &Secret) -> Result<Self, ProxyError> {
        if secret.is_empty() {
            return Err(ProxyError::NoCredential);
        }
        self.headers.insert(name, secret.header(prefix).map_err(ProxyError::Configuration)?);
        // The secret of `Bearer abc` is `abc`.
        let bare = secret.expose().rsplit(' ').next().map(Secret::new);
        self.secrets.extend(bare);
        Ok(self)
    }
}

impl fmt::Debug for ProxyCredential {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.keys().map(HeaderName::as_str).collect();
        formatter.debug_tuple("ProxyCredential").field(&names).finish()
    }
}

fn unusable(name: &str, why: &str) -> ProxyError {
    // A line that is no header may be a key: it is not shown.
    let name = if name.is_empty() { String::new() } else { format!(" {name:?}") };
    ProxyError::Configuration(HttpError::new(
        HttpErrorKind::Configuration,
        format!("the custom header{name} {why}; ANTHROPIC_CUSTOM_HEADERS takes lines of `Name: value`"),
    ))
}
