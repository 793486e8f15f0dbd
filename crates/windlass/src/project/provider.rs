//! The model providers of a project.

use super::LoadedProject;
use windlass_model::Router;

impl LoadedProject {
    /// Providers that variables of the project set up, like [`from_lookup`](crate::provider::from_lookup). If no
    /// variable holds a key of the Anthropic API, `apiKeyHelper` of settings runs for one: when a request needs it,
    /// again after five minutes (`CLAUDE_CODE_API_KEY_HELPER_TTL_MS`), and when the API refuses the key.
    pub fn provider(&self) -> Router {
        let project = self.clone();
        let lookup = move |name: &str| project.variable(name);
        #[cfg(feature = "anthropic")]
        let router = crate::providers::from_lookup_and(lookup, self.key_helper());
        #[cfg(not(feature = "anthropic"))]
        let router = crate::providers::from_lookup(lookup);
        router
    }
}
