//! Work that begins soon after the first answer of a session.

use async_trait::async_trait;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use windlass_model::{KnownModel, ModelError, ModelInfo, ModelProvider, ModelStream, SessionFact};
use windlass_types::ModelRequest;

/// Delay after the first answer: models answer for seconds, and the calls of a quick answer come first.
const LATER: Duration = Duration::from_millis(100);

/// A provider that starts background work a tenth of a second after the first model call is answered or has failed.
/// Earlier, the work would compete for processors and the disk with that request and the calls of its answer. The work
/// must not block. It does not start once the provider is dropped.
pub(crate) struct AfterFirstCall<F> {
    provider: Arc<dyn ModelProvider>,
    begin: Arc<F>,
    begun: AtomicBool,
}

impl<F: Fn() + Send + Sync + 'static> AfterFirstCall<F> {
    pub(crate) fn new(provider: Arc<dyn ModelProvider>, begin: F) -> Self {
        Self { provider, begin: Arc::new(begin), begun: AtomicBool::new(false) }
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

    async fn prepare(&self, model: &str) {
        self.provider.prepare(model).await;
    }

    fn opening_notice(&self, model: &str) -> Option<String> {
        self.provider.opening_notice(model)
    }

    fn recorded_fact(&self, fact: SessionFact, current: &str) -> Option<String> {
        self.provider.recorded_fact(fact, current)
    }

    async fn stream(&self, request: Arc<ModelRequest>) -> Result<ModelStream, ModelError> {
        let answer = self.provider.stream(request).await;
        if !self.begun.swap(true, Ordering::Relaxed) {
            let begin = Arc::downgrade(&self.begin);
            tokio::spawn(async move {
                tokio::time::sleep(LATER).await;
                if let Some(begin) = begin.upgrade() {
                    begin();
                }
            });
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

    fn counting(model: &ScriptedModel) -> (AfterFirstCall<impl Fn() + Send + Sync + use<>>, Arc<AtomicUsize>) {
        let count = Arc::new(AtomicUsize::new(0));
        let (counted, asked) = (Arc::clone(&count), model.clone());
        let provider = AfterFirstCall::new(Arc::new(model.clone()), move || {
            assert_eq!(asked.requests().len(), 1, "the request is on its way");
            counted.fetch_add(1, Ordering::Relaxed);
        });
        (provider, count)
    }

    fn request() -> Arc<ModelRequest> {
        Arc::new(ModelRequest::new("m", vec![windlass_types::Message::user_text("go").into()], 10))
    }

    #[tokio::test(start_paused = true)]
    async fn work_begins_once_and_behind_the_first_answer() {
        let model = ScriptedModel::new(Script::new().turn(|turn| turn.text("ok")));
        let (provider, count) = counting(&model);
        let _ = (provider.model_info("m"), provider.ready("m"));
        tokio::time::sleep(LATER * 2).await;
        assert_eq!(count.load(Ordering::Relaxed), 0);
        assert!(provider.stream(request()).await.is_ok());
        tokio::time::sleep(LATER / 2).await;
        assert_eq!(count.load(Ordering::Relaxed), 0);
        tokio::time::sleep(LATER).await;
        assert_eq!(count.load(Ordering::Relaxed), 1);
        // The script has no second turn.
        let _ = provider.stream(request()).await;
        tokio::time::sleep(LATER * 2).await;
        assert_eq!(count.load(Ordering::Relaxed), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_refusal_counts_as_an_answer_and_a_session_that_has_ended_begins_none() {
        for (ends, begun) in [(false, 1), (true, 0)] {
            let (provider, count) = counting(&ScriptedModel::new(Script::new()));
            let _ = provider.stream(request()).await;
            let provider = (!ends).then_some(provider);
            tokio::time::sleep(LATER * 2).await;
            assert_eq!(count.load(Ordering::Relaxed), begun);
            drop(provider);
        }
    }
}
