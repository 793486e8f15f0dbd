//! Clouds whose models speak two APIs.

use async_trait::async_trait;
use std::sync::Arc;
use windlass_model::{KnownModel, ModelError, ModelProvider, ModelStream, SessionFact};
use windlass_types::{ModelInfo, ModelRequest};

/// Two providers of one cloud, chosen by the name of the model.
#[derive(Debug)]
pub(super) struct Split {
    claude: Arc<dyn ModelProvider>,
    other: Arc<dyn ModelProvider>,
    is_other: fn(&str) -> bool,
}

impl Split {
    pub(super) fn new(
        claude: Arc<dyn ModelProvider>,
        other: Arc<dyn ModelProvider>,
        is_other: fn(&str) -> bool,
    ) -> Self {
        Self { claude, other, is_other }
    }

    fn of(&self, model: &str) -> &dyn ModelProvider {
        if (self.is_other)(model) { &*self.other } else { &*self.claude }
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl ModelProvider for Split {
    fn name(&self) -> &str {
        self.claude.name()
    }

    fn resolve_model(&self, name: &str) -> String {
        self.of(name).resolve_model(name)
    }

    fn similar_models(&self, name: &str) -> Vec<String> {
        self.of(name).similar_models(name)
    }

    fn model_info(&self, model: &str) -> ModelInfo {
        self.of(model).model_info(model)
    }

    fn known_models(&self) -> Vec<KnownModel> {
        self.claude.known_models().into_iter().chain(self.other.known_models()).collect()
    }

    fn answering_model(&self, asked: &str, answered: &str) -> Option<String> {
        self.of(asked).answering_model(asked, answered)
    }

    fn ready(&self, model: &str) -> Result<(), ModelError> {
        self.of(model).ready(model)
    }

    async fn prepare(&self, model: &str) {
        self.of(model).prepare(model).await;
    }

    fn opening_notice(&self, model: &str) -> Option<String> {
        self.of(model).opening_notice(model)
    }

    fn recorded_fact(&self, fact: SessionFact, current: &str) -> Option<String> {
        self.claude.recorded_fact(fact, current).or_else(|| self.other.recorded_fact(fact, current))
    }

    async fn stream(&self, request: Arc<ModelRequest>) -> Result<ModelStream, ModelError> {
        self.of(&request.model).stream(Arc::clone(&request)).await
    }

    async fn count_tokens(&self, request: Arc<ModelRequest>) -> Result<u64, ModelError> {
        self.of(&request.model).count_tokens(Arc::clone(&request)).await
    }
}
