//! What goes to an endpoint.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Members of the body beside messages and tools.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct BodyCompat {
    /// Which member limits the output. OpenAI's reasoning models refuse `max_tokens`; others do not know
    /// `max_completion_tokens` and would write without a limit. Default: `max_tokens`.
    pub output_limit: OutputLimit,
    /// Whether `stream_options.include_usage` may be sent. Without it most servers report no usage; some refuse it
    /// (badlogic/pi-mono#596). Default: yes, because a run without usage has no budget.
    pub include_usage: bool,
    /// Whether `stream_options.include_obfuscation: false` may be sent: OpenAI pads each delta with random letters otherwise.
    /// Default: no.
    pub plain_stream: bool,
    /// The member that carries [`user_id`](windlass_types::ModelRequest::user_id). Default: empty, none.
    pub user_field: Cow<'static, str>,
    /// How an answer in a form is asked for. Default: in words.
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

/// The member that limits the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OutputLimit {
    /// `max_tokens`.
    MaxTokens,
    /// `max_completion_tokens`.
    MaxCompletionTokens,
    /// None; the server has a limit of its own.
    Omit,
}

/// How an answer in the form of a schema is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AnswerFormat {
    /// `response_format` with the schema in its strict subset: the answer always fits.
    StrictJsonSchema,
    /// `response_format` with the schema as it is.
    JsonSchema,
    /// `response_format: {"type": "json_object"}`, with the schema in the system prompt.
    JsonObject,
    /// The schema in the system prompt only.
    Prompt,
}

/// How prompts are cached.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct CacheCompat {
    /// Whether `prompt_cache_key` is known: requests with the same key go where their prompt is cached (OpenAI, "Prompt
    /// caching"; at most 64 characters). Default: no.
    pub key: bool,
    /// Whether `prompt_cache_retention` and `prompt_cache_options` are known, by which a session that caches for an hour
    /// asks for the longest retention of its model (OpenAI, "Prompt caching"). Default: no.
    pub retention: bool,
    /// Parts of the names of models that want `cache_control` at the end of what shall be cached, as Anthropic's do behind
    /// OpenRouter ("Prompt caching") and LiteLLM. Default: none.
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
    /// The role of the system prompt. `developer` is refused by most servers but OpenAI (badlogic/pi-mono#1048). Default:
    /// `system`.
    pub instructions: InstructionRole,
    /// Whether the system prompt must be one message: templates of many models refuse a second one. Default: yes.
    pub one_system_message: bool,
    /// What stands for the text of a message that only calls tools: some refuse `null`, others `""` (earendil-works/pi#8118).
    /// Default: `""`, which no parser of strings refuses.
    pub without_text: EmptyContent,
    /// What stands for a blank output of a tool, which some refuse (earendil-works/pi#8720). Empty: it is sent as it is.
    pub blank_output: Cow<'static, str>,
    /// Whether it reads images. If not, a note stands in their place. Default: yes.
    pub images: bool,
    /// Where images of tool results go: the API itself takes only text there. Default: into a user message after them.
    pub tool_images: ToolImages,
    /// Whether it reads PDF documents as `file` parts (OpenAI and OpenRouter, "PDF inputs"). If not, a note stands in their
    /// place. Default: no.
    pub documents: bool,
    /// Whether results of tools carry the tool's name (Mistral). Default: no.
    pub tool_name: bool,
    /// Whether an assistant message must stand between results of tools and the next user message: templates of older
    /// Mistral models refuse "user after tool". Default: no.
    pub assistant_after_results: bool,
    /// Whether reasoning goes back as a part of the content (Mistral, "Reasoning") and not as a member beside it. Default:
    /// no.
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

/// The role of the system prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum InstructionRole {
    /// `system`.
    System,
    /// `developer`.
    Developer,
}

/// The content of a message without text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EmptyContent {
    /// `null`.
    Null,
    /// `""`.
    Blank,
    /// No such member.
    Omit,
}

/// Where images of tool results go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolImages {
    /// Into the result.
    InResult,
    /// Into a user message that follows the results.
    UserMessage,
}

/// Tools and calls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ToolCompat {
    /// Whether `strict` may stand in a tool. Many servers refuse the member (badlogic/pi-mono#1172), some refuse tools of
    /// both kinds together (earendil-works/pi#9804). Default: never.
    pub strict: Strict,
    /// What of `tool_choice` it takes. Default: all.
    pub choice: ToolSupport,
    /// `parallel_tool_calls` to send. Default: none, the server decides.
    pub parallel: Option<bool>,
    /// Whether an empty list of tools is sent once the history has calls: LiteLLM needs it in front of Anthropic, vLLM refuses
    /// it (earendil-works/pi#11843). Default: no.
    pub empty_list: bool,
    /// Which ids of calls it takes. Default: at most 40 letters, digits, `_` and `-`.
    pub ids: IdRule,
    /// Whether `tool_stream: true` is sent, without which z.ai holds the arguments of calls back until they are whole
    /// ("Tool streaming"). Default: no.
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

/// Whether tools may be strict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Strict {
    /// The member is never sent.
    Never,
    /// Each tool by itself.
    PerTool,
    /// Only if all tools of the request are.
    AllOrNone,
}

/// What an endpoint takes of `tool_choice`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolSupport {
    /// `auto`, `none`, `required` and a tool by its name.
    All,
    /// All but `required` (Moonshot): the model is left to choose.
    NoRequired,
    /// Only `auto`: the member is never sent, and neither are the tools where none must be called (z.ai).
    AutoOnly,
}

/// Which ids of calls an endpoint takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum IdRule {
    /// At most 40 letters, digits, `_` and `-`: OpenAI refuses longer ones.
    Short,
    /// Exactly nine letters and digits: Mistral refuses all others.
    NineAlphanumeric,
}
