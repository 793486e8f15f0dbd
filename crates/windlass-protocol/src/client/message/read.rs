//! Parsing of messages.

use super::{
    AssistantMessage, Message, OtherMessage, RateLimitMessage, ResultMessage, StreamEvent, SystemMessage, TurnCounts,
    UserMessage,
};
use serde::Deserialize;
use windlass_types::{AgentIdentity, ContentBlock, JsonText, RateLimit, Utilization};

#[derive(Deserialize)]
struct ReadFields {
    #[serde(rename = "type", default)]
    kind: Option<String>,
    #[serde(default)]
    subtype: Option<String>,
    #[serde(default)]
    session_id: Option<String>,
    #[serde(default)]
    parent_tool_use_id: Option<String>,
    #[serde(default)]
    agent_id: Option<String>,
    #[serde(default)]
    subagent_type: Option<String>,
    #[serde(default)]
    message: Option<JsonText>,
    #[serde(default)]
    event: Option<JsonText>,
    #[serde(default)]
    tool_use_result: Option<JsonText>,
    #[serde(default)]
    error: Option<JsonText>,
    #[serde(default)]
    rate_limit_info: Option<JsonText>,
}

/// Only the status is required: other fields that cannot be read are treated as absent.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RateLimitFields {
    status: String,
    #[serde(default)]
    resets_at: Option<JsonText>,
    #[serde(default)]
    rate_limit_type: Option<JsonText>,
    #[serde(default)]
    utilization: Option<JsonText>,
    #[serde(default)]
    overage_status: Option<JsonText>,
    #[serde(default)]
    overage_resets_at: Option<JsonText>,
    #[serde(default)]
    overage_disabled_reason: Option<JsonText>,
    #[serde(default)]
    is_using_overage: Option<JsonText>,
}

#[derive(Deserialize)]
struct InnerMessage {
    content: JsonText,
    #[serde(default)]
    model: Option<String>,
}

#[derive(Deserialize)]
struct ResultMembers {
    #[serde(default)]
    user_message_uuids: Option<JsonText>,
    subtype: String,
    is_error: bool,
    #[serde(default)]
    result: Option<String>,
    #[serde(default)]
    errors: Vec<String>,
    #[serde(default)]
    stop_reason: Option<String>,
    #[serde(default)]
    terminal_reason: Option<String>,
    #[serde(default)]
    structured_output: Option<JsonText>,
    #[serde(default)]
    permission_denials: Vec<JsonText>,
    #[serde(default)]
    session_id: String,
}

/// Figures of a result.
#[derive(Deserialize)]
struct CountFields {
    #[serde(default)]
    num_turns: u32,
    #[serde(default)]
    duration_ms: u64,
    #[serde(default)]
    total_cost_usd: Option<f64>,
    #[serde(default)]
    usage: Option<JsonText>,
}

impl Message {
    /// Parses a message. A message without the required fields of its type becomes [`Message::Other`], not an error.
    pub(in crate::client) fn read(raw: JsonText) -> Self {
        let Ok(fields) = raw.to::<ReadFields>() else {
            return Self::Other(OtherMessage { kind: String::new(), raw });
        };
        let kind = fields.kind.clone().unwrap_or_default();
        let parsed = match kind.as_str() {
            "system" => fields.system(&raw),
            "assistant" => fields.assistant(&raw),
            "user" => fields.user(&raw),
            "stream_event" => fields.stream_event(&raw),
            "rate_limit_event" => fields.rate_limit(&raw),
            "result" => result(&raw),
            _ => None,
        };
        parsed.unwrap_or(Self::Other(OtherMessage { kind, raw }))
    }
}

impl ReadFields {
    fn system(self, raw: &JsonText) -> Option<Message> {
        let session_id = self.session_id.unwrap_or_default();
        Some(Message::System(SystemMessage { subtype: self.subtype?, session_id, raw: raw.clone() }))
    }

    fn agent(&self) -> Option<AgentIdentity> {
        let agent_type = self.subagent_type.clone().unwrap_or_default();
        self.agent_id.clone().map(|id| AgentIdentity::new(id.into(), agent_type))
    }

    fn assistant(self, raw: &JsonText) -> Option<Message> {
        let agent = self.agent();
        let inner: InnerMessage = self.message?.to().ok()?;
        Some(Message::Assistant(AssistantMessage {
            content: blocks(&inner.content)?,
            model: inner.model.unwrap_or_default(),
            parent_tool_use_id: self.parent_tool_use_id,
            agent,
            error: self.error.and_then(|error| error.to().ok()),
            session_id: self.session_id.unwrap_or_default(),
            raw: raw.clone(),
        }))
    }

    fn user(self, raw: &JsonText) -> Option<Message> {
        let agent = self.agent();
        let inner: InnerMessage = self.message?.to().ok()?;
        Some(Message::User(UserMessage {
            content: blocks(&inner.content)?,
            parent_tool_use_id: self.parent_tool_use_id,
            agent,
            tool_use_result: self.tool_use_result,
            session_id: self.session_id.unwrap_or_default(),
            raw: raw.clone(),
        }))
    }

    fn stream_event(self, raw: &JsonText) -> Option<Message> {
        Some(Message::StreamEvent(StreamEvent {
            event: self.event?,
            parent_tool_use_id: self.parent_tool_use_id,
            session_id: self.session_id.unwrap_or_default(),
            raw: raw.clone(),
        }))
    }

    fn rate_limit(self, raw: &JsonText) -> Option<Message> {
        let info = self.rate_limit_info?.to::<RateLimitFields>().ok()?.limit();
        let session_id = self.session_id.unwrap_or_default();
        Some(Message::RateLimit(RateLimitMessage { info, session_id, raw: raw.clone() }))
    }
}

impl RateLimitFields {
    fn limit(self) -> RateLimit {
        let text = |json: Option<JsonText>| json.and_then(|json| json.to::<String>().ok());
        let time = |json: Option<JsonText>| json.and_then(|json| json.to::<u64>().ok());
        let fraction = self.utilization.and_then(|json| json.to::<f64>().ok());
        let mut limit = RateLimit::new(self.status.into())
            .with_resets_at(time(self.resets_at))
            .with_kind(text(self.rate_limit_type).map(Into::into))
            .with_utilization(fraction.and_then(Utilization::new))
            .with_overage(text(self.overage_status).map(Into::into), time(self.overage_resets_at))
            .with_overage_disabled_reason(text(self.overage_disabled_reason));
        // Stored as the other side reports it, not derived.
        limit.is_using_overage = self.is_using_overage.and_then(|json| json.to::<bool>().ok());
        limit
    }
}

fn blocks(content: &JsonText) -> Option<Vec<ContentBlock>> {
    if let Ok(text) = content.to::<String>() {
        return Some(vec![ContentBlock::text(text)]);
    }
    content.to().ok()
}

fn result(raw: &JsonText) -> Option<Message> {
    let (fields, counts): (ResultMembers, CountFields) = (raw.to().ok()?, raw.to().ok()?);
    Some(Message::Result(ResultMessage {
        subtype: fields.subtype,
        is_error: fields.is_error,
        result: fields.result,
        errors: fields.errors,
        counts: TurnCounts {
            num_turns: counts.num_turns,
            duration_ms: counts.duration_ms,
            total_cost_usd: counts.total_cost_usd.unwrap_or_default(),
            usage: counts.usage.and_then(|usage| usage.to().ok()).unwrap_or_default(),
        },
        stop_reason: fields.stop_reason,
        terminal_reason: fields.terminal_reason,
        structured_output: fields.structured_output,
        permission_denials: fields.permission_denials,
        answers: fields.user_message_uuids.and_then(|uuids| uuids.to().ok()).unwrap_or_default(),
        session_id: fields.session_id,
        raw: raw.clone(),
    }))
}
