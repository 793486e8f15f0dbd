//! What comes from the other side, typed as far as it is known.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use windlass_types::{ContentBlock, JsonError, JsonText, Usage};

/// A message of the other side. Each kind keeps its line as it came, so that
/// fields and subtypes that are not known here are never lost.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Message {
    /// About the session: `init` at the start of every turn, `status`, `api_retry` and others.
    System(SystemMessage),
    /// A block of what the model said.
    Assistant(AssistantMessage),
    /// Results of tools, and what the runtime said to the model in the user's place.
    User(UserMessage),
    /// A piece of a message, if partial messages were asked for.
    StreamEvent(StreamEvent),
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

/// What `system/init` says of a session.
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

/// A block of what the model said. Provisional until a message of another kind
/// follows: a `system/message_withdrawn` takes it back.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AssistantMessage {
    /// The blocks; usually one.
    pub content: Vec<ContentBlock>,
    /// The model.
    pub model: String,
    /// The tool use whose agent said it; nothing for the main one.
    pub parent_tool_use_id: Option<String>,
    /// What kind of failure it tells of, such as `rate_limit`, if it does.
    pub error: Option<String>,
    /// The session.
    pub session_id: String,
    /// The whole message.
    pub raw: JsonText,
}

/// Results of tools, and what the runtime said to the model in the user's place.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UserMessage {
    /// The blocks.
    pub content: Vec<ContentBlock>,
    /// The tool use whose agent it belongs to; nothing for the main one.
    pub parent_tool_use_id: Option<String>,
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
    /// The tool use whose agent it belongs to; nothing for the main one.
    pub parent_tool_use_id: Option<String>,
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
    /// How often the model was called.
    pub num_turns: u32,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// What the session cost so far, in US dollars.
    pub total_cost_usd: f64,
    /// The tokens of this turn.
    pub usage: Usage,
    /// Why the model stopped.
    pub stop_reason: Option<String>,
    /// Why the turn ended, such as `completed` or `aborted_tools`.
    pub terminal_reason: Option<String>,
    /// The answer that fits the schema, if one was asked for.
    pub structured_output: Option<JsonText>,
    /// The calls that were denied, each with `tool_name`, `tool_use_id` and `tool_input`.
    pub permission_denials: Vec<JsonText>,
    /// The session.
    pub session_id: String,
    /// The whole message.
    pub raw: JsonText,
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

#[derive(Deserialize)]
struct Fields {
    #[serde(rename = "type", default)]
    kind: Option<String>,
    #[serde(default)]
    subtype: Option<String>,
    #[serde(default)]
    session_id: Option<String>,
    #[serde(default)]
    parent_tool_use_id: Option<String>,
    #[serde(default)]
    message: Option<JsonText>,
    #[serde(default)]
    event: Option<JsonText>,
    #[serde(default)]
    tool_use_result: Option<JsonText>,
    #[serde(default)]
    error: Option<JsonText>,
}

#[derive(Deserialize)]
struct Inner {
    content: JsonText,
    #[serde(default)]
    model: Option<String>,
}

#[derive(Deserialize)]
struct ResultFields {
    subtype: String,
    is_error: bool,
    #[serde(default)]
    result: Option<String>,
    #[serde(default)]
    errors: Vec<String>,
    #[serde(default)]
    num_turns: u32,
    #[serde(default)]
    duration_ms: u64,
    #[serde(default)]
    total_cost_usd: Option<f64>,
    #[serde(default)]
    usage: Option<JsonText>,
    #[serde(default)]
    stop_reason: Option<String>,
    #[serde(default)]
    terminal_reason: Option<String>,
    #[serde(default)]
    structured_output: Option<JsonText>,
    #[serde(default)]
    permission_denials: Vec<JsonText>,
    #[serde(default)]
    session_id: String,
}

impl Message {
    /// Reads a message. What lacks the fields of its type is another message, not an error.
    pub(super) fn read(raw: JsonText) -> Self {
        let Ok(fields) = raw.to::<Fields>() else {
            return Self::Other(OtherMessage { kind: String::new(), raw });
        };
        let kind = fields.kind.clone().unwrap_or_default();
        let known = match kind.as_str() {
            "system" => fields.system(&raw),
            "assistant" => fields.assistant(&raw),
            "user" => fields.user(&raw),
            "stream_event" => fields.stream_event(&raw),
            "result" => result(&raw),
            _ => None,
        };
        known.unwrap_or(Self::Other(OtherMessage { kind, raw }))
    }

    /// The message as it came.
    pub fn raw(&self) -> &JsonText {
        match self {
            Self::System(message) => &message.raw,
            Self::Assistant(message) => &message.raw,
            Self::User(message) => &message.raw,
            Self::StreamEvent(message) => &message.raw,
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

impl Fields {
    fn system(self, raw: &JsonText) -> Option<Message> {
        let session_id = self.session_id.unwrap_or_default();
        Some(Message::System(SystemMessage { subtype: self.subtype?, session_id, raw: raw.clone() }))
    }

    fn assistant(self, raw: &JsonText) -> Option<Message> {
        let inner: Inner = self.message?.to().ok()?;
        Some(Message::Assistant(AssistantMessage {
            content: blocks(&inner.content)?,
            model: inner.model.unwrap_or_default(),
            parent_tool_use_id: self.parent_tool_use_id,
            error: self.error.and_then(|error| error.to().ok()),
            session_id: self.session_id.unwrap_or_default(),
            raw: raw.clone(),
        }))
    }

    fn user(self, raw: &JsonText) -> Option<Message> {
        let inner: Inner = self.message?.to().ok()?;
        Some(Message::User(UserMessage {
            content: blocks(&inner.content)?,
            parent_tool_use_id: self.parent_tool_use_id,
            tool_use_result: self.tool_use_result,
            session_id: self.session_id.unwrap_or_default(),
            raw: raw.clone(),
        }))
    }

    fn stream_event(self, raw: &JsonText) -> Option<Message> {
        Some(Message::StreamEvent(StreamEvent {
            event: self.event?,
            parent_tool_use_id: self.parent_tool_use_id,
            session_id: self.session_id.unwrap_or_default(),
            raw: raw.clone(),
        }))
    }
}

fn blocks(content: &JsonText) -> Option<Vec<ContentBlock>> {
    if let Ok(text) = content.to::<String>() {
        return Some(vec![ContentBlock::text(text)]);
    }
    content.to().ok()
}

fn result(raw: &JsonText) -> Option<Message> {
    let fields: ResultFields = raw.to().ok()?;
    Some(Message::Result(ResultMessage {
        subtype: fields.subtype,
        is_error: fields.is_error,
        result: fields.result,
        errors: fields.errors,
        num_turns: fields.num_turns,
        duration_ms: fields.duration_ms,
        total_cost_usd: fields.total_cost_usd.unwrap_or_default(),
        usage: fields.usage.and_then(|usage| usage.to().ok()).unwrap_or_default(),
        stop_reason: fields.stop_reason,
        terminal_reason: fields.terminal_reason,
        structured_output: fields.structured_output,
        permission_denials: fields.permission_denials,
        session_id: fields.session_id,
        raw: raw.clone(),
    }))
}

impl SystemMessage {
    /// What it says of the session, if it is an `init`.
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
