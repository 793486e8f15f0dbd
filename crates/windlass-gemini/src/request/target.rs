//! The receiver of a request body.

use crate::endpoint::GeminiEndpoint;
use crate::models::GeminiFamily;

/// Model and service that a body is for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GeminiTarget<'a> {
    pub(crate) model: &'a str,
    pub(crate) family: GeminiFamily,
    /// `true` if the service searches the web for the model.
    pub(crate) searches: bool,
    pub(crate) endpoint: &'a GeminiEndpoint,
}

impl GeminiTarget<'_> {
    /// `true` if calls of other models are sent with an id. Vertex takes only its own ids.
    pub(crate) fn makes_ids(&self) -> bool {
        self.family.is_modern && *self.endpoint == GeminiEndpoint::Gemini
    }
}
