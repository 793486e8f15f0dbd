//! Result of a turn, and its counts.

use super::deferred::Deferred;
use super::{AnsweredMessages, Uuid};
use crate::outcome::WireEnding;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use windlass_types::{JsonText, ModelUsage, NanoUsd, PermissionDenial, RunOrigin, RunResult, Usage};

/// Tokens in the terms of the Messages API.
#[derive(Serialize)]
pub(crate) struct UsageFrame {
    input_tokens: u64,
    cache_creation_input_tokens: u64,
    cache_read_input_tokens: u64,
    output_tokens: u64,
    server_tool_use: ServerToolCounts,
    service_tier: Option<&'static str>,
    cache_creation: CacheCreation,
}

#[derive(Serialize)]
struct ServerToolCounts {
    web_search_requests: u64,
    web_fetch_requests: u64,
}

#[derive(Serialize)]
struct CacheCreation {
    ephemeral_1h_input_tokens: u64,
    ephemeral_5m_input_tokens: u64,
}

impl From<Usage> for UsageFrame {
    fn from(usage: Usage) -> Self {
        let (cache_creation_tokens, one_hour_tokens) =
            (usage.cache_creation_input_tokens, usage.cache_creation_1h_input_tokens);
        Self {
            input_tokens: usage.input_tokens,
            cache_creation_input_tokens: cache_creation_tokens,
            cache_read_input_tokens: usage.cache_read_input_tokens,
            output_tokens: usage.output_tokens,
            server_tool_use: ServerToolCounts { web_search_requests: usage.web_search_requests, web_fetch_requests: 0 },
            service_tier: None,
            cache_creation: CacheCreation {
                ephemeral_1h_input_tokens: one_hour_tokens,
                ephemeral_5m_input_tokens: cache_creation_tokens.saturating_sub(one_hour_tokens),
            },
        }
    }
}

#[derive(Serialize)]
pub(crate) struct RunResultFrame<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(flatten)]
    verdict: TurnSuccess,
    #[serde(flatten)]
    counts: ResultCounts,
    #[serde(flatten)]
    text: ResultText<'a>,
    #[serde(flatten)]
    last_answer: ProviderAnswer<'a>,
    session_id: &'a str,
    #[serde(flatten)]
    spent: PricedUsage<'a>,
    #[serde(serialize_with = "denials")]
    permission_denials: Denials<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_output: Option<&'a JsonText>,
    #[serde(flatten)]
    deferred: Deferred<'a>,
    #[serde(flatten)]
    cause: Cause<'a>,
    /// Warnings since the last result.
    #[serde(rename = "windlass_warnings", skip_serializing_if = "<[String]>::is_empty")]
    pub(crate) warnings: &'a [String],
    uuid: Uuid,
}

/// Success of the turn.
#[derive(Serialize)]
struct TurnSuccess {
    subtype: &'static str,
    is_error: bool,
}

/// Duration of the turn, and number of model messages.
#[derive(Serialize)]
struct ResultCounts {
    duration_ms: u64,
    duration_api_ms: u64,
    num_turns: u32,
}

/// The answer, or the errors.
#[derive(Serialize)]
struct ResultText<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    errors: Option<[&'a str; 1]>,
}

/// End of the provider's last answer.
#[derive(Serialize)]
struct ProviderAnswer<'a> {
    stop_reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    api_error_status: Option<u16>,
}

/// Usage, and its cost.
#[derive(Serialize)]
struct PricedUsage<'a> {
    total_cost_usd: f64,
    usage: UsageFrame,
    #[serde(rename = "modelUsage", serialize_with = "model_usage")]
    model_usage: &'a BTreeMap<String, ModelUsage>,
}

/// Reason of the turn's end, and its origin: messages of the host that it answers, or another cause.
#[derive(Serialize)]
struct Cause<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    terminal_reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    local_command: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<ResultOrigin>,
    #[serde(flatten)]
    answers: Option<AnsweredMessages>,
}

impl<'a> RunResultFrame<'a> {
    pub(crate) fn new(
        session_id: &'a str,
        result: &'a RunResult,
        ending: &'a WireEnding,
        answers: Option<AnsweredMessages>,
        uuid: Uuid,
    ) -> Self {
        let text = match (&ending.api_error, &ending.error, &result.structured_output) {
            (Some((_, text)), ..) => Some(text.as_str()),
            (None, Some(_), _) => None,
            (None, None, Some(json)) => Some(json.as_str()),
            (None, None, None) => Some(result.text.as_str()),
        };
        let deferred = Deferred::of(&result.pending_questions);
        let (duration_ms, duration_api_ms) = (result.duration_ms, result.duration_api_ms);
        Self {
            kind: "result",
            verdict: TurnSuccess { subtype: ending.subtype, is_error: ending.is_error },
            counts: ResultCounts { duration_ms, duration_api_ms, num_turns: ending.num_turns },
            text: ResultText { result: text, errors: ending.error.as_deref().map(|error| [error]) },
            last_answer: ProviderAnswer {
                stop_reason: match deferred.tool_use {
                    Some(_) => ending.terminal_reason,
                    None => result.stop_reason.as_ref().map(|reason| reason.as_str()),
                },
                api_error_status: ending.api_error_status,
            },
            session_id,
            spent: PricedUsage {
                total_cost_usd: result.cost.usd(),
                usage: result.usage.into(),
                model_usage: &result.model_usage,
            },
            permission_denials: Denials { calls: &result.permission_denials, with_input: true },
            structured_output: result.structured_output.as_ref(),
            deferred,
            cause: Cause {
                terminal_reason: ending.terminal_reason,
                local_command: ending.local_command.as_deref(),
                origin: (result.origin == RunOrigin::TaskNotification).then(ResultOrigin::task_notification),
                answers,
            },
            warnings: &[],
            uuid,
        }
    }

    /// Removes the inputs of denied calls.
    pub(crate) fn shorten(&mut self) {
        self.permission_denials.with_input = false;
        self.deferred.tool_use = None;
    }

    /// Removes all fields that may be long, because a host must always get its result. `no_models` is an empty table.
    pub(crate) fn shorten_more(&mut self, no_models: &'a BTreeMap<String, ModelUsage>) {
        self.permission_denials.calls = &[];
        self.warnings = &[];
        self.deferred.shorten();
        self.structured_output = None;
        self.spent.model_usage = no_models;
        let text = &mut self.text;
        text.result = text.result.map(|_| "[The result is too long for one frame; the last assistant frames hold it.]");
        text.errors = text.errors.map(|_| ["The run failed; the message is too long for one frame."]);
    }
}

/// Origin of a run, if not a message of the host.
#[derive(Serialize)]
struct ResultOrigin {
    kind: &'static str,
}

impl ResultOrigin {
    /// Background work that ended.
    fn task_notification() -> Self {
        Self { kind: "task-notification" }
    }
}

/// Denied calls, with or without their inputs.
#[derive(Clone, Copy)]
struct Denials<'a> {
    calls: &'a [PermissionDenial],
    with_input: bool,
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

/// Usage by model.
#[derive(Serialize)]
pub(crate) struct WireModels<'a>(#[serde(serialize_with = "model_usage")] pub(crate) &'a BTreeMap<String, ModelUsage>);

fn model_usage<S: Serializer>(models: &BTreeMap<String, ModelUsage>, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct WireUsage {
        input_tokens: u64,
        output_tokens: u64,
        cache_read_input_tokens: u64,
        cache_creation_input_tokens: u64,
        web_search_requests: u64,
        #[serde(rename = "costUSD")]
        cost_usd: f64,
        /// Part of the cost that the provider reported itself.
        #[serde(rename = "windlassReportedCostUSD", skip_serializing_if = "Option::is_none")]
        reported_cost_usd: Option<f64>,
        context_window: u64,
        max_output_tokens: u32,
    }
    serializer.collect_map(models.iter().map(|(model, used)| {
        let wire = WireUsage {
            input_tokens: used.usage.input_tokens,
            output_tokens: used.usage.output_tokens,
            cache_read_input_tokens: used.usage.cache_read_input_tokens,
            cache_creation_input_tokens: used.usage.cache_creation_input_tokens,
            web_search_requests: used.usage.web_search_requests,
            cost_usd: used.cost.usd(),
            reported_cost_usd: (used.reported_cost > NanoUsd::ZERO).then(|| used.reported_cost.usd()),
            context_window: used.context_window,
            max_output_tokens: used.max_output_tokens,
        };
        (model, wire)
    }))
}
