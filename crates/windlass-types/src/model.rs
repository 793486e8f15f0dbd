//! Requests to models and the events of their streams.

use crate::{ContentBlock, JsonText, MessageId, RateLimit, ServerTool, SharedMessage, ToolSpec, Usage, WebSearched};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// One request to a model: the whole conversation, as sections with stable bytes.
///
/// Cloning is cheap in the history: messages and tools are shared.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ModelRequest {
    /// The model's id, aliases already resolved.
    pub model: String,
    /// The system prompt in sections; a cache breakpoint may follow each.
    pub system: Vec<SystemSection>,
    /// The tools, in stable order.
    pub tools: Arc<[Arc<ToolSpec>]>,
    /// Tools added in the middle of the conversation, in order. Empty unless the model supports it
    /// ([`ModelInfo::appends_tools`](crate::ModelInfo::appends_tools)).
    pub added_tools: Vec<AddedTools>,
    /// Tools that the vendor runs. Tools that the model does not support ([`ModelInfo`](crate::ModelInfo)) are left out
    /// of the request.
    pub server_tools: Vec<ServerTool>,
    /// The conversation. Starts with a user message; roles alternate.
    pub messages: Vec<SharedMessage>,
    /// Maximum number of output tokens.
    pub max_output_tokens: u32,
    /// Mode of reasoning before the answer.
    pub thinking: Thinking,
    /// Effort that the model spends on the answer; `None` leaves it to the model.
    pub effort: Option<Effort>,
    /// Provider betas to switch on.
    pub betas: Vec<String>,
    /// An opaque id for the provider's abuse detection; never personal data.
    pub user_id: Option<String>,
    /// Lifetime of prompt-cache entries; `None` switches cache breakpoints off.
    pub cache: Option<CacheTtl>,
    /// `true` if each item should carry the provider's own frame ([`ModelItem::raw`]).
    pub raw_frames: bool,
    /// Key of the conversation, the same for all its requests: providers route by it to the cached prompt. Opaque,
    /// never personal data.
    pub session_key: Option<Arc<str>>,
    /// Requirement to call a tool. Default: [`ToolChoice::Auto`].
    pub tool_choice: ToolChoice,
    /// The required form of the answer. `None`: any text.
    pub response_format: Option<ResponseFormat>,
    /// Members that are added to the body unchanged, a JSON object: vendor settings that windlass does not have. They
    /// override members of the same name.
    pub extra: Option<JsonText>,
}

impl ModelRequest {
    /// A request with no system prompt, tools or thinking; cache breakpoints are on.
    pub fn new(model: impl Into<String>, messages: Vec<SharedMessage>, max_output_tokens: u32) -> Self {
        Self {
            model: model.into(),
            system: Vec::new(),
            tools: Arc::from([]),
            added_tools: Vec::new(),
            server_tools: Vec::new(),
            messages,
            max_output_tokens,
            thinking: Thinking::Off,
            effort: None,
            betas: Vec::new(),
            user_id: None,
            cache: Some(CacheTtl::FiveMinutes),
            raw_frames: false,
            session_key: None,
            tool_choice: ToolChoice::Auto,
            response_format: None,
            extra: None,
        }
    }
}

/// Tools added in the middle of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AddedTools {
    /// Number of messages before the tools. The last of these is of the user.
    pub after_messages: usize,
    /// The tools.
    pub tools: Vec<Arc<ToolSpec>>,
}

impl AddedTools {
    /// Tools that are added after `after_messages` messages.
    pub fn new(after_messages: usize, tools: Vec<Arc<ToolSpec>>) -> Self {
        Self { after_messages, tools }
    }
}

/// Requirement to call a tool.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ToolChoice {
    /// The model may call a tool.
    #[default]
    Auto,
    /// The model must call a tool.
    Any,
    /// The model must call the tool of this name.
    Tool(String),
    /// The model must not call a tool.
    None,
}

/// The required form of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResponseFormat {
    /// A name for the form: letters, digits, `_` and `-`.
    pub name: String,
    /// The JSON Schema of the answer, an object.
    pub schema: JsonText,
}

impl ResponseFormat {
    /// A form by its JSON Schema.
    pub fn json_schema(name: impl Into<String>, schema: JsonText) -> Self {
        Self { name: name.into(), schema }
    }
}

/// Lifetime of a prompt-cache entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CacheTtl {
    /// Five minutes from the last use, the provider's default.
    FiveMinutes,
    /// One hour.
    OneHour,
}

/// Mode of a model's reasoning before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Thinking {
    /// Not at all.
    #[default]
    Off,
    /// As much as the model sees fit.
    Adaptive,
    /// At most this many tokens.
    Budget(u32),
}

/// Effort of a model on an answer: on reasoning, text and tool calls.
///
/// Source: <https://platform.claude.com/docs/en/build-with-claude/effort>.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Effort {
    /// The least.
    Low,
    /// Some.
    Medium,
    /// The default of models.
    High,
    /// More than that, for long work.
    XHigh,
    /// Without bound.
    Max,
}

impl Effort {
    /// All efforts, weakest first.
    pub const ALL: [Self; 5] = [Self::Low, Self::Medium, Self::High, Self::XHigh, Self::Max];

    /// Name of the effort: `low`, `medium`, `high`, `xhigh` or `max`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::XHigh => "xhigh",
            Self::Max => "max",
        }
    }
}

impl fmt::Display for Effort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl std::str::FromStr for Effort {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.into_iter().find(|effort| effort.as_str() == text);
        known.ok_or_else(|| format!("{text:?} is not an effort: use low, medium, high, xhigh or max"))
    }
}

/// A section of the system prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SystemSection {
    /// Text of the section, byte-stable over the session.
    pub text: Arc<str>,
    /// Sessions that share these bytes.
    pub scope: SectionScope,
}

impl SystemSection {
    /// A section.
    pub fn new(text: impl Into<Arc<str>>, scope: SectionScope) -> Self {
        Self { text: text.into(), scope }
    }
}

/// Sessions that share the bytes of a section. Sections are ordered by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum SectionScope {
    /// The same for all sessions of this version.
    Global,
    /// Fixed for one session.
    Session,
}

/// One item of a model's stream.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ModelItem {
    /// The event.
    pub event: ModelEvent,
    /// The provider's frame as it came, when the request asked for it. A [`ModelEvent::RateLimit`] has none, nor have a
    /// [`ModelEvent::ReasoningDropped`], a [`ModelEvent::WebSearched`] and a [`StreamDelta::Replay`].
    pub raw: Option<JsonText>,
}

impl From<ModelEvent> for ModelItem {
    fn from(event: ModelEvent) -> Self {
        Self { event, raw: None }
    }
}

impl ModelItem {
    /// An item with the provider's own frame.
    pub fn with_raw(event: ModelEvent, raw: JsonText) -> Self {
        Self { event, raw: Some(raw) }
    }
}

/// An event of a model's stream, one to one with the Messages API stream but for [`RateLimit`](Self::RateLimit),
/// [`ReasoningDropped`](Self::ReasoningDropped) and [`WebSearched`](Self::WebSearched).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ModelEvent {
    /// The message begins.
    MessageStart {
        /// The provider's id of the message.
        id: MessageId,
        /// The model that answers.
        model: String,
        /// Usage as known at the start.
        usage: Usage,
    },
    /// A block begins.
    BlockStart {
        /// Position in the message, from zero without gaps.
        index: usize,
        /// Type and first content of the block.
        block: BlockStart,
    },
    /// A block grows.
    BlockDelta {
        /// The block's position.
        index: usize,
        /// The added piece.
        delta: StreamDelta,
    },
    /// A block is complete.
    BlockStop {
        /// The block's position.
        index: usize,
    },
    /// The message's stop reason and usage so far. Usage is cumulative.
    MessageDelta {
        /// Reason why the model stopped, once known.
        stop_reason: Option<StopReason>,
        /// Usage of the whole message so far; replaces earlier figures.
        usage: Usage,
    },
    /// The message is complete. It is the last event of the stream.
    MessageStop,
    /// The state of the subscription's allowance. No event of the API: it comes with the headers of
    /// an answer, so it stands first. Like a ping, it may stand anywhere.
    RateLimit(Box<RateLimit>),
    /// The provider left reasoning of earlier messages out of the prompt. No event of the API, and like a ping it may stand
    /// anywhere.
    ReasoningDropped {
        /// Number of blocks.
        blocks: usize,
        /// Reason, in the provider's words.
        reason: String,
    },
    /// A search of the vendor ([`ServerTool::WebSearch`]) found pages or failed, or the model cites a page. No event of the API:
    /// it repeats what blocks have in the vendor's own form, and like a ping it may stand anywhere.
    WebSearched(Box<WebSearched>),
    /// A sign of life without content.
    Ping,
    /// An event that is not known here.
    Unknown,
}

/// The beginning of a block.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum BlockStart {
    /// A text block, with text that came at once.
    Text(String),
    /// A thinking block, with text and signature that came at once.
    Thinking {
        /// Reasoning text so far.
        thinking: String,
        /// Signature so far.
        signature: String,
    },
    /// A tool use; its input follows as [`StreamDelta::ToolInput`].
    ToolUse {
        /// The call's id.
        id: crate::ToolUseId,
        /// The tool's name.
        name: String,
    },
    /// A block that came whole: redacted thinking, or a type that is not known here.
    Whole(ContentBlock),
}

/// Piece that is added to a block.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamDelta {
    /// Text.
    Text(String),
    /// Reasoning text.
    Thinking(String),
    /// Signature of a thinking block.
    Signature(String),
    /// A piece of the JSON text of a tool input.
    ToolInput(String),
    /// Opaque data that the provider needs back with a text or a tool use; replaces earlier data. No event of the
    /// Messages API.
    Replay(JsonText),
    /// A delta that is not known here (citations and later kinds).
    Unknown,
}

/// Reason why a model stopped.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
#[non_exhaustive]
pub enum StopReason {
    /// The model was done.
    EndTurn,
    /// The model calls tools.
    ToolUse,
    /// The output limit is reached.
    MaxTokens,
    /// The model wrote a stop sequence.
    StopSequence,
    /// The provider paused a long turn; it continues with the same history.
    PauseTurn,
    /// The model refused.
    Refusal,
    /// The context window is full.
    ContextWindowExceeded,
    /// The model wrote a call that the provider could not read. None of the message's calls is valid.
    MalformedToolCall,
    /// A filter of the provider ended the message.
    ContentFilter,
    /// A reason that is not known here.
    Other(String),
}

impl StopReason {
    /// The reason as the Messages API writes it.
    pub fn as_str(&self) -> &str {
        match self {
            Self::EndTurn => "end_turn",
            Self::ToolUse => "tool_use",
            Self::MaxTokens => "max_tokens",
            Self::StopSequence => "stop_sequence",
            Self::PauseTurn => "pause_turn",
            Self::Refusal => "refusal",
            Self::ContextWindowExceeded => "model_context_window_exceeded",
            Self::MalformedToolCall => "malformed_tool_call",
            Self::ContentFilter => "content_filter",
            Self::Other(other) => other,
        }
    }
}

impl From<&str> for StopReason {
    fn from(text: &str) -> Self {
        match text {
            "end_turn" => Self::EndTurn,
            "tool_use" => Self::ToolUse,
            "max_tokens" => Self::MaxTokens,
            "stop_sequence" => Self::StopSequence,
            "pause_turn" => Self::PauseTurn,
            "refusal" => Self::Refusal,
            "model_context_window_exceeded" => Self::ContextWindowExceeded,
            "malformed_tool_call" => Self::MalformedToolCall,
            "content_filter" => Self::ContentFilter,
            other => Self::Other(other.to_owned()),
        }
    }
}

impl From<String> for StopReason {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<StopReason> for String {
    fn from(reason: StopReason) -> Self {
        reason.as_str().to_owned()
    }
}
