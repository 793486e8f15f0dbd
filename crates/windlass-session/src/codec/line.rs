//! Structure of the lines.

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
    #[serde(flatten)]
    pub text: TextFields,
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

impl<M: Serialize> ChainLine<'_, M> {
    /// Writes the same text as the serialiser, which would keep a copy of each flattened value.
    pub(super) fn write(&self, out: &mut Vec<u8>) -> serde_json::Result<()> {
        self.write_around(out, |out| serde_json::to_writer(out, &self.message))
    }
}

impl<M> ChainLine<'_, M> {
    /// Writes the line around a message that is written by a function.
    pub(super) fn write_around(
        &self,
        out: &mut Vec<u8>,
        message: impl FnOnce(&mut Vec<u8>) -> serde_json::Result<()>,
    ) -> serde_json::Result<()> {
        let Self { place, kind, uuid, timestamp, .. } = self;
        serde_json::to_writer(&mut *out, place)?;
        out.pop();
        field(out, b",\"type\":", kind)?;
        out.extend_from_slice(b",\"message\":");
        message(out)?;
        fields(out, &self.text)?;
        field(out, b",\"uuid\":", uuid)?;
        field(out, b",\"timestamp\":", timestamp)?;
        fields(out, &self.prompt)?;
        fields(out, &self.result)?;
        fields(out, &self.runtime)?;
        fields(out, &self.provider)?;
        if !self.windlass_exact.is_empty() {
            field(out, b",\"windlassExact\":", &self.windlass_exact)?;
        }
        fields(out, &self.session)?;
        out.push(b'}');
        Ok(())
    }
}

fn field(out: &mut Vec<u8>, name: &[u8], value: &impl Serialize) -> serde_json::Result<()> {
    out.extend_from_slice(name);
    serde_json::to_writer(out, value)
}

/// Writes the fields of a struct after others.
fn fields(out: &mut Vec<u8>, of: &impl Serialize) -> serde_json::Result<()> {
    let from = out.len();
    serde_json::to_writer(&mut *out, of)?;
    let has_some = out.len() > from + 2;
    match out.get_mut(from) {
        Some(brace) if has_some => *brace = b',',
        _ => out.truncate(from + 1),
    }
    out.pop();
    Ok(())
}

/// Position of a line in a conversation, and the agent of that.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ChainPlace<'a> {
    pub parent_uuid: Option<&'a str>,
    pub is_sidechain: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<&'a str>,
}

/// Marks of a text on the user's side that is not the user's own.
#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
pub(super) struct TextFields {
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_meta: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_compact_summary: bool,
}

/// Fields of a prompt's line about its run.
#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
pub(super) struct PromptFields<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_id: Option<&'a str>,
}

/// Fields of a result's line beside its content.
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

/// Facts that a text of the runtime reports to the model.
#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
pub(super) struct RuntimeFields<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub windlass_environment: Option<&'a EnvironmentContext>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub windlass_tasks: &'a [TaskId],
}

/// Provider data needed when the block of a model is sent back.
#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
pub(super) struct ProviderFields<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub windlass_origin: Option<&'a Origin>,
    /// JSON text as a string, so that it stays exact on its line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub windlass_replay: Option<&'a str>,
}

/// Trailing fields of each conversation line: the session that wrote it.
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

/// Boundary line of a compaction.
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

/// Exact texts of parts that have line breaks between their tokens. A record is one line, so in place the breaks are
/// spaces.
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

/// Usage in the format of the Messages API.
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
#[cfg_attr(test, derive(Serialize))]
#[cfg_attr(test, serde(rename_all = "camelCase"))]
pub(super) struct BesideLine<'a, T> {
    #[cfg_attr(test, serde(rename = "type"))]
    pub kind: &'static str,
    #[cfg_attr(test, serde(flatten))]
    pub body: T,
    pub uuid: &'a str,
    #[cfg_attr(test, serde(skip_serializing_if = "Option::is_none"))]
    pub parent_uuid: Option<&'a str>,
    pub timestamp: Timestamp,
    pub session_id: &'a str,
}

impl<T: Serialize> BesideLine<'_, T> {
    /// Writes the line, without its line break.
    pub(super) fn write(&self, out: &mut Vec<u8>) -> serde_json::Result<()> {
        let Self { kind, body, uuid, parent_uuid, timestamp, session_id } = self;
        field(out, b"{\"type\":", kind)?;
        fields(out, body)?;
        field(out, b",\"uuid\":", uuid)?;
        if let Some(parent) = parent_uuid {
            field(out, b",\"parentUuid\":", parent)?;
        }
        field(out, b",\"timestamp\":", timestamp)?;
        field(out, b",\"sessionId\":", session_id)?;
        out.push(b'}');
        Ok(())
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct IntentBody<'a> {
    pub tool_use_id: Cow<'a, str>,
    pub assistant_uuid: Cow<'a, str>,
    pub digest: Cow<'a, str>,
}

#[derive(Serialize)]
pub(super) struct ResumedBody<'a> {
    pub run: &'a str,
    pub of: &'a str,
    pub turns: u32,
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
pub(super) struct SpentBody {
    #[serde(rename = "totalCostUSD")]
    pub total: f64,
    #[serde(default, rename = "modelUsage", skip_serializing_if = "BTreeMap::is_empty")]
    pub models: BTreeMap<String, WireModelUsage>,
    /// Maximum cost of open requests by model, in US dollars.
    #[serde(default, rename = "heldUSD", skip_serializing_if = "BTreeMap::is_empty")]
    pub held: BTreeMap<String, f64>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct WireRun<'a> {
    pub run: Cow<'a, str>,
    pub outcome: Cow<'a, str>,
    pub turns: u32,
}

/// Usage of a model in the format of hosts.
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
    /// Part of the cost that the provider reported itself, in US dollars.
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use windlass_types::Api;

    fn written(write: impl Fn(&mut Vec<u8>) -> serde_json::Result<()>) -> String {
        let mut out = b"before".to_vec();
        write(&mut out).unwrap();
        String::from_utf8(out).unwrap().strip_prefix("before").unwrap().to_owned()
    }

    proptest! {
        #[test]
        fn lines_are_what_the_serialiser_writes(text in any::<String>(), has in any::<[bool; 12]>()) {
            let [meta, summary, agent, mode, data, synthetic, environment, tasks, origin, exact, branch, fork] = has;
            let (origin_of, task) = (Origin::new(Api::default(), "m", "n"), [TaskId::from("t")]);
            let (environment_of, json) = (EnvironmentContext::default(), JsonText::of(&text).unwrap());
            let line = ChainLine {
                place: ChainPlace { parent_uuid: mode.then_some(&text), is_sidechain: agent, agent_id: agent.then_some("a") },
                kind: "user",
                message: UserMessage { role: "user", content: Content::Text(&text) },
                text: TextFields { is_meta: meta, is_compact_summary: summary },
                uuid: "u",
                timestamp: Timestamp::from_millis(5),
                prompt: PromptFields { permission_mode: mode.then_some("plan"), prompt_id: data.then_some("p") },
                result: ResultFields {
                    tool_use_result: data.then_some(&json),
                    source_tool_assistant_uuid: synthetic.then_some("s"),
                    windlass_synthetic: synthetic,
                },
                runtime: RuntimeFields {
                    windlass_environment: environment.then_some(&environment_of),
                    windlass_tasks: if tasks { &task } else { &[] },
                },
                provider: ProviderFields { windlass_origin: origin.then_some(&origin_of), windlass_replay: origin.then_some(&text) },
                windlass_exact: Exact { content: exact.then_some(Cow::Borrowed(&text)), ..Exact::default() },
                session: SessionFields {
                    user_type: "external",
                    entrypoint: "cli",
                    cwd: &text,
                    session_id: "s",
                    version: "1",
                    git_branch: branch.then_some("main"),
                    forked_from: fork.then_some(ForkedFrom { session_id: "f", message_uuid: "m" }),
                },
            };
            prop_assert_eq!(written(|out| line.write(out)), serde_json::to_string(&line).unwrap());
            let body = if data { BTreeMap::from([("mode", &*text), ("other", "x")]) } else { BTreeMap::new() };
            let (uuid, parent_uuid, timestamp) = ("u", mode.then_some("p"), Timestamp::default());
            let line = BesideLine { kind: "windlass-x", body, uuid, parent_uuid, timestamp, session_id: &text };
            prop_assert_eq!(written(|out| line.write(out)), serde_json::to_string(&line).unwrap());
        }
    }
}
