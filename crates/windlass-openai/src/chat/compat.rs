//! Differences between endpoints that speak Chat Completions, as data.

mod reasoning;
mod request;

pub use reasoning::{ReasoningBack, ReasoningCompat, ReasoningField, ThinkingSwitch};
pub use request::{
    AnswerFormat, BodyCompat, CacheCompat, EmptyContent, IdRule, InstructionRole, MessageCompat, OutputLimit, Strict,
    ToolCompat, ToolImages, ToolSupport,
};

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use windlass_types::{JsonError, JsonText, StopReason};

/// Profile of an endpoint: its supported request members and the form of its answers.
///
/// The default is for an unknown endpoint: it uses only members that all servers accept, and reads all known forms. A
/// profile in the settings is merged over another one ([`Compat::with_settings`]), so settings name only differences.
///
/// ```
/// use windlass_openai::Compat;
/// use windlass_types::JsonText;
///
/// let settings = JsonText::parse(r#"{"tools":{"strict":"per_tool"},"body":{"output_limit":"max_completion_tokens"}}"#)?;
/// let compat = Compat::default().with_settings(&settings)?;
/// assert_eq!(compat.tools.strict, windlass_openai::Strict::PerTool);
/// # Ok::<(), windlass_types::JsonError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Compat {
    /// Transport of requests.
    pub transport: TransportCompat,
    /// Members of the body beside messages and tools.
    pub body: BodyCompat,
    /// Caching of prompts.
    pub cache: CacheCompat,
    /// Roles and contents.
    pub messages: MessageCompat,
    /// Tools and calls.
    pub tools: ToolCompat,
    /// Reasoning, in both directions.
    pub reasoning: ReasoningCompat,
    /// Reading of answers.
    pub answer: AnswerCompat,
}

impl Compat {
    /// Returns this profile with the members of a JSON object replaced, at every level.
    ///
    /// # Errors
    /// Fails if the settings are not an object, or have an unknown member or value.
    pub fn with_settings(&self, settings: &JsonText) -> Result<Self, JsonError> {
        let mut profile: serde_json::Value = JsonText::of(self)?.to()?;
        merge(&mut profile, settings.to()?);
        JsonText::of(&profile)?.to()
    }
}

fn merge(into: &mut serde_json::Value, from: serde_json::Value) {
    match (into, from) {
        (serde_json::Value::Object(into), serde_json::Value::Object(from)) => {
            for (name, value) in from {
                merge(into.entry(name).or_insert(serde_json::Value::Null), value);
            }
        }
        // A list would be read as the members of a profile, in order.
        (into @ serde_json::Value::Object(_), serde_json::Value::Array(_)) => *into = "a list".into(),
        (into, from) => *into = from,
    }
}

/// Transport of requests to an endpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct TransportCompat {
    /// Path after the base URL; a query may follow, as older versions of Azure require (`?api-version=…`). Default:
    /// `/chat/completions`.
    pub path: Cow<'static, str>,
    /// Authentication of requests. Default: a bearer token.
    pub auth: Auth,
    /// `true` if the endpoint answers without a key: servers on the local machine do. Default: `false`.
    pub key_optional: bool,
    /// Header that carries [`session_key`](windlass_types::ModelRequest::session_key), by which some vendors route a
    /// session to the server that caches its prompt (xAI, "Prompt caching": `x-grok-conv-id`). Default: empty, no
    /// header.
    pub session_header: Cow<'static, str>,
    /// Protocol of the endpoint. Default: Chat Completions.
    pub protocol: Protocol,
}

impl TransportCompat {
    pub(crate) const CAREFUL: Self = Self {
        path: Cow::Borrowed("/chat/completions"),
        auth: Auth::Bearer,
        key_optional: false,
        session_header: Cow::Borrowed(""),
        protocol: Protocol::ChatCompletions,
    };
}

impl Default for TransportCompat {
    fn default() -> Self {
        Self::CAREFUL
    }
}

/// Authentication at an endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Auth {
    /// Sends `authorization: Bearer KEY`.
    Bearer,
    /// Sends a header of this name with the bare key; Azure uses `api-key`.
    Header(Cow<'static, str>),
}

/// Protocol of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Protocol {
    /// `POST /chat/completions` with server-sent events.
    ChatCompletions,
    /// `POST /api/chat` of Ollama, with a JSON object in each line. Only this protocol can set the context size and
    /// keep the server from cutting the prompt.
    Ollama,
}

/// Reading of an endpoint's answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct AnswerCompat {
    /// `true` if `[DONE]` ends a message that named no finish reason. Default: `false`, such a message is treated as
    /// cut, because a proxy that lost its server writes `[DONE]` too.
    pub done_without_finish: bool,
    /// `true` if the endpoint answers a prompt that is larger than the window as if it fitted (z.ai: the usage is
    /// larger than the window). Such an answer fails as
    /// [`PromptTooLong`](windlass_types::ModelErrorKind::PromptTooLong). Applies only to models whose window is known.
    /// Default: `false`.
    pub silent_overflow: bool,
    /// Meanings of the endpoint's own finish reasons; they take precedence over the common ones.
    pub finish_reasons: Cow<'static, [(Cow<'static, str>, Finish)]>,
    /// Usable part of a model's window, in percent. OpenRouter counts tokens with a tokenizer that is not the model's
    /// and refuses prompts that it considers too long, so a part stays free. Default: 100.
    pub window_percent: u8,
    /// `true` if reasoning is counted beside the completion tokens and not as part of them (xAI). Usage whose sum shows
    /// this is recognized without the setting. Default: `false`.
    pub reasoning_beside_output: bool,
    /// Unit in which the usage reports the cost of a call. A reported cost takes precedence over known prices. Default:
    /// none, because an amount of an unknown currency is useless.
    pub reported_cost: ReportedCost,
}

/// Form in which an endpoint reports the cost of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReportedCost {
    /// The cost is not reported.
    Never,
    /// Dollars, as `usage.cost` (OpenRouter, "Usage accounting", whose credits are dollars; no option of the request is
    /// needed). With the user's own key at the vendor, the vendor's charge is added.
    Dollars,
    /// Ten billionths of a dollar, as `usage.cost_in_usd_ticks` (xAI, "Cost tracking").
    DollarTicks,
}

impl AnswerCompat {
    pub(crate) const CAREFUL: Self = Self {
        done_without_finish: false,
        silent_overflow: false,
        finish_reasons: Cow::Borrowed(&[]),
        window_percent: 100,
        reasoning_beside_output: false,
        reported_cost: ReportedCost::Never,
    };
}

impl Default for AnswerCompat {
    fn default() -> Self {
        Self::CAREFUL
    }
}

/// Meaning of a finish reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Finish {
    /// The message is complete, with calls or without.
    Done,
    /// The output limit was reached.
    MaxTokens,
    /// The window is full.
    ContextWindow,
    /// A filter ended the message.
    ContentFilter,
    /// The model refused.
    Refusal,
    /// The model wrote an unreadable call.
    MalformedCall,
    /// The server failed; the message is discarded.
    Failed,
    /// The server was overloaded; the message is discarded.
    Overloaded,
    /// The message was interrupted; it is discarded.
    Cut,
}

impl Finish {
    /// Returns the meaning of a finish reason that has the same meaning at all endpoints; `None` if it is unknown.
    ///
    /// Sources: OpenAI, "The chat completion chunk object"; DeepSeek, Mistral, z.ai and vLLM, the same page of their
    /// references; OpenRouter, "Errors"; Gemini's OpenAI route writes `function_call_filter: MALFORMED_FUNCTION_CALL`.
    pub(crate) fn known(reason: &str) -> Option<Self> {
        let lower = reason.to_ascii_lowercase();
        Some(match &*lower {
            "stop" | "tool_calls" | "function_call" | "end" | "eos" | "end_turn" | "stop_sequence" | "tool_use" => {
                Self::Done
            }
            "length" | "max_tokens" => Self::MaxTokens,
            "model_length" | "model_context_window_exceeded" => Self::ContextWindow,
            "content_filter" | "sensitive" | "safety" => Self::ContentFilter,
            "refusal" => Self::Refusal,
            "error" | "network_error" => Self::Failed,
            "insufficient_system_resource" => Self::Overloaded,
            "abort" => Self::Cut,
            lower if lower.contains("malformed") => Self::MalformedCall,
            _ => return None,
        })
    }

    /// Returns the stop reason; `None` if the message is discarded.
    pub(crate) fn stop_reason(self, has_calls: bool) -> Option<StopReason> {
        Some(match self {
            Self::Done if has_calls => StopReason::ToolUse,
            Self::Done => StopReason::EndTurn,
            Self::MaxTokens => StopReason::MaxTokens,
            Self::ContextWindow => StopReason::ContextWindowExceeded,
            Self::ContentFilter => StopReason::ContentFilter,
            Self::Refusal => StopReason::Refusal,
            Self::MalformedCall => StopReason::MalformedToolCall,
            Self::Failed | Self::Overloaded | Self::Cut => return None,
        })
    }
}

impl Compat {
    pub(crate) const CAREFUL: Self = Self {
        transport: TransportCompat::CAREFUL,
        body: BodyCompat::CAREFUL,
        cache: CacheCompat::CAREFUL,
        messages: MessageCompat::CAREFUL,
        tools: ToolCompat::CAREFUL,
        reasoning: ReasoningCompat::CAREFUL,
        answer: AnswerCompat::CAREFUL,
    };
}
