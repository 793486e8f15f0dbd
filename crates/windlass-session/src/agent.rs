//! Metadata of an agent, kept beside its log.

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashMap;
use windlass_types::{AgentId, Timestamp, ToolUseId};

/// Maximum number of characters kept of an agent's type and description.
const MAX_CHARS: usize = 1_000;

/// Metadata beside the log of an agent below the main one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgentHeader {
    /// Name of the agent's definition, such as `general-purpose`.
    pub agent_type: String,
    /// Task of the agent, in a few words.
    pub description: String,
    /// Call that started the agent, in the log of its parent.
    pub tool_use_id: ToolUseId,
    /// Parent agent; `None` for an agent of the main one.
    pub parent: Option<AgentId>,
}

impl AgentHeader {
    /// Returns the metadata of an agent of the main one.
    pub fn new(agent_type: impl Into<String>, description: impl Into<String>, tool_use_id: ToolUseId) -> Self {
        Self { agent_type: agent_type.into(), description: description.into(), tool_use_id, parent: None }
    }

    /// Sets the parent agent.
    #[must_use]
    pub fn with_parent(mut self, parent: Option<AgentId>) -> Self {
        self.parent = parent;
        self
    }

    /// Returns the content of the file beside the log: a JSON object without a line break. Long texts are cut to their
    /// beginning.
    pub fn to_json(&self) -> String {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Meta<'a> {
            agent_type: &'a str,
            description: &'a str,
            tool_use_id: &'a ToolUseId,
            #[serde(skip_serializing_if = "Option::is_none")]
            parent_agent_id: Option<&'a AgentId>,
        }
        let (agent_type, description) = (beginning(&self.agent_type), beginning(&self.description));
        let meta =
            Meta { agent_type, description, tool_use_id: &self.tool_use_id, parent_agent_id: self.parent.as_ref() };
        serde_json::to_string(&meta).unwrap_or_default()
    }
}

/// An agent of a session as shown in lists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct AgentSummary {
    /// Id of the agent.
    pub id: AgentId,
    /// Name of the agent's definition; empty if unknown.
    pub agent_type: String,
    /// Task of the agent, in a few words; empty if unknown.
    pub description: String,
    /// Call that started the agent, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<ToolUseId>,
    /// Parent agent; `None` for an agent of the main one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<AgentId>,
    /// Time of the first log line, if it can be parsed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
}

impl AgentSummary {
    /// Maximum number of agents that a store lists for one session.
    pub const MOST: usize = 4_096;

    /// Returns the summary of an agent from the content of the file beside its log ([`AgentHeader::to_json`]) and the
    /// beginning of the log itself. Accepts any bytes: fields that are missing stay empty.
    pub fn read(id: AgentId, meta: &[u8], head: &[u8]) -> Self {
        let meta = String::from_utf8_lossy(meta);
        let fields: Fields<'_> = serde_json::from_str(&meta).unwrap_or_default();
        let text = |name| get::<Cow<'_, str>>(&fields, name).map(|text| beginning(&text).to_owned());
        Self {
            id,
            agent_type: text("agentType").unwrap_or_default(),
            description: text("description").unwrap_or_default(),
            tool_use_id: text("toolUseId").map(ToolUseId::from),
            parent: text("parentAgentId").map(AgentId::from),
            started_at: started_at(head),
        }
    }

    /// Sorts the agents by start time, those with an unknown one last.
    pub fn sort(agents: &mut [Self]) {
        agents.sort_by(|a, b| {
            let sort_key = |agent: &Self| (agent.started_at.is_none(), agent.started_at);
            sort_key(a).cmp(&sort_key(b)).then_with(|| a.id.cmp(&b.id))
        });
    }
}

type Fields<'a> = HashMap<Cow<'a, str>, &'a RawValue>;

fn get<'a, T: Deserialize<'a>>(fields: &Fields<'a>, name: &str) -> Option<T> {
    serde_json::from_str(fields.get(name)?.get()).ok()
}

/// Returns the time of the first line that has one.
fn started_at(head: &[u8]) -> Option<Timestamp> {
    #[derive(Deserialize)]
    struct TimestampLine {
        timestamp: Timestamp,
    }
    let lines = head.split(|byte| *byte == b'\n');
    lines.filter_map(|line| serde_json::from_slice::<TimestampLine>(line).ok()).map(|line| line.timestamp).next()
}

fn beginning(text: &str) -> &str {
    text.char_indices().nth(MAX_CHARS).and_then(|(at, _)| text.get(..at)).unwrap_or(text)
}
