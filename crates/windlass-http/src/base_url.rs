//! Base URLs of clients.

use crate::{HttpError, HttpErrorKind, tls};
use reqwest::Url;

/// Parses a base URL that this build can connect to, and returns its host and port for messages.
pub(crate) fn connectable_base(text: &str) -> Result<(Url, String), HttpError> {
    let (base, host) = parse_base(text)?;
    tls::check(&base)?;
    Ok((base, host))
}

/// Parses a base URL, and returns its host and port for messages.
pub(crate) fn parse_base(text: &str) -> Result<(Url, String), HttpError> {
    let invalid = |what: &str| {
        HttpError::new(
            HttpErrorKind::Configuration,
            format!("the base URL {what}; it should look like https://api.example.com"),
        )
    };
    let base = Url::parse(text.trim()).map_err(|error| invalid("is not a URL").with_source(error))?;
    if !matches!(base.scheme(), "http" | "https") {
        return Err(invalid("is neither http nor https"));
    }
    let Some(name) = base.host_str() else {
        return Err(invalid("has no host"));
    };
    let host = match base.port() {
        Some(port) => format!("{name}:{port}"),
        None => name.to_owned(),
    };
    Ok((base, host))
}
