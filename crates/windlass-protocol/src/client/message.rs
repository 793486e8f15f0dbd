//! Messages of the other side, typed if they are known.

mod read;
mod task;

pub use task::{TaskMessage, TaskNotification, TaskProgress, TaskStarted};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use windlass_types::{AgentIdentity, ContentBlock, EntryId, JsonError, JsonText, RateLimit, Usage};

/// A message of the other side. Each kind keeps its line unchanged, so that unknown fields and subtypes are never lost.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Message {
    /// A message about the session: `init` at the start of every turn, `status`, `api_retry` and others.
    System(SystemMessage),
    /// A block of a message of the model.
    Assistant(AssistantMessage),
    /// Results of tools, and texts of the runtime to the model in the user's place.
    User(UserMessage),
    /// A piece of a message, if partial messages were requested.
    StreamEvent(StreamEvent),
    /// The rate limit of the provider's subscription became known, or changed.
    RateLimit(RateLimitMessage),
    /// The end of a turn: exactly one for each prompt.
    Result(ResultMessage),
    /// A message of another type, or one without the required fields of its type.
    Other(OtherMessage),
}

/// A message about the session.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SystemMessage {
    /// Subject of the message, such as `init`.
    pub subtype: String,
    /// Id of the session.
    pub session_id: String,
    /// Whole message.
    pub raw: JsonText,
}

/// Description of the session in `system/init`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Init {
    /// Id of the session.
    pub session_id: String,
    /// Working directory.
    #[serde(default)]
    pub cwd: String,
    /// Name of the model.
    #[serde(default)]
    pub model: String,
    /// Names of the tools offered to the model.
    #[serde(default)]
    pub tools: Vec<String>,
    /// Permission mode.
    #[serde(default, rename = "permissionMode")]
    pub permission_mode: String,
    /// Protocol version of the other side.
    #[serde(default, rename = "claude_code_version")]
    pub version: String,
}

/// A block of a message of the model. Provisional until a message of another kind follows: a `system/message_withdrawn`
/// withdraws it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AssistantMessage {
    /// Content blocks; usually one.
    pub content: Vec<ContentBlock>,
    /// Name of the model.
    pub model: String,
    /// Tool use of the agent that wrote the message; `None` for the main agent.
    pub parent_tool_use_id: Option<String>,
    /// Agent that wrote the message, if the other side names it; `None` for the main agent.
    pub agent: Option<AgentIdentity>,
    /// Kind of the failure that the message reports, such as `rate_limit`, if it does.
    pub error: Option<String>,
    /// Id of the session.
    pub session_id: String,
    /// Whole message.
    pub raw: JsonText,
}

/// Results of tools, and texts of the runtime to the model in the user's place.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UserMessage {
    /// Content blocks.
    pub content: Vec<ContentBlock>,
    /// Tool use of the agent that the message belongs to; `None` for the main agent.
    pub parent_tool_use_id: Option<String>,
    /// Agent that the message belongs to, if the other side names it; `None` for the main agent.
    pub agent: Option<AgentIdentity>,
    /// Result as data, if the tool returned some.
    pub tool_use_result: Option<JsonText>,
    /// Id of the session.
    pub session_id: String,
    /// Whole message.
    pub raw: JsonText,
}

/// A piece of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamEvent {
    /// Event as the model's provider sent it.
    pub event: JsonText,
    /// Tool use of the agent that the event belongs to; `None` for the main agent.
    pub parent_tool_use_id: Option<String>,
    /// Id of the session.
    pub session_id: String,
    /// Whole message.
    pub raw: JsonText,
}

/// Rate limit of the provider's subscription, when it became known or changed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RateLimitMessage {
    /// The rate limit. Of its fields, only the status is always set.
    pub info: RateLimit,
    /// Id of the session.
    pub session_id: String,
    /// Whole message.
    pub raw: JsonText,
}

/// End of a turn.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ResultMessage {
    /// `success`, or the kind of the failure, such as `error_max_turns`.
    pub subtype: String,
    /// `true` if the turn failed. With the subtype `success`, the model's provider failed.
    pub is_error: bool,
    /// Last text of the model; absent for failures of the subtype.
    pub result: Option<String>,
    /// Errors of the turn.
    pub errors: Vec<String>,
    /// Counts of the turn.
    pub counts: TurnCounts,
    /// Stop reason of the model.
    pub stop_reason: Option<String>,
    /// Reason of the turn's end, such as `completed` or `aborted_tools`.
    pub terminal_reason: Option<String>,
    /// Output that fits the schema, if one was requested.
    pub structured_output: Option<JsonText>,
    /// Denied calls, each with `tool_name`, `tool_use_id` and `tool_input`.
    pub permission_denials: Vec<JsonText>,
    /// Ids of the answered prompts: the one that began the turn, and those that joined it, 64 at most.
    pub answers: Vec<EntryId>,
    /// Id of the session.
    pub session_id: String,
    /// Whole message.
    pub raw: JsonText,
}

/// Counts of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct TurnCounts {
    /// Number of model calls.
    pub num_turns: u32,
    /// Duration in milliseconds.
    pub duration_ms: u64,
    /// Cost of the session so far, in US dollars.
    pub total_cost_usd: f64,
    /// Tokens of this turn.
    pub usage: Usage,
}

/// A message of an unknown type.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OtherMessage {
    /// Type of the message.
    pub kind: String,
    /// Whole message.
    pub raw: JsonText,
}

impl Message {
    /// Whole message, unchanged.
    pub fn raw(&self) -> &JsonText {
        match self {
            Self::System(message) => &message.raw,
            Self::Assistant(message) => &message.raw,
            Self::User(message) => &message.raw,
            Self::StreamEvent(message) => &message.raw,
            Self::RateLimit(message) => &message.raw,
            Self::Result(message) => &message.raw,
            Self::Other(message) => &message.raw,
        }
    }

    /// Deserializes the message as a type of yours, for fields without a name here.
    ///
    /// # Errors
    /// The message does not have that shape.
    pub fn to<T: DeserializeOwned>(&self) -> Result<T, JsonError> {
        self.raw().to()
    }
}

impl SystemMessage {
    /// Description of the session, if this is an `init`.
    pub fn init(&self) -> Option<Init> {
        (self.subtype == "init").then(|| self.raw.to().ok()).flatten()
    }
}

impl AssistantMessage {
    /// Text of the message, without other blocks.
    pub fn text(&self) -> String {
        self.content.iter().filter_map(ContentBlock::as_text).collect()
    }
}

impl StreamEvent {
    /// Text of the piece, if it has one.
    pub fn text(&self) -> Option<String> {
        #[derive(Deserialize)]
        struct EventMember {
            delta: DeltaMember,
        }
        #[derive(Deserialize)]
        struct DeltaMember {
            text: String,
        }
        self.event.to::<EventMember>().ok().map(|event| event.delta.text)
    }
}

#[cfg(test)]
mod tests;
