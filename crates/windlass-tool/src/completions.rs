//! Port to messages of a model that are not part of the conversation.

use crate::{BoxFuture, ToolError};
use std::fmt::Debug;
use windlass_types::{Effort, ModelInfo, ServerTool, StopReason, Usage, WebSearched};

/// Lets a model of the session write a message for a running call.
///
/// The message is not part of the conversation: the model reads only the prompt. It counts in the budget of the session
/// and in the usage of the run.
///
/// ```
/// use windlass_tool::{Completion, ToolCx, ToolError};
///
/// /// What a tool does that has the model of the session sum up a long text.
/// async fn sum_up(text: &str, cx: &ToolCx) -> Result<String, ToolError> {
///     let mut completion = Completion::new(format!("Sum this up in three sentences:\n\n{text}"));
///     completion.max_output_tokens = 500;
///     Ok(cx.completions()?.complete(completion).await?.text)
/// }
/// ```
pub trait Completions: Debug + Send + Sync + 'static {
    /// Returns the properties of a model, by id or alias. `None`: the model of the session.
    fn model_info(&self, model: Option<&str>) -> ModelInfo;

    /// Lets the model write the message. The request is not repeated when the provider fails.
    ///
    /// Cancel safety: dropping the future ends the call of the model; the usage until then is booked. The future fails
    /// when the budget does not suffice for the message, or the model does not complete it.
    fn complete(&self, completion: Completion) -> BoxFuture<'static, Result<Completed, ToolError>>;
}

/// A message to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Completion {
    /// Model, by id or alias. `None`: that of the session.
    pub model: Option<String>,
    /// System prompt. Default: none.
    pub system: Option<String>,
    /// Prompt for the model.
    pub prompt: String,
    /// Maximum number of tokens that the model may write. Default: 4,096.
    pub max_output_tokens: u32,
    /// Thinking effort. `None`, the default, leaves it to the model.
    pub effort: Option<Effort>,
    /// Tools that the vendor runs meanwhile. Those that the model does not have are left out. Default: none.
    pub server_tools: Vec<ServerTool>,
}

impl Completion {
    /// Returns a request for an answer of the session's model to a prompt.
    pub fn new(prompt: impl Into<String>) -> Self {
        Self {
            model: None,
            system: None,
            prompt: prompt.into(),
            max_output_tokens: 4_096,
            effort: None,
            server_tools: Vec::new(),
        }
    }
}

/// A message that a model wrote.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Completed {
    /// Model that wrote the message.
    pub model: String,
    /// Text, without reasoning.
    pub text: String,
    /// Reason why the message ended.
    pub stop_reason: StopReason,
    /// Results of searches by the vendor, and the citations of the model, in order of arrival.
    pub searches: Vec<WebSearched>,
    /// Usage of the message.
    pub usage: Usage,
}

impl Completed {
    /// Returns a complete text.
    pub fn new(model: impl Into<String>, text: impl Into<String>, usage: Usage) -> Self {
        let (model, text) = (model.into(), text.into());
        Self { model, text, stop_reason: StopReason::EndTurn, searches: Vec::new(), usage }
    }
}

const _: fn(&dyn Completions) = |_| {};
