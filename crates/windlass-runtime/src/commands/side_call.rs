//! A model request outside the conversation, such as MCP sampling, and its answer.

use windlass_types::{JsonText, Message, StopReason, ToolChoice, ToolSpec, ToolUse, Usage};

/// A model request outside the conversation.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SideCall {
    /// Name of the request for rules, hooks and hosts, like that of a tool.
    pub tool: String,
    /// Description of the request for hooks and hosts, like the input of a call.
    pub input: JsonText,
    /// Description in one line, for people.
    pub title: String,
    /// Models that may write the message beside that of the session, by names that the provider knows. Default: none.
    pub models: Vec<String>,
    /// Preferred ones of these models: names or parts of names, the best first. If none fits, the session's model is
    /// used.
    pub hints: Vec<String>,
    /// The system prompt. Default: none.
    pub system: Option<String>,
    /// The messages to continue.
    pub messages: Vec<Message>,
    /// Tools that the model has for this message alone. Their calls are not carried out, but returned in
    /// [`SideAnswer::calls`]. Default: none.
    pub tools: Vec<ToolSpec>,
    /// Requirement to call one of them. Default: optional.
    pub tool_choice: ToolChoice,
    /// Maximum number of output tokens.
    pub max_output_tokens: u32,
    /// Maximum number of messages under this name in one run. Default: 10.
    pub most_in_run: u32,
}

impl SideCall {
    /// A request that continues these messages.
    pub fn new(tool: impl Into<String>, input: JsonText, messages: Vec<Message>, max_output_tokens: u32) -> Self {
        let tool = tool.into();
        Self {
            title: tool.clone(),
            tool,
            input,
            models: Vec::new(),
            hints: Vec::new(),
            system: None,
            messages,
            tools: Vec::new(),
            tool_choice: ToolChoice::Auto,
            max_output_tokens,
            most_in_run: 10,
        }
    }
}

/// A message that a model wrote.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SideAnswer {
    /// Id of the model that was called.
    pub model: String,
    /// The text, without reasoning.
    pub text: String,
    /// Calls of the tools of the message. A message that was cut off has none.
    pub calls: Vec<ToolUse>,
    /// Reason why the message ended.
    pub stop_reason: StopReason,
    /// Tokens of the call.
    pub usage: Usage,
}

/// Reason why there is no message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SideCallError {
    /// The session is closed.
    #[error("the session is closed")]
    Closed,
    /// No run is in progress, or the run has ended.
    #[error("messages of a model are written while a run is in progress, and none is")]
    NoRun,
    /// The limit of such messages in one run is reached.
    #[error("a run may have {most} of these messages, and has had them")]
    TooMany {
        /// Maximum number in one run.
        most: u32,
    },
    /// The request is not permitted.
    #[error("it is not permitted: {0}")]
    Denied(String),
    /// The budget does not suffice.
    #[error("the budget of the session does not buy it")]
    Budget,
    /// The model did not write the message.
    #[error("the model did not write it: {0}")]
    Failed(String),
}

pub(crate) type SideCallResult = Result<SideAnswer, SideCallError>;
