//! What endpoints that speak Chat Completions do not have in common, as data.

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

/// The profile of an endpoint: what it takes, what it refuses and how it writes its answers.
///
/// The default is for an endpoint that is not known: it uses only what all servers take, and reads all that is known to
/// be sent. A profile of a setting is merged over another one ([`Compat::with_settings`]), so a setting names only what
/// differs.
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
    /// How requests reach it.
    pub transport: TransportCompat,
    /// Members of the body beside messages and tools.
    pub body: BodyCompat,
    /// How prompts are cached.
    pub cache: CacheCompat,
    /// Roles and contents.
    pub messages: MessageCompat,
    /// Tools and calls.
    pub tools: ToolCompat,
    /// Reasoning, in both directions.
    pub reasoning: ReasoningCompat,
    /// How answers are read.
    pub answer: AnswerCompat,
}

impl Compat {
    /// This profile with the members of a JSON object in place of its own, at every level.
    ///
    /// # Errors
    /// The settings are not an object, or have a member or a value that is not known.
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

/// How requests reach an endpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct TransportCompat {
    /// What stands behind the base URL; a query may follow, as older versions of Azure want it (`?api-version=…`).
    /// Default: `/chat/completions`.
    pub path: Cow<'static, str>,
    /// How the key is sent. Default: as a bearer token.
    pub auth: Auth,
    /// Whether it answers without a key: servers on the own machine do. Default: no.
    pub key_optional: bool,
    /// The header that carries [`session_key`](windlass_types::ModelRequest::session_key), by which some vendors route a
    /// session to where its prompt is cached (xAI, "Prompt caching": `x-grok-conv-id`). Default: empty, none.
    pub session_header: Cow<'static, str>,
    /// Which protocol it speaks. Default: Chat Completions.
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

/// How an endpoint takes its key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Auth {
    /// `authorization: Bearer KEY`.
    Bearer,
    /// A header of this name with the bare key; Azure has `api-key`.
    Header(Cow<'static, str>),
}

/// The protocol of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Protocol {
    /// `POST /chat/completions` with server-sent events.
    ChatCompletions,
    /// `POST /api/chat` of Ollama, with a JSON object in each line. Only there can the size of the context be set, and only
    /// there can the server be kept from cutting the prompt.
    Ollama,
}

/// How answers of an endpoint are read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct AnswerCompat {
    /// Whether `[DONE]` ends a message that named no finish reason. Default: no, such a message is cut: a proxy that lost its
    /// server writes `[DONE]` too.
    pub done_without_finish: bool,
    /// Whether it answers a prompt that is larger than the window as if it fitted (z.ai: the usage is larger than the window).
    /// Such an answer fails as [`PromptTooLong`](windlass_types::ModelErrorKind::PromptTooLong). Looked at only for models
    /// whose window is known. Default: no.
    pub silent_overflow: bool,
    /// What its own finish reasons mean; looked at before those that are known for all.
    pub finish_reasons: Cow<'static, [(Cow<'static, str>, Finish)]>,
    /// How much of a model's window may be planned with, in percent. OpenRouter counts tokens with a tokenizer that is not the
    /// model's and refuses what it thinks is too much, so a part stays free. Default: 100.
    pub window_percent: u8,
    /// Whether reasoning is counted beside the completion tokens and not as part of them (xAI). Where the sum of the figures
    /// shows it, it is seen without this. Default: no.
    pub reasoning_beside_output: bool,
    /// Whether the usage says what the call cost, and in which unit. It counts for more than known prices. Default: not, for
    /// an amount of an unknown currency is none.
    pub reported_cost: ReportedCost,
}

/// How an endpoint says what a call cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReportedCost {
    /// Not at all.
    Never,
    /// In dollars, as `usage.cost` (OpenRouter, "Usage accounting", whose credits are dollars; no option of the request is
    /// needed). With a key of the user at the vendor, what that one bills is added.
    Dollars,
    /// In ten billionths of a dollar, as `usage.cost_in_usd_ticks` (xAI, "Cost tracking").
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

/// What a finish reason means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Finish {
    /// The message is complete, with calls or without.
    Done,
    /// The limit of the output was reached.
    MaxTokens,
    /// The window is full.
    ContextWindow,
    /// A filter ended the message.
    ContentFilter,
    /// The model refused.
    Refusal,
    /// The model wrote a call that cannot be read.
    MalformedCall,
    /// The server failed; the message does not count.
    Failed,
    /// The server was overloaded; the message does not count.
    Overloaded,
    /// The message was broken off; it does not count.
    Cut,
}

impl Finish {
    /// The meaning of a reason that is written the same by all who have it. `None`: not known.
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

    /// The reason as the port has it. `None`: the message does not count.
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
