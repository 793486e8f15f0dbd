//! The shape of the lines.

use crate::fork::ForkedFrom;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use windlass_types::{
    ContentBlock, EnvironmentContext, JsonText, ModelUsage, NanoUsd, Origin, TaskId, Timestamp, Usage,
};

/// A line of the conversation.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ChainLine<'a, M> {
    #[serde(flatten)]
    pub place: ChainPlace<'a>,
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub message: M,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_meta: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_compact_summary: bool,
    pub uuid: &'a str,
    pub timestamp: Timestamp,
    #[serde(flatten)]
    pub prompt: PromptFields<'a>,
    #[serde(flatten)]
    pub result: ResultFields<'a>,
    #[serde(flatten)]
    pub runtime: RuntimeFields<'a>,
    #[serde(flatten)]
    pub provider: ProviderFields<'a>,
    #[serde(skip_serializing_if = "Exact::is_empty")]
    pub windlass_exact: Exact<'a>,
    #[serde(flatten)]
    pub session: SessionFields<'a>,
}

/// Where a line stands in a conversation, and in whose.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ChainPlace<'a> {
    pub parent_uuid: Option<&'a str>,
    pub is_sidechain: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<&'a str>,
}

/// The fields of a prompt's line about its run.
#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
pub(super) struct PromptFields<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_id: Option<&'a str>,
}

/// The fields of a result's line beside its content.
#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
pub(super) struct ResultFields<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_use_result: Option<&'a JsonText>,
    #[serde(rename = "sourceToolAssistantUUID", skip_serializing_if = "Option::is_none")]
    pub source_tool_assistant_uuid: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub windlass_synthetic: bool,
}

/// The facts that a text of the runtime reports to the model.
#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
pub(super) struct RuntimeFields<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub windlass_environment: Option<&'a EnvironmentContext>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub windlass_tasks: &'a [TaskId],
}

/// What a provider needs when it reads the block of a model again.
#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
pub(super) struct ProviderFields<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub windlass_origin: Option<&'a Origin>,
    /// JSON text as a string, so that it stays exact on its line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub windlass_replay: Option<&'a str>,
}

/// How each line of a conversation ends: the session that wrote it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionFields<'a> {
    pub user_type: &'static str,
    pub entrypoint: &'a str,
    pub cwd: &'a str,
    pub session_id: &'a str,
    pub version: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub git_branch: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<ForkedFrom<'a>>,
}

/// Where a conversation was compacted.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BoundaryLine<'a> {
    pub parent_uuid: Option<&'a str>,
    pub logical_parent_uuid: Option<&'a str>,
    pub is_sidechain: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<&'a str>,
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub subtype: &'static str,
    pub content: &'static str,
    pub level: &'static str,
    pub compact_metadata: CompactMetadata,
    pub uuid: &'a str,
    pub timestamp: Timestamp,
    #[serde(flatten)]
    pub session: SessionFields<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CompactMetadata {
    pub trigger: &'static str,
    pub pre_tokens: u64,
    pub post_tokens: u64,
    pub duration_ms: u64,
}

/// Exact texts of parts that have line breaks between their tokens. A record is
/// one line, so in place the breaks are spaces.
#[derive(Serialize, Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Exact<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_use_result: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub todos: Option<Cow<'a, str>>,
}

impl Exact<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.content.is_none() && self.tool_use_result.is_none() && self.todos.is_none()
    }
}

/// A message of the user.
#[derive(Serialize)]
pub(super) struct UserMessage<'a> {
    pub role: &'static str,
    pub content: Content<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Content<'a> {
    Text(&'a str),
    Blocks(&'a [ContentBlock]),
    Result([ResultBlock<'a>; 1]),
}

#[derive(Serialize)]
pub(super) struct ResultBlock<'a> {
    #[serde(rename = "type")]
    pub kind: &'static str,
    #[serde(flatten)]
    pub result: &'a windlass_types::ToolResult,
}

/// A message of the model, or one block of it.
#[derive(Serialize)]
pub(super) struct AssistantMessage<'a> {
    pub id: &'a str,
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub role: &'static str,
    pub model: &'a str,
    pub content: &'a [ContentBlock],
    pub stop_reason: Option<&'a str>,
    pub stop_sequence: Option<&'a str>,
    pub usage: WireUsage,
}

/// Usage as the Messages API writes it.
#[derive(Serialize)]
pub(super) struct WireUsage {
    input_tokens: u64,
    cache_creation_input_tokens: u64,
    cache_read_input_tokens: u64,
    output_tokens: u64,
    cache_creation: Option<CacheCreation>,
    server_tool_use: Option<ServerToolUse>,
}

#[derive(Serialize)]
struct CacheCreation {
    ephemeral_1h_input_tokens: u64,
    ephemeral_5m_input_tokens: u64,
}

#[derive(Serialize)]
struct ServerToolUse {
    web_search_requests: u64,
}

impl From<Usage> for WireUsage {
    fn from(usage: Usage) -> Self {
        let one_hour = usage.cache_creation_1h_input_tokens;
        Self {
            input_tokens: usage.input_tokens,
            cache_creation_input_tokens: usage.cache_creation_input_tokens,
            cache_read_input_tokens: usage.cache_read_input_tokens,
            output_tokens: usage.output_tokens,
            cache_creation: Some(CacheCreation {
                ephemeral_1h_input_tokens: one_hour,
                ephemeral_5m_input_tokens: usage.cache_creation_input_tokens.saturating_sub(one_hour),
            }),
            server_tool_use: Some(ServerToolUse { web_search_requests: usage.web_search_requests }),
        }
    }
}

/// A line beside the conversation.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BesideLine<'a, T> {
    #[serde(rename = "type")]
    pub kind: &'static str,
    #[serde(flatten)]
    pub body: T,
    pub uuid: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_uuid: Option<&'a str>,
    pub timestamp: Timestamp,
    pub session_id: &'a str,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct IntentBody<'a> {
    pub tool_use_id: Cow<'a, str>,
    pub assistant_uuid: Cow<'a, str>,
    pub digest: Cow<'a, str>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct CostBody<'a> {
    #[serde(rename = "totalCostUSD")]
    pub total: f64,
    #[serde(rename = "modelUsage")]
    pub models: BTreeMap<String, WireModelUsage>,
    #[serde(rename = "windlassRun")]
    pub run: WireRun<'a>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct WireRun<'a> {
    pub run: Cow<'a, str>,
    pub outcome: Cow<'a, str>,
    pub turns: u32,
}

/// Usage of a model as hosts read it.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireModelUsage {
    input_tokens: u64,
    output_tokens: u64,
    cache_read_input_tokens: u64,
    cache_creation_input_tokens: u64,
    #[serde(default, rename = "cacheCreation1hInputTokens")]
    cache_creation_1h_input_tokens: u64,
    #[serde(default)]
    web_search_requests: u64,
    #[serde(rename = "costUSD")]
    cost_usd: f64,
    /// How much of it the provider reported itself.
    #[serde(default, rename = "windlassReportedCostUSD", skip_serializing_if = "Option::is_none")]
    reported_cost_usd: Option<f64>,
    #[serde(default)]
    priced: bool,
    #[serde(default)]
    context_window: u64,
    #[serde(default)]
    max_output_tokens: u32,
}

impl From<&ModelUsage> for WireModelUsage {
    fn from(usage: &ModelUsage) -> Self {
        Self {
            input_tokens: usage.usage.input_tokens,
            output_tokens: usage.usage.output_tokens,
            cache_read_input_tokens: usage.usage.cache_read_input_tokens,
            cache_creation_input_tokens: usage.usage.cache_creation_input_tokens,
            cache_creation_1h_input_tokens: usage.usage.cache_creation_1h_input_tokens,
            web_search_requests: usage.usage.web_search_requests,
            cost_usd: usage.cost.usd(),
            reported_cost_usd: (usage.reported_cost > NanoUsd::ZERO).then(|| usage.reported_cost.usd()),
            priced: usage.priced,
            context_window: usage.context_window,
            max_output_tokens: usage.max_output_tokens,
        }
    }
}

impl From<WireModelUsage> for ModelUsage {
    fn from(wire: WireModelUsage) -> Self {
        let mut usage = Self::default();
        usage.usage.input_tokens = wire.input_tokens;
        usage.usage.output_tokens = wire.output_tokens;
        usage.usage.cache_read_input_tokens = wire.cache_read_input_tokens;
        usage.usage.cache_creation_input_tokens = wire.cache_creation_input_tokens;
        usage.usage.cache_creation_1h_input_tokens = wire.cache_creation_1h_input_tokens;
        usage.usage.web_search_requests = wire.web_search_requests;
        usage.cost = NanoUsd::from_usd(wire.cost_usd);
        usage.reported_cost = wire.reported_cost_usd.map(NanoUsd::from_usd).unwrap_or_default();
        usage.priced = wire.priced;
        usage.context_window = wire.context_window;
        usage.max_output_tokens = wire.max_output_tokens;
        usage
    }
}
