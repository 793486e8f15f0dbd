//! Work that begins once the first request of a session is on its way.

use async_trait::async_trait;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use windlass_model::{KnownModel, ModelError, ModelInfo, ModelProvider, ModelStream};
use windlass_types::ModelRequest;

/// A provider that has work begun when the first call of a model is answered or has failed: before, it would take
/// processors and the disk from that request. The work must not block.
pub(crate) struct AfterFirstCall<F> {
    provider: Arc<dyn ModelProvider>,
    begin: F,
    begun: AtomicBool,
}

impl<F: Fn() + Send + Sync + 'static> AfterFirstCall<F> {
    pub(crate) fn new(provider: Arc<dyn ModelProvider>, begin: F) -> Self {
        Self { provider, begin, begun: AtomicBool::new(false) }
    }
}

impl<F> fmt::Debug for AfterFirstCall<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.provider.fmt(f)
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<F: Fn() + Send + Sync + 'static> ModelProvider for AfterFirstCall<F> {
    fn name(&self) -> &str {
        self.provider.name()
    }

    fn resolve_model(&self, name: &str) -> String {
        self.provider.resolve_model(name)
    }

    fn similar_models(&self, name: &str) -> Vec<String> {
        self.provider.similar_models(name)
    }

    fn model_info(&self, model: &str) -> ModelInfo {
        self.provider.model_info(model)
    }

    fn known_models(&self) -> Vec<KnownModel> {
        self.provider.known_models()
    }

    fn answering_model(&self, asked: &str, answered: &str) -> Option<String> {
        self.provider.answering_model(asked, answered)
    }

    fn ready(&self, model: &str) -> Result<(), ModelError> {
        self.provider.ready(model)
    }

    async fn stream(&self, request: Arc<ModelRequest>) -> Result<ModelStream, ModelError> {
        let answer = self.provider.stream(request).await;
        if !self.begun.swap(true, Ordering::Relaxed) {
            (self.begin)();
        }
        answer
    }

    async fn count_tokens(&self, request: Arc<ModelRequest>) -> Result<u64, ModelError> {
        self.provider.count_tokens(request).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;
    use windlass_model::{Script, ScriptedModel};

    #[tokio::test]
    async fn work_begins_once_when_the_first_call_was_answered_or_refused() {
        let model = ScriptedModel::new(Script::new().turn(|turn| turn.text("ok")));
        let count = Arc::new(AtomicUsize::new(0));
        let (counted, asked) = (Arc::clone(&count), model.clone());
        let provider = AfterFirstCall::new(Arc::new(model.clone()), move || {
            assert_eq!(asked.requests().len(), 1, "the request is on its way");
            counted.fetch_add(1, Ordering::Relaxed);
        });
        let _ = (provider.model_info("m"), provider.ready("m"));
        assert_eq!(count.load(Ordering::Relaxed), 0);
        let request = Arc::new(ModelRequest::new("m", vec![windlass_types::Message::user_text("go").into()], 10));
        assert!(provider.stream(Arc::clone(&request)).await.is_ok());
        assert_eq!(count.load(Ordering::Relaxed), 1);
        // The script has no second turn.
        let _ = provider.stream(request).await;
        assert_eq!(count.load(Ordering::Relaxed), 1);
    }
}
