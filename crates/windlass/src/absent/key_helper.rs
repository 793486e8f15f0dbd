//! Keys of the Anthropic API, in a build without the feature `anthropic`: none is needed.

use crate::project::LoadedProject;
use windlass_model::Router;

impl LoadedProject {
    pub(super) fn providers(&self, lookup: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Router {
        crate::providers::from_lookup(lookup)
    }
}
