//! Headers that users add to requests.

use crate::{HeaderName, HeaderValue, Secret};
use windlass_model::ModelError;
use windlass_types::ModelErrorKind;

/// Headers that the HTTP client owns: a custom value would break the framing.
const FRAMING: [&str; 5] = ["host", "content-length", "transfer-encoding", "connection", "accept-encoding"];

/// Parses a header that a user adds. `how` is appended to the reason of a refusal, and names the setting of such
/// headers.
///
/// # Errors
/// `Configuration` if the name is invalid or owned by the HTTP client, or if the value is not a header value.
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
