//! Messages of the other side, typed as far as they are known.

mod read;
mod task;

pub use task::{TaskMessage, TaskNotification, TaskProgress, TaskStarted};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use windlass_types::{AgentIdentity, ContentBlock, EntryId, JsonError, JsonText, RateLimit, Usage};

/// A message of the other side. Each kind keeps its line as it came, so that
/// fields and subtypes that are not known here are never lost.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Message {
    /// About the session: `init` at the start of every turn, `status`, `api_retry` and others.
    System(SystemMessage),
    /// A block of a message of the model.
    Assistant(AssistantMessage),
    /// Results of tools, and texts of the runtime to the model in the user's place.
    User(UserMessage),
    /// A piece of a message, if partial messages were asked for.
    StreamEvent(StreamEvent),
    /// The allowance of the provider's subscription became known, or changed.
    RateLimit(RateLimitMessage),
    /// The end of a turn: exactly one for each prompt.
    Result(ResultMessage),
    /// A message of another type, or one that lacks what its type needs.
    Other(OtherMessage),
}

/// About the session.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SystemMessage {
    /// What it is about, such as `init`.
    pub subtype: String,
    /// The session.
    pub session_id: String,
    /// The whole message.
    pub raw: JsonText,
}

/// The session, as `system/init` describes it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Init {
    /// The session.
    pub session_id: String,
    /// The directory it works in.
    #[serde(default)]
    pub cwd: String,
    /// The model.
    #[serde(default)]
    pub model: String,
    /// The tools that the model is offered.
    #[serde(default)]
    pub tools: Vec<String>,
    /// How much may happen without a question.
    #[serde(default, rename = "permissionMode")]
    pub permission_mode: String,
    /// The level of the protocol that the other side speaks.
    #[serde(default, rename = "claude_code_version")]
    pub version: String,
}

/// A block of a message of the model. Provisional until a message of another kind
/// follows: a `system/message_withdrawn` takes it back.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AssistantMessage {
    /// The blocks; usually one.
    pub content: Vec<ContentBlock>,
    /// The model.
    pub model: String,
    /// The tool use whose agent wrote it; `None` for the main one.
    pub parent_tool_use_id: Option<String>,
    /// The agent that wrote it, if the other side names it; `None` for the main one.
    pub agent: Option<AgentIdentity>,
    /// What kind of failure it reports, such as `rate_limit`, if it does.
    pub error: Option<String>,
    /// The session.
    pub session_id: String,
    /// The whole message.
    pub raw: JsonText,
}

/// Results of tools, and texts of the runtime to the model in the user's place.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UserMessage {
    /// The blocks.
    pub content: Vec<ContentBlock>,
    /// The tool use whose agent it belongs to; `None` for the main one.
    pub parent_tool_use_id: Option<String>,
    /// The agent that it belongs to, if the other side names it; `None` for the main one.
    pub agent: Option<AgentIdentity>,
    /// The result as data, if the tool gave some.
    pub tool_use_result: Option<JsonText>,
    /// The session.
    pub session_id: String,
    /// The whole message.
    pub raw: JsonText,
}

/// A piece of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamEvent {
    /// The event as the model's provider sent it.
    pub event: JsonText,
    /// The tool use whose agent it belongs to; `None` for the main one.
    pub parent_tool_use_id: Option<String>,
    /// The session.
    pub session_id: String,
    /// The whole message.
    pub raw: JsonText,
}

/// The allowance of the provider's subscription, when it became known or changed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RateLimitMessage {
    /// The allowance. Of what it holds, the status is always there.
    pub info: RateLimit,
    /// The session.
    pub session_id: String,
    /// The whole message.
    pub raw: JsonText,
}

/// The end of a turn.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ResultMessage {
    /// `success`, or which kind of failure, such as `error_max_turns`.
    pub subtype: String,
    /// Whether the turn failed. This can be so with the subtype `success`: then the model's provider failed.
    pub is_error: bool,
    /// The model's last text; absent for failures of the subtype.
    pub result: Option<String>,
    /// What went wrong.
    pub errors: Vec<String>,
    /// What the turn took.
    pub counts: TurnCounts,
    /// Why the model stopped.
    pub stop_reason: Option<String>,
    /// Why the turn ended, such as `completed` or `aborted_tools`.
    pub terminal_reason: Option<String>,
    /// The answer that fits the schema, if one was asked for.
    pub structured_output: Option<JsonText>,
    /// The calls that were denied, each with `tool_name`, `tool_use_id` and `tool_input`.
    pub permission_denials: Vec<JsonText>,
    /// The prompts that it answers, by their ids: the one that began the turn, and those that joined it, 64 at most.
    pub answers: Vec<EntryId>,
    /// The session.
    pub session_id: String,
    /// The whole message.
    pub raw: JsonText,
}

/// What a turn took.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct TurnCounts {
    /// How often the model was called.
    pub num_turns: u32,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// What the session cost so far, in US dollars.
    pub total_cost_usd: f64,
    /// The tokens of this turn.
    pub usage: Usage,
}

/// A message of a type that is not known here.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OtherMessage {
    /// Its type.
    pub kind: String,
    /// The whole message.
    pub raw: JsonText,
}

impl Message {
    /// The message as it came.
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

    /// Reads the message as a type of yours, for fields that are not named here.
    ///
    /// # Errors
    /// It does not have that shape.
    pub fn to<T: DeserializeOwned>(&self) -> Result<T, JsonError> {
        self.raw().to()
    }
}

impl SystemMessage {
    /// The session, if it is an `init`.
    pub fn init(&self) -> Option<Init> {
        (self.subtype == "init").then(|| self.raw.to().ok()).flatten()
    }
}

impl AssistantMessage {
    /// Its text, without other blocks.
    pub fn text(&self) -> String {
        self.content.iter().filter_map(ContentBlock::as_text).collect()
    }
}

impl StreamEvent {
    /// The piece of text that it adds, if it adds one.
    pub fn text(&self) -> Option<String> {
        #[derive(Deserialize)]
        struct Event {
            delta: Delta,
        }
        #[derive(Deserialize)]
        struct Delta {
            text: String,
        }
        self.event.to::<Event>().ok().map(|event| event.delta.text)
    }
}

#[cfg(test)]
mod tests;
