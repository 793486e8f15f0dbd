//! Summaries written by a function of the program.

use crate::{KnownModel, ModelError, ModelInfo, ModelProvider, ModelStream, SessionFact};
use async_trait::async_trait;
use futures_core::Stream;
use std::collections::VecDeque;
use std::error::Error as StdError;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use windlass_types::{
    BlockStart, ContentBlock, ModelErrorKind, ModelEvent, ModelItem, ModelRequest, Price, SharedMessage, StopReason,
    StreamDelta, Usage,
};

/// Context window that no conversation accepted by a model exceeds, in tokens.
const WINDOW: u64 = 1 << 40;
/// Maximum number of tokens of a summary, as counted by the loop.
const MOST_TOKENS: u32 = 64_000;

/// Content to summarise.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SummaryRequest {
    /// Conversation, oldest message first. The last message ends with [`wanted`](Self::wanted).
    pub messages: Vec<SharedMessage>,
    /// Instructions for a model, including the user's focus.
    pub wanted: String,
}

/// Reason why there is no summary.
pub type SummaryError = Box<dyn StdError + Send + Sync>;

type WrittenSummary = Pin<Box<dyn Future<Output = Result<String, SummaryError>> + Send>>;
type SummaryWriter = dyn Fn(SummaryRequest) -> WrittenSummary + Send + Sync;

/// Provider with an additional model, [`MODEL`](Self::MODEL), whose answers a function of the program writes.
#[derive(Clone)]
pub struct Summarizing {
    provider: Arc<dyn ModelProvider>,
    write: Summarizer,
}

/// A function that writes summaries.
#[derive(Clone)]
pub struct Summarizer(Arc<SummaryWriter>);

impl Summarizer {
    /// Wraps a function that writes summaries of conversations.
    pub fn new<F, Fut>(write: F) -> Self
    where
        F: Fn(SummaryRequest) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<String, SummaryError>> + Send + 'static,
    {
        Self(Arc::new(move |request| Box::pin(write(request))))
    }
}

impl fmt::Debug for Summarizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Summarizer")
    }
}

impl fmt::Debug for Summarizing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Summarizing").field("provider", &self.provider).finish_non_exhaustive()
    }
}

impl Summarizing {
    /// Name of the model that calls the function. It costs nothing.
    pub const MODEL: &'static str = "windlass:summarizer";

    /// Returns a provider that also has the function.
    pub fn new(provider: Arc<dyn ModelProvider>, write: Summarizer) -> Self {
        Self { provider, write }
    }

    async fn summary(&self, request: &ModelRequest) -> Result<ModelStream, ModelError> {
        let wanted = request.messages.last().and_then(|message| message.content.last().and_then(ContentBlock::as_text));
        let wanted = wanted.unwrap_or_default().to_owned();
        let asked = SummaryRequest { messages: request.messages.clone(), wanted };
        let text = (self.write.0)(asked).await.map_err(|error| {
            let message = format!("the summarizer of the program failed: {error}");
            ModelError::new(ModelErrorKind::InvalidRequest, message).unbilled().with_source(error)
        })?;
        let events = [
            ModelEvent::MessageStart { id: "summary".into(), model: Self::MODEL.to_owned(), usage: Usage::default() },
            ModelEvent::BlockStart { index: 0, block: BlockStart::Text(String::new()) },
            ModelEvent::BlockDelta { index: 0, delta: StreamDelta::Text(text) },
            ModelEvent::BlockStop { index: 0 },
            ModelEvent::MessageDelta { stop_reason: Some(StopReason::EndTurn), usage: Usage::default() },
            ModelEvent::MessageStop,
        ];
        Ok(Box::pin(SummaryEvents(events.map(ModelItem::from).into())))
    }
}

/// A complete message as a stream.
struct SummaryEvents(VecDeque<ModelItem>);

impl Stream for SummaryEvents {
    type Item = Result<ModelItem, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(self.0.pop_front().map(Ok))
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl ModelProvider for Summarizing {
    fn name(&self) -> &str {
        self.provider.name()
    }

    fn resolve_model(&self, name: &str) -> String {
        if name == Self::MODEL { name.to_owned() } else { self.provider.resolve_model(name) }
    }

    fn similar_models(&self, name: &str) -> Vec<String> {
        if name == Self::MODEL { Vec::new() } else { self.provider.similar_models(name) }
    }

    fn model_info(&self, model: &str) -> ModelInfo {
        if model != Self::MODEL {
            return self.provider.model_info(model);
        }
        let mut info = ModelInfo::new(WINDOW, MOST_TOKENS);
        info.price = Some(Price::new(0, 0));
        info
    }

    fn known_models(&self) -> Vec<KnownModel> {
        self.provider.known_models()
    }

    fn answering_model(&self, asked: &str, answered: &str) -> Option<String> {
        if asked == Self::MODEL { None } else { self.provider.answering_model(asked, answered) }
    }

    fn ready(&self, model: &str) -> Result<(), ModelError> {
        if model == Self::MODEL { Ok(()) } else { self.provider.ready(model) }
    }

    async fn prepare(&self, model: &str) {
        if model != Self::MODEL {
            self.provider.prepare(model).await;
        }
    }

    fn opening_notice(&self, model: &str) -> Option<String> {
        if model == Self::MODEL { None } else { self.provider.opening_notice(model) }
    }

    fn recorded_fact(&self, fact: SessionFact, current: &str) -> Option<String> {
        self.provider.recorded_fact(fact, current)
    }

    async fn stream(&self, request: Arc<ModelRequest>) -> Result<ModelStream, ModelError> {
        if request.model == Self::MODEL { self.summary(&request).await } else { self.provider.stream(request).await }
    }

    async fn count_tokens(&self, request: Arc<ModelRequest>) -> Result<u64, ModelError> {
        self.provider.count_tokens(request).await
    }
}
