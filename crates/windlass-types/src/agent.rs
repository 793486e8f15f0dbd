//! Agents below the main one.

use crate::{AgentId, PermissionMode, ToolUseId};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// The path of tool uses that leads to an agent; empty for the main agent.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct AgentPath(Arc<[ToolUseId]>);

impl AgentPath {
    /// The path below this one that a tool use starts.
    #[must_use]
    pub fn child(&self, spawned_by: ToolUseId) -> Self {
        Self(self.0.iter().cloned().chain([spawned_by]).collect())
    }

    /// Returns this path as an ancestor sees it, which started the outermost agent of the path with `spawned_by`.
    #[must_use]
    pub fn below(&self, spawned_by: &ToolUseId) -> Self {
        Self([spawned_by].into_iter().chain(self.0.iter()).cloned().collect())
    }

    /// The tool uses, outermost first.
    pub fn tool_uses(&self) -> &[ToolUseId] {
        &self.0
    }

    /// The tool use that started the agent; `None` for the main agent.
    pub fn spawned_by(&self) -> Option<&ToolUseId> {
        self.0.last()
    }

    /// Returns `true` for the path of the main agent.
    pub fn is_main(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for AgentPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, id) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str("/")?;
            }
            f.write_str(id.as_str())?;
        }
        Ok(())
    }
}

/// The id and type of an agent below the main one.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct AgentIdentity {
    /// Id of the agent.
    #[serde(rename = "agent_id")]
    pub id: AgentId,
    /// Name of the agent's definition, such as `general-purpose`.
    pub agent_type: String,
}

impl AgentIdentity {
    /// An agent of a type.
    pub fn new(id: AgentId, agent_type: impl Into<String>) -> Self {
        Self { id, agent_type: agent_type.into() }
    }
}

/// Limits of an agent relative to its parent. Default: the rights of the parent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct AgentRights {
    /// The only tools of the agent, by name; `mcp__server` and `mcp__server__*` are all tools of a server. `None`: all
    /// tools of its parent.
    pub tools: Option<Vec<String>>,
    /// `true` for an agent without tools that run programs or write files, except those that its parent was given: by
    /// the parent's own definition, or by the user in a rule or the mode.
    pub reads_by_default: bool,
    /// Rules that limit tools to matching calls, such as `Bash(npm test *)`.
    pub tool_rules: Vec<String>,
    /// Tools that the agent does not have, and rules of calls that are refused, in addition to those of its parent.
    pub disallowed_tools: Vec<String>,
    /// Permission mode that the agent's definition asks for. Applied only if it permits less than the parent's mode.
    pub permission_mode: Option<PermissionMode>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_grows_at_either_end() {
        let path = AgentPath::default().child("b".into()).child("c".into());
        assert_eq!((path.to_string(), path.spawned_by().map(ToolUseId::as_str)), ("b/c".to_owned(), Some("c")));
        assert_eq!(path.below(&"a".into()).to_string(), "a/b/c");
        assert!(AgentPath::default().is_main() && AgentPath::default().spawned_by().is_none());
    }
}
