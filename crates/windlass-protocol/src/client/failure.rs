//! Reason why a request of the other side has no answer.

use windlass_types::JsonError;

/// Reason why there is no answer.
#[derive(Debug)]
pub(super) struct RequestFailure {
    pub(super) error: String,
    pub(super) code: Option<&'static str>,
}

impl RequestFailure {
    pub(super) fn new(error: impl Into<String>) -> Self {
        Self { error: error.into(), code: None }
    }
}

impl From<JsonError> for RequestFailure {
    fn from(error: JsonError) -> Self {
        Self::new(error.to_string())
    }
}
