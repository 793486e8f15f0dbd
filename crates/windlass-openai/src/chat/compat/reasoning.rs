//! Profile of reasoning: switching it on, reading it and sending it back.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use windlass_types::Effort;

/// Reasoning at an endpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ReasoningCompat {
    /// Members of a delta that may hold reasoning. Some servers send the same text in two of them: the first that has
    /// text is used. Default: all.
    pub fields: Cow<'static, [ReasoningField]>,
    /// Messages with which reasoning is sent back, in the member in which it came. Reasoning is sent only to the model
    /// that wrote it. DeepSeek: "reasoning_content is missing in assistant tool call message" (0xPlaygrounds/rig#1649).
    /// Default: messages with calls.
    pub back: ReasoningBack,
    /// `true` if a message with calls must have `reasoning_content`, as an empty text when its reasoning is unknown
    /// (DeepSeek refuses the history of another model otherwise). Default: `false`.
    pub required: bool,
    /// Members that switch reasoning on. Default: none, the model decides.
    pub switch: ThinkingSwitch,
    /// `true` if switching off is sent too, for models that reason by default (DeepSeek, GLM, Qwen). Default: `false`.
    pub sends_off: bool,
    /// Supported efforts, weakest first, with their names at the endpoint. An unsupported effort becomes the strongest
    /// weaker one, or the weakest. Empty: none is sent.
    pub efforts: Cow<'static, [(Effort, Cow<'static, str>)]>,
    /// `true` if reasoning of earlier turns is kept on the server's side (`thinking.clear_thinking: false` of z.ai,
    /// "Thinking mode": preserved thinking). Default: not sent.
    pub keep: bool,
}

impl ReasoningCompat {
    pub(crate) const CAREFUL: Self = Self {
        fields: Cow::Borrowed(&[
            ReasoningField::ReasoningContent,
            ReasoningField::Reasoning,
            ReasoningField::ReasoningText,
        ]),
        back: ReasoningBack::WithCalls,
        required: false,
        switch: ThinkingSwitch::Never,
        sends_off: false,
        efforts: Cow::Borrowed(&[]),
        keep: false,
    };

    /// Returns the name of an effort at this endpoint.
    pub(crate) fn effort(&self, wanted: Effort) -> Option<&str> {
        let weaker = self.efforts.iter().filter(|(effort, _)| *effort <= wanted).max_by_key(|(effort, _)| *effort);
        weaker.or(self.efforts.first()).map(|(_, name)| &**name)
    }
}

impl Default for ReasoningCompat {
    fn default() -> Self {
        Self::CAREFUL
    }
}

/// Member of a message that holds reasoning as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReasoningField {
    /// `reasoning_content`: DeepSeek, Moonshot, z.ai, Qwen, xAI, llama.cpp.
    ReasoningContent,
    /// `reasoning`: OpenRouter, Groq, Together, vLLM.
    Reasoning,
    /// `reasoning_text`: GitHub Copilot.
    ReasoningText,
}

impl ReasoningField {
    pub(crate) const ALL: [Self; 3] = [Self::ReasoningContent, Self::Reasoning, Self::ReasoningText];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::ReasoningContent => "reasoning_content",
            Self::Reasoning => "reasoning",
            Self::ReasoningText => "reasoning_text",
        }
    }
}

/// Messages with which reasoning is sent back to the model that wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReasoningBack {
    /// Never.
    Never,
    /// With messages that call tools.
    WithCalls,
    /// With every message.
    Always,
}

/// Members that switch reasoning on and off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ThinkingSwitch {
    /// Reasoning cannot be switched.
    Never,
    /// `reasoning_effort` alone (OpenAI, Groq, xAI).
    Effort,
    /// `reasoning: {"effort"}`, `{"max_tokens"}` or `{"enabled"}` (OpenRouter, "Reasoning tokens").
    ReasoningObject,
    /// `reasoning: {"enabled"}`, with `reasoning_effort` beside it (Together).
    ReasoningEnabled,
    /// `thinking: {"type": "enabled"}` or `"disabled"`, with `reasoning_effort` beside it if there are efforts
    /// (DeepSeek, Moonshot, z.ai).
    ThinkingType,
    /// `enable_thinking` and `thinking_budget` (Alibaba Model Studio, "Deep thinking").
    EnableThinking,
    /// `chat_template_kwargs: {"enable_thinking"}`, which the template of the model reads (vLLM, llama.cpp).
    ChatTemplate,
}
