//! A cloud whose models speak two APIs.

use crate::provider::{Anthropic, Gemini};
use async_trait::async_trait;
use std::sync::Arc;
use windlass_model::{ModelError, ModelProvider, ModelStream};
use windlass_types::{ModelInfo, ModelRequest};

/// Vertex AI: Gemini models have their own API, all others that of Claude.
#[derive(Debug)]
pub(super) struct Vertex {
    claude: Anthropic,
    gemini: Gemini,
}

pub(super) fn vertex(lookup: &dyn Fn(&str) -> Option<String>) -> Result<Vertex, ModelError> {
    let claude = Anthropic::vertex_from_lookup(lookup)?.build()?;
    Ok(Vertex { claude, gemini: Gemini::vertex_from_lookup(lookup)?.build()? })
}

impl Vertex {
    fn of(&self, model: &str) -> &dyn ModelProvider {
        let is_of_google =
            model.starts_with("gemini") || model.starts_with("publishers/google/") || model.starts_with("projects/");
        if is_of_google { &self.gemini } else { &self.claude }
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl ModelProvider for Vertex {
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

    fn ready(&self, model: &str) -> Result<(), ModelError> {
        self.of(model).ready(model)
    }

    async fn stream(&self, request: Arc<ModelRequest>) -> Result<ModelStream, ModelError> {
        self.of(&request.model).stream(Arc::clone(&request)).await
    }

    async fn count_tokens(&self, request: Arc<ModelRequest>) -> Result<u64, ModelError> {
        self.of(&request.model).count_tokens(Arc::clone(&request)).await
    }
}
