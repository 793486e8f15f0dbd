//! Headers that users add to requests.

use crate::{HeaderName, HeaderValue, Secret};
use windlass_model::ModelError;
use windlass_types::ModelErrorKind;

/// Headers that the HTTP client owns: a custom value would break the framing.
const FRAMING: [&str; 5] = ["host", "content-length", "transfer-encoding", "connection", "accept-encoding"];

/// A header that a user adds. `how`: what is said behind the reason of a refusal, about where such headers are set.
///
/// # Errors
/// `Configuration`: its name is none or one that the HTTP client owns, or the value cannot be that of a header.
pub fn custom_header(name: &str, value: &Secret, how: &str) -> Result<(HeaderName, HeaderValue), ModelError> {
    let refuse =
        |why: &str| ModelError::new(ModelErrorKind::Configuration, format!("the custom header {name:?} {why}{how}"));
    let parsed = HeaderName::from_bytes(name.as_bytes()).map_err(|_| refuse("is not a header name"))?;
    if value.is_empty() {
        return Err(refuse("has no value"));
    }
    if FRAMING.contains(&parsed.as_str()) {
        return Err(refuse("cannot be set"));
    }
    let value = value.header("").map_err(|_| refuse("has a value that no header can carry"))?;
    Ok((parsed, value))
}
