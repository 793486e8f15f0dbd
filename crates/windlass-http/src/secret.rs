use std::{borrow::Cow, fmt};

use crate::{HeaderValue, HttpError, HttpErrorKind};

/// Shorter texts are no credentials, and replacing them would garble a message.
const LEAST_REDACTED: usize = 6;

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

    /// Whether it is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The credential itself.
    #[cfg(any(feature = "proxy", feature = "sigv4"))]
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

    /// The text with each occurrence of the credential replaced.
    #[must_use]
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.0.len() < LEAST_REDACTED || !text.contains(&self.0) {
            Cow::Borrowed(text)
        } else {
            Cow::Owned(text.replace(&self.0, "[redacted]"))
        }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("[redacted]")
    }
}
