//! Model provider port.

use crate::{KnownModel, ModelError, ModelInfo, SessionFact};
use async_trait::async_trait;
use futures_core::Stream;
use std::fmt::Debug;
use std::pin::Pin;
use std::sync::Arc;
use windlass_types::{ModelItem, ModelRequest};

/// Stream of one model request.
///
/// Ends after [`ModelEvent::MessageStop`](windlass_types::ModelEvent::MessageStop), or with one `Err`, or without
/// either when the connection was cut; only the first is a complete message. Dropping it cancels the request and closes
/// its connection.
pub type ModelStream = Pin<Box<dyn Stream<Item = Result<ModelItem, ModelError>> + Send>>;

/// A provider of models, with one endpoint and one set of credentials.
///
/// # What an implementation must do
/// - Map its own stream to the events of the Messages API one to one, in order,
///   with block indexes from zero without gaps, and tool inputs as the exact
///   JSON text that the model wrote.
/// - Yield `MessageStop` only for a message that is complete. A connection that
///   ends early is [`ModelErrorKind::Cut`](windlass_types::ModelErrorKind::Cut).
/// - Give each item a frame of the Messages API if the request wants frames, and none otherwise: the service's own, or
///   the result of `framed` for the event.
/// - Report usage cumulatively, once per token.
/// - Report a subscription's rate limit first, or with the error that refuses the request.
/// - Not retry: the loop decides, by the error's kind and wait hint.
/// - Keep memory bounded and keys out of every error and `Debug` text.
///
/// The test kit's conformance functions check these.
///
/// ```
/// # mod windlass {
/// #     pub use async_trait::async_trait;
/// #     pub mod provider { pub use windlass_model::*; pub use windlass_types::*; }
/// # }
/// use std::sync::Arc;
/// use windlass::async_trait;
/// use windlass::provider::{BlockStart, ModelEvent, ModelInfo, ModelRequest, StopReason, StreamDelta, Usage};
/// use windlass::provider::{ModelError, ModelProvider, ModelStream, framed};
///
/// /// Gives every prompt the same answer.
/// #[derive(Debug)]
/// struct Polite;
///
/// #[async_trait]
/// impl ModelProvider for Polite {
///     fn name(&self) -> &str {
///         "polite"
///     }
///
///     fn resolve_model(&self, name: &str) -> String {
///         if name == "default" { "polite-1".to_owned() } else { name.to_owned() }
///     }
///
///     fn model_info(&self, _: &str) -> ModelInfo {
///         ModelInfo::new(100_000, 4_096)
///     }
///
///     async fn stream(&self, request: Arc<ModelRequest>) -> Result<ModelStream, ModelError> {
///         let events = [
///             ModelEvent::MessageStart { id: "msg_1".into(), model: request.model.clone(), usage: Usage::new(10, 0) },
///             ModelEvent::BlockStart { index: 0, block: BlockStart::Text(String::new()) },
///             ModelEvent::BlockDelta { index: 0, delta: StreamDelta::Text("Gladly.".to_owned()) },
///             ModelEvent::BlockStop { index: 0 },
///             ModelEvent::MessageDelta { stop_reason: Some(StopReason::EndTurn), usage: Usage::new(10, 3) },
///             ModelEvent::MessageStop,
///         ];
///         let frames = request.raw_frames;
///         Ok(Box::pin(futures_util::stream::iter(events.map(move |event| Ok(framed(event, frames))))))
///     }
///
///     async fn count_tokens(&self, _: Arc<ModelRequest>) -> Result<u64, ModelError> {
///         Ok(10)
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a model provider",
    label = "not a model provider",
    note = "give `Anthropic::from_env()?`, or a `ScriptedModel` in tests; the name of a model is given with `.model(..)`"
)]
#[async_trait]
pub trait ModelProvider: Debug + Send + Sync + 'static {
    /// Returns a short name for logs and errors, such as `anthropic`.
    fn name(&self) -> &str;

    /// Resolves the name given by a user (`sonnet`, `opus[1m]`, an id) to a model id of this provider.
    fn resolve_model(&self, name: &str) -> String;

    /// Returns names similar to one that this provider does not know, the nearest first: `sonnet` for `sonet`. Empty
    /// for a known name. Default: empty, for a provider that does not know its names.
    fn similar_models(&self, name: &str) -> Vec<String> {
        let _ = name;
        Vec::new()
    }

    /// Returns the description of a model: limits, abilities, price. Unknown models get conservative defaults and no
    /// price.
    fn model_info(&self, model: &str) -> ModelInfo;

    /// Returns the models that this provider knows without its server, with the figures of
    /// [`model_info`](Self::model_info). Needs neither key nor network. Default: none, for a provider whose models only
    /// its server knows; others should list them, so that users can look them up.
    fn known_models(&self) -> Vec<KnownModel> {
        Vec::new()
    }

    /// Returns the model for which a request is booked when another model than the requested one answered, as its
    /// message reports: a server may fall back, and a router choose. `None`: the requested one. Default: the answering
    /// one, if it has a known price that differs.
    fn answering_model(&self, asked: &str, answered: &str) -> Option<String> {
        is_priced_otherwise(&self.model_info(asked), &self.model_info(answered)).then(|| answered.to_owned())
    }

    /// Checks that requests to a model can be sent at all: the provider is set up, and its key is present. A session
    /// asks before it begins. Default: `Ok`, for a provider that is otherwise refused at its creation.
    ///
    /// # Errors
    /// The error that each request would end in.
    fn ready(&self, model: &str) -> Result<(), ModelError> {
        let _ = model;
        Ok(())
    }

    /// Asks the server for facts about a model that only it knows, so that [`model_info`](Self::model_info) has them:
    /// the context window of a model that a server of the user has loaded. A session waits for it when it opens, so it
    /// must end soon, whatever the server does. Default: nothing, for a provider whose tables have all.
    ///
    /// Cancel safe.
    async fn prepare(&self, model: &str) {
        let _ = model;
    }

    /// Returns a line that a session with this model shows once, when it opens: for example, the host of a gateway that
    /// accepts names of other vendors. Default: none.
    fn opening_notice(&self, model: &str) -> Option<String> {
        let _ = model;
        None
    }

    /// Returns the value of a fact for the requests of a session, in place of the current one: a recording writes the
    /// current value, a replay returns the recorded one. It applies as long as the session is open. Default: none, and
    /// a session follows its surroundings.
    fn recorded_fact(&self, fact: SessionFact, current: &str) -> Option<String> {
        let _ = (fact, current);
        None
    }

    /// Sends a request and returns its stream, once the provider has begun to answer.
    ///
    /// Cancel safe: dropping the future abandons the request.
    ///
    /// # Errors
    /// The provider refused the request or could not be reached.
    async fn stream(&self, request: Arc<ModelRequest>) -> Result<ModelStream, ModelError>;

    /// Counts the input tokens of a request without running it.
    ///
    /// # Errors
    /// The provider refused the request, could not be reached, or cannot count.
    async fn count_tokens(&self, request: Arc<ModelRequest>) -> Result<u64, ModelError>;
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<P: ModelProvider + ?Sized> ModelProvider for Arc<P> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn resolve_model(&self, name: &str) -> String {
        (**self).resolve_model(name)
    }

    fn similar_models(&self, name: &str) -> Vec<String> {
        (**self).similar_models(name)
    }

    fn model_info(&self, model: &str) -> ModelInfo {
        (**self).model_info(model)
    }

    fn known_models(&self) -> Vec<KnownModel> {
        (**self).known_models()
    }

    fn answering_model(&self, asked: &str, answered: &str) -> Option<String> {
        (**self).answering_model(asked, answered)
    }

    fn ready(&self, model: &str) -> Result<(), ModelError> {
        (**self).ready(model)
    }

    async fn prepare(&self, model: &str) {
        (**self).prepare(model).await;
    }

    fn opening_notice(&self, model: &str) -> Option<String> {
        (**self).opening_notice(model)
    }

    fn recorded_fact(&self, fact: SessionFact, current: &str) -> Option<String> {
        (**self).recorded_fact(fact, current)
    }

    async fn stream(&self, request: Arc<ModelRequest>) -> Result<ModelStream, ModelError> {
        (**self).stream(request).await
    }

    async fn count_tokens(&self, request: Arc<ModelRequest>) -> Result<u64, ModelError> {
        (**self).count_tokens(request).await
    }
}

/// `true` if the answering model has a known price that differs from that of the requested model.
pub fn is_priced_otherwise(asked: &ModelInfo, answered: &ModelInfo) -> bool {
    answered.price.is_some() && (asked.price, &asked.long_prompts) != (answered.price, &answered.long_prompts)
}

const _: fn(&dyn ModelProvider) = |_| {};
