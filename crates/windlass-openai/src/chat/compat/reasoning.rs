//! Reasoning: how it is switched on, how it comes and how it goes back.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use windlass_types::Effort;

/// How an endpoint handles reasoning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ReasoningCompat {
    /// The members of a delta in which reasoning may come. Some servers send the same text in two of them: the first that has
    /// text counts. Default: all.
    pub fields: Cow<'static, [ReasoningField]>,
    /// When reasoning goes back, under the name under which it came. It only does so to the model that wrote it. DeepSeek:
    /// "reasoning_content is missing in assistant tool call message" (0xPlaygrounds/rig#1649). Default: with calls.
    pub back: ReasoningBack,
    /// Whether a message with calls must have `reasoning_content` even if its reasoning is not known, as an empty text
    /// (DeepSeek refuses the history of another model otherwise). Default: no.
    pub required: bool,
    /// How reasoning is switched on. Default: not at all, the model decides.
    pub switch: ThinkingSwitch,
    /// Whether switching off is said too: models that reason unless they are asked not to (DeepSeek, GLM, Qwen). Default: no.
    pub sends_off: bool,
    /// The efforts that it takes, weakest first, and their names there. An effort that it does not have becomes the strongest
    /// one that is weaker, or the weakest. Empty: none is sent.
    pub efforts: Cow<'static, [(Effort, Cow<'static, str>)]>,
    /// Whether reasoning of earlier turns is kept on the server's side (`thinking.clear_thinking: false` of z.ai, "Thinking
    /// mode": preserved thinking). Default: not sent.
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

    /// The name of an effort at this endpoint.
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

/// A member of a message that holds reasoning as text.
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

/// When reasoning is sent back to the model that wrote it.
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

/// How reasoning is switched on and off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ThinkingSwitch {
    /// It cannot be.
    Never,
    /// By `reasoning_effort` alone (OpenAI, Groq, xAI).
    Effort,
    /// By `reasoning: {"effort"}`, `{"max_tokens"}` or `{"enabled"}` (OpenRouter, "Reasoning tokens").
    ReasoningObject,
    /// By `reasoning: {"enabled"}`, with `reasoning_effort` beside it (Together).
    ReasoningEnabled,
    /// By `thinking: {"type": "enabled"}` or `"disabled"`, with `reasoning_effort` beside it where there are efforts (DeepSeek,
    /// Moonshot, z.ai).
    ThinkingType,
    /// By `enable_thinking` and `thinking_budget` (Alibaba Model Studio, "Deep thinking").
    EnableThinking,
    /// By `chat_template_kwargs: {"enable_thinking"}`, which the template of the model reads (vLLM, llama.cpp).
    ChatTemplate,
}
