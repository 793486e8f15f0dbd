//! The port to messages of a model that are no part of the conversation.

use crate::{BoxFuture, ToolError};
use std::fmt::Debug;
use windlass_types::{Effort, ModelInfo, ServerTool, StopReason, Usage, WebSearched};

/// Has a model of the session write a message for a call that runs.
///
/// The message is no part of the conversation: the model reads the prompt alone. It counts in the budget of the session and in
/// the figures of the run.
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
    /// What is known of a model, by id or alias. `None`: that of the session.
    fn model_info(&self, model: Option<&str>) -> ModelInfo;

    /// Has it written. It is not repeated when the provider fails.
    ///
    /// Cancel safety: dropping the future ends the call of the model; what was used until then is booked. The future fails
    /// when the budget does not buy the message, or the model does not write it to its end.
    fn complete(&self, completion: Completion) -> BoxFuture<'static, Result<Completed, ToolError>>;
}

/// A message that is to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Completion {
    /// The model, by id or alias. `None`: that of the session.
    pub model: Option<String>,
    /// The system prompt. Default: none.
    pub system: Option<String>,
    /// What the model reads.
    pub prompt: String,
    /// The most tokens that it may write. Default: 4,096.
    pub max_output_tokens: u32,
    /// How much the model spends on it. `None`, the default, leaves it to the model.
    pub effort: Option<Effort>,
    /// Tools that the vendor runs meanwhile. Those that the model does not have are left out. Default: none.
    pub server_tools: Vec<ServerTool>,
}

impl Completion {
    /// An answer of the session's model to a prompt.
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
    /// The model.
    pub model: String,
    /// The text, without reasoning.
    pub text: String,
    /// Why it ended there.
    pub stop_reason: StopReason,
    /// What searches of the vendor found, and what the model cites of it, in the order in which it came.
    pub searches: Vec<WebSearched>,
    /// What it used.
    pub usage: Usage,
}

impl Completed {
    /// A text that came to its end.
    pub fn new(model: impl Into<String>, text: impl Into<String>, usage: Usage) -> Self {
        let (model, text) = (model.into(), text.into());
        Self { model, text, stop_reason: StopReason::EndTurn, searches: Vec::new(), usage }
    }
}

const _: fn(&dyn Completions) = |_| {};
