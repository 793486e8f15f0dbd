use std::fmt;

use crate::{HeaderValue, HttpError, HttpErrorKind};

/// Credential. Its debug form does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a credential; surrounding white space, as added by files and shells, is removed.
    #[must_use]
    pub fn new(text: impl AsRef<str>) -> Self {
        Self(text.as_ref().trim().to_owned())
    }

    /// `true` if the secret has this prefix. Reveals no more of the secret.
    #[must_use]
    pub fn begins_with(&self, prefix: &str) -> bool {
        self.0.starts_with(prefix)
    }

    /// `true` for an empty secret.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the credential itself.
    #[cfg(any(feature = "provider", feature = "proxy"))]
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// Returns a header value of `prefix` and the credential, marked as sensitive.
    ///
    /// # Errors
    /// Fails if a header cannot carry the credential.
    pub fn header(&self, prefix: &str) -> Result<HeaderValue, HttpError> {
        let mut value = HeaderValue::from_str(&format!("{prefix}{}", self.0)).map_err(|_| {
            HttpError::new(HttpErrorKind::Configuration, "the key holds a character that no header can carry")
        })?;
        value.set_sensitive(true);
        Ok(value)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("[redacted]")
    }
}
