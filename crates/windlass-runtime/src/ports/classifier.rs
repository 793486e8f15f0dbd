//! The classifier of the mode auto: a model that is asked about calls which rules leave undecided.

use crate::ports::model_text::write;
use futures_util::FutureExt;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use windlass_context::estimate_request;
use windlass_core::ModelProfile;
use windlass_model::{ModelError, ModelProvider};
use windlass_permission::{Boundary, CLASSIFIER_SYSTEM, Classified, ClassifierCache, ClassifierQuestion, read_answer};
use windlass_types::{Message, ModelRequest, SectionScope, SystemSection, Usage};

/// Maximum number of tokens of a verdict, and maximum number of characters that are read of one.
const MAX_OUTPUT_TOKENS: u32 = 512;
const MAX_CHARS: usize = 8_000;

/// A model that judges, in the mode auto, calls that rules leave undecided. It can only allow a call or have it asked
/// about; a failure, a late answer or an invalid verdict has it asked about.
///
/// Clones share the cache of verdicts.
#[derive(Clone)]
#[non_exhaustive]
pub struct Classifier {
    /// Provider of the model.
    pub provider: Arc<dyn ModelProvider>,
    /// The model.
    pub model: ModelProfile,
    /// Time limit for a verdict. Default: 20 seconds.
    pub time_limit: Duration,
    known: Arc<Mutex<ClassifierCache>>,
}

impl Classifier {
    /// A model by a name that the provider knows.
    pub fn new(provider: Arc<dyn ModelProvider>, model: &str) -> Self {
        let id = provider.resolve_model(model);
        let info = provider.model_info(&id);
        let model = ModelProfile::new(id, info);
        Self { provider, model, time_limit: Duration::from_secs(20), known: Arc::default() }
    }

    fn known(&self) -> MutexGuard<'_, ClassifierCache> {
        // The cache changes in one step: it is consistent even after a panic.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the verdict on one call, outside of a session: to measure how a model judges. `bits`: 128 random bits.
    /// Nothing is booked. The call ends within the time limit and may be dropped at any time.
    pub async fn judge(&self, question: ClassifierQuestion, bits: u128) -> Classified {
        let request = match self.clone().prepare(question, bits) {
            Ok(request) => request,
            Err(known) => return known,
        };
        request.verdict(&mut Usage::default()).await
    }

    /// Makes the request about a call.
    ///
    /// # Errors
    /// No model is to be asked: the verdict is known, or the call is too long to be judged.
    pub(crate) fn prepare(self, question: ClassifierQuestion, bits: u128) -> Result<Classification, Classified> {
        if let Some(known) = self.known().get(&question) {
            return Err(known);
        }
        let Some(prompt) = question.prompt(&Boundary::new(bits)) else {
            return Err(Classified::Failed("the call is too long to be judged".to_owned()));
        };
        let message = Message::user_text(prompt).into();
        let mut request = ModelRequest::new(self.model.id.to_string(), vec![message], MAX_OUTPUT_TOKENS);
        request.system = vec![SystemSection::new(CLASSIFIER_SYSTEM, SectionScope::Global)];
        Ok(Classification { model: self.model.clone(), request: Arc::new(request), classifier: self, question })
    }
}

impl fmt::Debug for Classifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Classifier")
            .field("model", &self.model.id)
            .field("time_limit", &self.time_limit)
            .finish_non_exhaustive()
    }
}

/// A request about one call.
pub(crate) struct Classification {
    pub(crate) model: ModelProfile,
    request: Arc<ModelRequest>,
    classifier: Classifier,
    question: ClassifierQuestion,
}

impl Classification {
    pub(crate) fn input_tokens(&self) -> u64 {
        estimate_request(&self.request)
    }

    pub(crate) fn max_output_tokens(&self) -> u32 {
        self.request.max_output_tokens
    }

    /// Returns the verdict, within the time limit, and remembers it for equal calls. `usage` is raised meanwhile.
    pub(crate) async fn verdict(&self, usage: &mut Usage) -> Classified {
        let verdict = self.ask(usage).await;
        self.classifier.known().put(&self.question, &verdict);
        verdict
    }

    async fn ask(&self, usage: &mut Usage) -> Classified {
        let answered = AssertUnwindSafe(self.answer(usage)).catch_unwind();
        match tokio::time::timeout(self.classifier.time_limit, answered).await {
            Ok(Ok(Ok(text))) => read_answer(&text),
            Ok(Ok(Err(error))) => Classified::Failed(error.message),
            Ok(Err(_)) => Classified::Failed("its provider panicked".to_owned()),
            Err(_) => {
                Classified::Failed(format!("it took longer than {} seconds", self.classifier.time_limit.as_secs()))
            }
        }
    }

    /// Returns the text of the answer; empty if it was cut off, or is too long for a verdict.
    async fn answer(&self, billed: &mut Usage) -> Result<String, ModelError> {
        let message = write(&*self.classifier.provider, &self.request, MAX_CHARS, billed).await?;
        Ok(if message.is_whole { message.text } else { String::new() })
    }
}
