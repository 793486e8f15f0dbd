//! Providers of a build, by the prefixes of their models.

use std::sync::Arc;
use windlass_model::{KnownModel, ModelError, ModelProvider};

/// Source of variables.
pub(super) type Variables = dyn Fn(&str) -> Option<String> + Send + Sync;

/// A shared source of variables.
pub(super) type Lookup = Arc<Variables>;

/// Sets one provider up from variables.
pub(super) type Setup = Box<dyn Fn(&Variables) -> Result<Arc<dyn ModelProvider>, ModelError> + Send + Sync>;

/// The models of a provider that are known without a key.
pub(super) type Models = Arc<dyn Fn(&Variables) -> Vec<KnownModel> + Send + Sync>;

/// A provider of this build, by the prefix of its models.
pub(super) struct Route {
    pub(super) prefix: &'static str,
    pub(super) setup: Setup,
    pub(super) models: Models,
}

impl Route {
    pub(super) fn new<P: ModelProvider>(
        prefix: &'static str,
        make: impl Fn(&Variables) -> Result<P, ModelError> + Send + Sync + 'static,
        models: impl Fn(&Variables) -> Vec<KnownModel> + Send + Sync + 'static,
    ) -> Self {
        let setup: Setup = Box::new(move |lookup| Ok(Arc::new(make(lookup)?)));
        Self { prefix, setup, models: Arc::new(models) }
    }
}
