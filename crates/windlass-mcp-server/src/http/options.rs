//! Access and limits of the HTTP transport.

use crate::ServeError;
use hyper::header::HeaderValue;
use std::fmt;
use subtle::ConstantTimeEq;

/// Minimum length of a token, in characters.
const SHORTEST: usize = 16;

/// Options of streamable HTTP.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HttpOptions {
    /// Token that every request has to show.
    pub token: BearerToken,
    /// Path of the endpoint. Default: `/mcp`.
    pub path: String,
    /// Names, with a port or without, by which clients reach the server, beside those of this machine. Default: none.
    pub hosts: Vec<String>,
    /// Origins, such as `https://app.example.com`, whose pages may send requests. Default: none.
    pub origins: Vec<String>,
    /// Maximum number of concurrent sessions, each of which ends after five minutes without a request. Default: 32.
    pub max_sessions: usize,
    /// Maximum number of concurrent connections; others wait. Default: 128.
    pub max_connections: usize,
}

impl HttpOptions {
    /// Creates the default options with this token.
    #[must_use]
    pub fn new(token: BearerToken) -> Self {
        Self {
            token,
            path: "/mcp".to_owned(),
            hosts: Vec::new(),
            origins: Vec::new(),
            max_sessions: 32,
            max_connections: 128,
        }
    }

    /// Sets the path of the endpoint.
    #[must_use]
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    /// Adds a name by which clients reach the server.
    #[must_use]
    pub fn host(mut self, name: impl Into<String>) -> Self {
        self.hosts.push(name.into());
        self
    }

    /// Adds an origin whose pages may send requests.
    #[must_use]
    pub fn origin(mut self, origin: impl Into<String>) -> Self {
        self.origins.push(origin.into());
        self
    }
}

/// Secret that every request shows as `Authorization: Bearer …`. It is compared in constant time and never shown.
#[derive(Clone)]
pub struct BearerToken(String);

impl BearerToken {
    /// Creates a token of at least 16 visible ASCII characters.
    ///
    /// # Errors
    /// Fails if the text is shorter, or holds other characters.
    pub fn new(token: impl Into<String>) -> Result<Self, ServeError> {
        let token = token.into();
        if token.len() < SHORTEST || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(ServeError::Options("a bearer token has at least 16 visible ASCII characters"));
        }
        Ok(Self(token))
    }

    /// `true` if a header shows the token.
    pub(super) fn is_in(&self, header: Option<&HeaderValue>) -> bool {
        let shown = header.and_then(|value| value.to_str().ok()).and_then(|value| value.split_once(' '));
        shown.is_some_and(|(scheme, token)| {
            scheme.eq_ignore_ascii_case("bearer") && bool::from(token.trim().as_bytes().ct_eq(self.0.as_bytes()))
        })
    }
}

impl fmt::Debug for BearerToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BearerToken(***)")
    }
}
