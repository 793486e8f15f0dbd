//! Profile of requests to an endpoint.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Members of the body beside messages and tools.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct BodyCompat {
    /// Member that limits the output. OpenAI's reasoning models refuse `max_tokens`; others ignore
    /// `max_completion_tokens` and would write without a limit. Default: `max_tokens`.
    pub output_limit: OutputLimit,
    /// `true` if `stream_options.include_usage` may be sent. Without it most servers report no usage; some refuse it
    /// (badlogic/pi-mono#596). Default: `true`, because a run without usage has no budget.
    pub include_usage: bool,
    /// `true` if `stream_options.include_obfuscation: false` may be sent: otherwise OpenAI pads each delta with random
    /// letters. Default: `false`.
    pub plain_stream: bool,
    /// Member that carries [`user_id`](windlass_types::ModelRequest::user_id). Default: empty, no member.
    pub user_field: Cow<'static, str>,
    /// Request form of an answer with a schema. Default: in words.
    pub answer_format: AnswerFormat,
}

impl BodyCompat {
    pub(crate) const CAREFUL: Self = Self {
        output_limit: OutputLimit::MaxTokens,
        include_usage: true,
        plain_stream: false,
        user_field: Cow::Borrowed(""),
        answer_format: AnswerFormat::Prompt,
    };
}

impl Default for BodyCompat {
    fn default() -> Self {
        Self::CAREFUL
    }
}

/// Member that limits the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OutputLimit {
    /// `max_tokens`.
    MaxTokens,
    /// `max_completion_tokens`.
    MaxCompletionTokens,
    /// No member; the server has a limit of its own.
    Omit,
}

/// Request form of an answer with a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AnswerFormat {
    /// `response_format` with the schema in its strict subset: the answer always fits.
    StrictJsonSchema,
    /// `response_format` with the unchanged schema.
    JsonSchema,
    /// `response_format: {"type": "json_object"}`, with the schema in the system prompt.
    JsonObject,
    /// The schema in the system prompt only.
    Prompt,
}

/// Caching of prompts.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct CacheCompat {
    /// `true` if `prompt_cache_key` is supported: requests with the same key are routed to the server that caches their
    /// prompt (OpenAI, "Prompt caching"; at most 64 characters). Default: `false`.
    pub key: bool,
    /// `true` if `prompt_cache_retention` and `prompt_cache_options` are supported, by which a session that caches for
    /// an hour requests the longest retention of its model (OpenAI, "Prompt caching"). Default: `false`.
    pub retention: bool,
    /// Parts of the names of models that need `cache_control` at the end of the cached prefix, such as Anthropic's
    /// behind OpenRouter ("Prompt caching") and LiteLLM. Default: none.
    pub control_models: Cow<'static, [Cow<'static, str>]>,
}

impl CacheCompat {
    pub(crate) const CAREFUL: Self = Self { key: false, retention: false, control_models: Cow::Borrowed(&[]) };
}

/// Roles and contents of messages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct MessageCompat {
    /// Role of the system prompt. Most servers except OpenAI refuse `developer` (badlogic/pi-mono#1048). Default:
    /// `system`.
    pub instructions: InstructionRole,
    /// `true` if the system prompt must be one message: templates of many models refuse a second one. Default: `true`.
    pub one_system_message: bool,
    /// Content of a message that only calls tools: some servers refuse `null`, others `""` (earendil-works/pi#8118).
    /// Default: `""`, which every parser of strings accepts.
    pub without_text: EmptyContent,
    /// Replacement of a blank tool output, which some servers refuse (earendil-works/pi#8720). Empty: the output is
    /// sent unchanged.
    pub blank_output: Cow<'static, str>,
    /// `true` if the endpoint reads images. Otherwise a note replaces them. Default: `true`.
    pub images: bool,
    /// Place of images of tool results: the API itself takes only text there. Default: a user message after the
    /// results.
    pub tool_images: ToolImages,
    /// `true` if the endpoint reads PDF documents as `file` parts (OpenAI and OpenRouter, "PDF inputs"). Otherwise a
    /// note replaces them. Default: `false`.
    pub documents: bool,
    /// `true` if tool results carry the tool's name (Mistral). Default: `false`.
    pub tool_name: bool,
    /// `true` if an assistant message is required between tool results and the next user message: templates of older
    /// Mistral models refuse "user after tool". Default: `false`.
    pub assistant_after_results: bool,
    /// `true` if reasoning is sent back as a part of the content (Mistral, "Reasoning") and not as a member beside it.
    /// Default: `false`.
    pub reasoning_parts: bool,
}

impl MessageCompat {
    pub(crate) const CAREFUL: Self = Self {
        instructions: InstructionRole::System,
        one_system_message: true,
        without_text: EmptyContent::Blank,
        blank_output: Cow::Borrowed("(no output)"),
        images: true,
        tool_images: ToolImages::UserMessage,
        documents: false,
        tool_name: false,
        assistant_after_results: false,
        reasoning_parts: false,
    };
}

impl Default for MessageCompat {
    fn default() -> Self {
        Self::CAREFUL
    }
}

/// Role of the system prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum InstructionRole {
    /// `system`.
    System,
    /// `developer`.
    Developer,
}

/// Content of a message without text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EmptyContent {
    /// `null`.
    Null,
    /// `""`.
    Blank,
    /// No content member.
    Omit,
}

/// Place of images of tool results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolImages {
    /// In the result.
    InResult,
    /// In a user message that follows the results.
    UserMessage,
}

/// Tools and calls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ToolCompat {
    /// Use of `strict` in tools. Many servers refuse the member (badlogic/pi-mono#1172), some refuse strict and other
    /// tools together (earendil-works/pi#9804). Default: never.
    pub strict: Strict,
    /// Supported values of `tool_choice`. Default: all.
    pub choice: ToolSupport,
    /// Value of `parallel_tool_calls`. Default: `None`, the server decides.
    pub parallel: Option<bool>,
    /// `true` if an empty list of tools is sent once the history has calls: LiteLLM needs it in front of Anthropic,
    /// vLLM refuses it (earendil-works/pi#11843). Default: `false`.
    pub empty_list: bool,
    /// Rule for call ids. Default: at most 40 letters, digits, `_` and `-`.
    pub ids: IdRule,
    /// `true` if `tool_stream: true` is sent, without which z.ai delays the arguments of calls until they are complete
    /// ("Tool streaming"). Default: `false`.
    pub stream: bool,
}

impl ToolCompat {
    pub(crate) const CAREFUL: Self = Self {
        strict: Strict::Never,
        choice: ToolSupport::All,
        parallel: None,
        empty_list: false,
        ids: IdRule::Short,
        stream: false,
    };
}

impl Default for ToolCompat {
    fn default() -> Self {
        Self::CAREFUL
    }
}

/// Use of `strict` in tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Strict {
    /// The member is never sent.
    Never,
    /// Each tool decides by itself.
    PerTool,
    /// Only if all tools of the request are strict.
    AllOrNone,
}

/// Supported values of `tool_choice`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolSupport {
    /// `auto`, `none`, `required` and a tool by its name.
    All,
    /// All but `required` (Moonshot): the model is left to choose.
    NoRequired,
    /// Only `auto`: the member is never sent, and tools are left out if none may be called (z.ai).
    AutoOnly,
}

/// Rule for call ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum IdRule {
    /// At most 40 letters, digits, `_` and `-`: OpenAI refuses longer ones.
    Short,
    /// Exactly nine letters and digits: Mistral refuses all others.
    NineAlphanumeric,
}
