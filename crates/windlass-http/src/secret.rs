use std::fmt;

use crate::{HeaderValue, HttpError, HttpErrorKind};

/// A credential. Its debug form does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a credential; surrounding white space, as files and shells add it,
    /// is not part of it.
    #[must_use]
    pub fn new(text: impl AsRef<str>) -> Self {
        Self(text.as_ref().trim().to_owned())
    }

    /// Whether it is of a kind that begins so. It says no more of the secret than that.
    #[must_use]
    pub fn begins_with(&self, prefix: &str) -> bool {
        self.0.starts_with(prefix)
    }

    /// Whether it is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The credential itself.
    #[cfg(any(feature = "provider", feature = "proxy"))]
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// A header value of `prefix` and the credential, marked as sensitive.
    ///
    /// # Errors
    /// When a header cannot carry the credential.
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
