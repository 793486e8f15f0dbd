//! The frames as they are on the wire. Everything is borrowed.

use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use windlass_types::{
    ContentBlock, EntryId, JsonText, ModelUsage, PermissionDenial, ToolResult, ToolResultContent, Usage,
};

/// A UUID v4 made of random bits.
#[derive(Clone, Copy)]
pub(crate) struct Uuid(pub(crate) u128);

impl Uuid {
    /// The id of an entry, if it has the form of ours.
    pub(crate) fn of(id: &EntryId) -> Option<Self> {
        let digits = id.as_str().bytes().filter(|byte| *byte != b'-');
        let bits = digits
            .map(|digit| char::from(digit).to_digit(16))
            .try_fold(0_u128, |bits, digit| Some(bits << 4 | u128::from(digit?)))?;
        (id.is_uuid()).then_some(Self(bits))
    }
}

impl Serialize for Uuid {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // RFC 9562, section 5.4: version and variant stand over the random bits.
        let bits = (self.0 & !(0xf_u128 << 76)) | (0x4_u128 << 76);
        let bits = (bits & !(0x3_u128 << 62)) | (0x2_u128 << 62);
        let digit = |nibble: u8| nibble + if nibble < 10 { b'0' } else { b'a' - 10 };
        // Dashes stay where no digit is written.
        let mut text = [b'-'; 36];
        let places = text.iter_mut().enumerate().filter(|(at, _)| !matches!(at, 8 | 13 | 18 | 23));
        let nibbles = bits.to_be_bytes().into_iter().flat_map(|byte| [byte >> 4, byte & 0xf]);
        for ((_, place), nibble) in places.zip(nibbles) {
            *place = digit(nibble);
        }
        let text = std::str::from_utf8(&text).unwrap_or_default();
        serializer.serialize_str(text)
    }
}

#[derive(Serialize)]
pub(crate) struct Init<'a> {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) subtype: &'static str,
    pub(crate) cwd: &'a str,
    pub(crate) session_id: &'a str,
    pub(crate) tools: &'a [String],
    pub(crate) mcp_servers: Vec<InitServer<'a>>,
    pub(crate) model: &'a str,
    #[serde(rename = "permissionMode")]
    pub(crate) permission_mode: &'a str,
    pub(crate) slash_commands: &'a [String],
    #[serde(rename = "apiKeySource")]
    pub(crate) api_key_source: &'a str,
    pub(crate) claude_code_version: &'static str,
    pub(crate) output_style: &'static str,
    pub(crate) agents: [(); 0],
    pub(crate) skills: [(); 0],
    pub(crate) plugins: [(); 0],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub(crate) capabilities: &'static [&'static str],
    pub(crate) uuid: Uuid,
}

#[derive(Serialize)]
pub(crate) struct InitServer<'a> {
    pub(crate) name: &'a str,
    pub(crate) status: &'a str,
    pub(crate) source: &'a str,
}

#[derive(Serialize)]
pub(crate) struct Assistant<'a, C> {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) message: AssistantMessage<'a, C>,
    pub(crate) parent_tool_use_id: Option<&'a str>,
    pub(crate) session_id: &'a str,
    pub(crate) uuid: Uuid,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<&'static str>,
    #[serde(flatten)]
    pub(crate) answers: Option<Answers>,
}

/// The message of the host that a frame is an answer to, by the host's own id.
#[derive(Serialize)]
pub(crate) struct Answers {
    user_message_uuid: String,
    user_message_uuids: [String; 1],
}

impl Answers {
    pub(crate) fn new(uuid: String) -> Self {
        Self { user_message_uuids: [uuid.clone()], user_message_uuid: uuid }
    }
}

#[derive(Serialize)]
pub(crate) struct AssistantMessage<'a, C> {
    pub(crate) id: &'a str,
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) role: &'static str,
    pub(crate) model: &'a str,
    pub(crate) content: [C; 1],
    pub(crate) stop_reason: Option<&'a str>,
    pub(crate) stop_sequence: Option<&'a str>,
    pub(crate) usage: WireUsage,
}

#[derive(Serialize)]
pub(crate) struct User<'a, C> {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) message: UserMessage<C>,
    pub(crate) parent_tool_use_id: Option<&'a str>,
    pub(crate) session_id: &'a str,
    pub(crate) uuid: Uuid,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool_use_result: Option<Structured<'a>>,
}

#[derive(Serialize)]
pub(crate) struct UserMessage<C> {
    pub(crate) role: &'static str,
    pub(crate) content: [C; 1],
}

/// What a command said that was carried out without the model.
#[derive(Serialize)]
pub(crate) struct LocalOutput<'a> {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) message: UserText<'a>,
    pub(crate) parent_tool_use_id: Option<&'a str>,
    pub(crate) session_id: &'a str,
    pub(crate) uuid: Uuid,
    #[serde(rename = "isReplay")]
    pub(crate) is_replay: bool,
}

#[derive(Serialize)]
pub(crate) struct UserText<'a> {
    pub(crate) role: &'static str,
    pub(crate) content: &'a str,
}

/// What UIs get of a tool's outcome: an object, or a text.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum Structured<'a> {
    Json(&'a JsonText),
    Text(String),
}

#[derive(Serialize)]
pub(crate) struct TextBlock<'a> {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) text: &'a str,
}

impl<'a> TextBlock<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { kind: "text", text }
    }
}

#[derive(Serialize)]
pub(crate) struct ResultBlock<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    tool_use_id: &'a str,
    content: &'a ToolResultContent,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_error: bool,
}

impl<'a> ResultBlock<'a> {
    pub(crate) fn new(result: &'a ToolResult, content: &'a ToolResultContent) -> Self {
        Self { kind: "tool_result", tool_use_id: result.tool_use_id.as_str(), content, is_error: result.is_error }
    }
}

#[derive(Serialize)]
pub(crate) struct StreamEvent<'a, E> {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) event: E,
    pub(crate) parent_tool_use_id: Option<&'a str>,
    pub(crate) uuid: Uuid,
    pub(crate) session_id: &'a str,
    /// Not flattened: this is written for each few letters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) user_message_uuid: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) user_message_uuids: Option<[&'a str; 1]>,
}

/// A stream event that we make ourselves to keep the stream balanced.
#[derive(Serialize)]
pub(crate) struct Closing {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) index: Option<usize>,
}

/// A system frame; `body` brings the fields of its subtype.
#[derive(Serialize)]
pub(crate) struct System<'a, B> {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) subtype: &'static str,
    #[serde(flatten)]
    pub(crate) body: B,
    pub(crate) uuid: Uuid,
    pub(crate) session_id: &'a str,
}

#[derive(Default, Serialize)]
pub(crate) struct StatusBody<'a> {
    pub(crate) status: Option<&'static str>,
    #[serde(rename = "permissionMode", skip_serializing_if = "Option::is_none")]
    pub(crate) permission_mode: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) compact_result: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) compact_error: Option<&'a str>,
}

#[derive(Serialize)]
pub(crate) struct RetryBody<'a> {
    pub(crate) attempt: u32,
    pub(crate) max_retries: u32,
    pub(crate) retry_delay_ms: u64,
    pub(crate) error_status: Option<u16>,
    pub(crate) error: &'static str,
    pub(crate) message: &'a str,
}

#[derive(Serialize)]
pub(crate) struct FallbackBody<'a> {
    pub(crate) original_model: &'a str,
    pub(crate) fallback_model: &'a str,
}

#[derive(Serialize)]
pub(crate) struct DeniedBody<'a> {
    pub(crate) tool_name: &'a str,
    pub(crate) tool_use_id: &'a str,
    /// The tool use that started the agent, if it is not the main one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agent_id: Option<&'a str>,
    pub(crate) decision_reason_type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) decision_reason: Option<&'a str>,
    pub(crate) message: &'a str,
}

#[derive(Serialize)]
pub(crate) struct InformationalBody<'a> {
    pub(crate) content: &'a str,
    pub(crate) level: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool_use_id: Option<&'a str>,
    /// Whether the run stops after it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) prevent_continuation: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tag: Option<&'static str>,
}

impl<'a> InformationalBody<'a> {
    pub(crate) fn warning(content: &'a str) -> Self {
        Self { content, level: "warning", tool_use_id: None, prevent_continuation: false, tag: None }
    }
}

#[derive(Serialize)]
pub(crate) struct WithdrawnBody<'a> {
    pub(crate) message_id: Option<&'a str>,
    pub(crate) reason: &'static str,
}

#[derive(Serialize)]
pub(crate) struct Progress<'a> {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) tool_use_id: &'a str,
    pub(crate) tool_name: &'a str,
    pub(crate) parent_tool_use_id: Option<&'a str>,
    pub(crate) elapsed_time_seconds: f64,
    pub(crate) message: &'a str,
    pub(crate) uuid: Uuid,
    pub(crate) session_id: &'a str,
}

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
    #[serde(flatten)]
    pub(crate) answers: Option<Answers>,
    pub(crate) uuid: Uuid,
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

/// A block of a complete message.
pub(crate) type Block<'a> = &'a ContentBlock;
