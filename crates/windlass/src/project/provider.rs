//! The model providers of a project.

use super::LoadedProject;
use crate::stored_keys::StoredKeys;
use windlass_model::Router;

impl LoadedProject {
    /// Providers that variables of the project set up, like [`from_lookup`](crate::provider::from_lookup). If no
    /// variable holds a key of the Anthropic API, `apiKeyHelper` of settings runs for one: when a request needs it,
    /// again after five minutes (`CLAUDE_CODE_API_KEY_HELPER_TTL_MS`), and when the API refuses the key. A vendor for which
    /// none of these names a key gets the one that is [stored](StoredKeys).
    pub fn provider(&self) -> Router {
        let (project, keys) = (self.clone(), self.stored_keys());
        let is_helped = self.resolved().session.api_key_helper.is_some();
        let lookup = move |name: &str| match &keys {
            Some(keys) if !(is_helped && name == "ANTHROPIC_API_KEY") => {
                keys.variable(name, |name| project.variable(name))
            }
            _ => project.variable(name),
        };
        self.providers(lookup)
    }

    /// Keys that are stored for the user: in the home that the program gave, else in the one that its environment names.
    /// `None` if there is neither.
    pub fn stored_keys(&self) -> Option<StoredKeys> {
        self.read.request.stored_keys()
    }
}
