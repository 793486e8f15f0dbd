//! The result of a turn, and what it counts.

use super::{Answers, Uuid};
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use windlass_types::{JsonText, ModelUsage, PermissionDenial, Usage};

/// Tokens in the terms of the Messages API.
#[derive(Serialize)]
pub(crate) struct WireUsage {
    input_tokens: u64,
    cache_creation_input_tokens: u64,
    cache_read_input_tokens: u64,
    output_tokens: u64,
    server_tool_use: ServerToolUse,
    service_tier: Option<&'static str>,
    cache_creation: CacheCreation,
}

#[derive(Serialize)]
struct ServerToolUse {
    web_search_requests: u64,
    web_fetch_requests: u64,
}

#[derive(Serialize)]
struct CacheCreation {
    ephemeral_1h_input_tokens: u64,
    ephemeral_5m_input_tokens: u64,
}

impl From<Usage> for WireUsage {
    fn from(usage: Usage) -> Self {
        let (all, hour) = (usage.cache_creation_input_tokens, usage.cache_creation_1h_input_tokens);
        Self {
            input_tokens: usage.input_tokens,
            cache_creation_input_tokens: all,
            cache_read_input_tokens: usage.cache_read_input_tokens,
            output_tokens: usage.output_tokens,
            server_tool_use: ServerToolUse { web_search_requests: usage.web_search_requests, web_fetch_requests: 0 },
            service_tier: None,
            cache_creation: CacheCreation {
                ephemeral_1h_input_tokens: hour,
                ephemeral_5m_input_tokens: all.saturating_sub(hour),
            },
        }
    }
}

#[derive(Serialize)]
pub(crate) struct RunResultFrame<'a> {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) subtype: &'static str,
    pub(crate) is_error: bool,
    pub(crate) duration_ms: u64,
    pub(crate) duration_api_ms: u64,
    pub(crate) num_turns: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) result: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) errors: Option<[&'a str; 1]>,
    pub(crate) stop_reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) api_error_status: Option<u16>,
    pub(crate) session_id: &'a str,
    pub(crate) total_cost_usd: f64,
    pub(crate) usage: WireUsage,
    #[serde(rename = "modelUsage", serialize_with = "model_usage")]
    pub(crate) model_usage: &'a BTreeMap<String, ModelUsage>,
    #[serde(serialize_with = "denials")]
    pub(crate) permission_denials: Denials<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) structured_output: Option<&'a JsonText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) terminal_reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) local_command: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) origin: Option<Origin>,
    #[serde(flatten)]
    pub(crate) answers: Option<Answers>,
    pub(crate) uuid: Uuid,
}

/// What a run comes from, if not from a message of the host.
#[derive(Serialize)]
pub(crate) struct Origin {
    kind: &'static str,
}

impl Origin {
    /// Background work that ended.
    pub(crate) fn task_notification() -> Self {
        Self { kind: "task-notification" }
    }
}

/// The calls that were denied, with their inputs or without.
#[derive(Clone, Copy)]
pub(crate) struct Denials<'a> {
    pub(crate) calls: &'a [PermissionDenial],
    pub(crate) with_input: bool,
}

fn denials<S: Serializer>(denials: &Denials<'_>, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Short<'a> {
        tool_name: &'a str,
        tool_use_id: &'a str,
        tool_input: JsonText,
    }
    if denials.with_input {
        return denials.calls.serialize(serializer);
    }
    serializer.collect_seq(denials.calls.iter().map(|call| Short {
        tool_name: &call.tool_name,
        tool_use_id: call.tool_use_id.as_str(),
        tool_input: JsonText::empty_object(),
    }))
}

/// What models used, by model.
#[derive(Serialize)]
pub(crate) struct WireModels<'a>(#[serde(serialize_with = "model_usage")] pub(crate) &'a BTreeMap<String, ModelUsage>);

fn model_usage<S: Serializer>(models: &BTreeMap<String, ModelUsage>, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Wire {
        input_tokens: u64,
        output_tokens: u64,
        cache_read_input_tokens: u64,
        cache_creation_input_tokens: u64,
        web_search_requests: u64,
        #[serde(rename = "costUSD")]
        cost_usd: f64,
        context_window: u64,
        max_output_tokens: u32,
    }
    serializer.collect_map(models.iter().map(|(model, used)| {
        let wire = Wire {
            input_tokens: used.usage.input_tokens,
            output_tokens: used.usage.output_tokens,
            cache_read_input_tokens: used.usage.cache_read_input_tokens,
            cache_creation_input_tokens: used.usage.cache_creation_input_tokens,
            web_search_requests: used.usage.web_search_requests,
            cost_usd: used.cost.usd(),
            context_window: used.context_window,
            max_output_tokens: used.max_output_tokens,
        };
        (model, wire)
    }))
}
