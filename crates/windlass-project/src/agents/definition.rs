//! The definition of an agent, and the errors of choosing one.

use crate::mode::width;
use std::fmt;
use std::path::PathBuf;
use thiserror::Error;
use windlass_hook_runner::HookDefinition;
use windlass_subagent::AgentDefinition;
use windlass_types::PermissionMode;

/// Maximum number of names in an error.
const MAX_NAMES: usize = 20;

/// Source of an agent definition. Ordered: a stronger source is greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum AgentSource {
    /// A plugin.
    Plugin,
    /// A file of the user.
    User,
    /// A file of the project.
    Project,
    /// The command line or the host.
    Flags,
}

impl fmt::Display for AgentSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plugin => "plugin",
            Self::User => "user",
            Self::Project => "project",
            Self::Flags => "flags",
        })
    }
}

/// The definition of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadedAgent {
    /// Prompt, tools and limits of the agent. The prompt is never empty.
    pub definition: AgentDefinition,
    /// First prompt of a session with this agent as its main agent.
    pub initial_prompt: Option<String>,
    /// Hooks of the agent's own runs.
    pub hooks: Vec<HookDefinition>,
    /// Source of the definition.
    pub source: AgentSource,
    /// File of the agent, if it has one.
    pub path: Option<PathBuf>,
    /// Keys that have no effect, such as `isolation`, in order.
    pub without_effect: Vec<String>,
    /// Notices about front matter values that are not valid YAML and were read as plain text, one sentence each.
    pub notices: Vec<String>,
}

impl LoadedAgent {
    /// Returns the agent's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.definition.name
    }

    /// Returns the permission mode of a session with this agent as its main agent. `otherwise` is the mode without the
    /// agent, if the user has chosen none. An agent of the project can narrow the mode but never widen it.
    #[must_use]
    pub fn mode(&self, otherwise: PermissionMode) -> PermissionMode {
        let rank = |mode| (width(mode), mode != PermissionMode::Plan);
        let requested = self.definition.permission_mode.unwrap_or(otherwise);
        let applies = self.source != AgentSource::Project || rank(requested) < rank(otherwise);
        if applies { requested } else { otherwise }
    }
}

/// Reason why an agent cannot be the main agent of a session.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AgentError {
    /// No agent of this name is defined.
    #[error("there is no agent {name:?}: {}", list_names(known))]
    Unknown {
        /// The name that was asked for.
        name: String,
        /// The names that exist.
        known: Vec<String>,
    },
    /// Only a project that is not trusted defined it.
    #[error("the agent {name:?} of {} does not count without trust in the project; apart from it, {}", path.display(), list_names(known))]
    Untrusted {
        /// The name that was asked for.
        name: String,
        /// File of the agent.
        path: PathBuf,
        /// The names that exist.
        known: Vec<String>,
    },
    /// The definition cannot be used. A weaker definition of the same name is not used either: it might allow more.
    #[error("the agent {name:?} cannot be used: {problem}")]
    Unusable {
        /// The name that was asked for.
        name: String,
        /// Problem, with its place in the file.
        problem: String,
    },
}

fn list_names(names: &[String]) -> String {
    let shown = names.iter().take(MAX_NAMES).map(String::as_str).collect::<Vec<_>>().join(", ");
    match (names.len(), names.len().saturating_sub(MAX_NAMES)) {
        (0, _) => "there are none".to_owned(),
        (_, 0) => format!("there is {shown}"),
        (_, more) => format!("there is {shown} and {more} more"),
    }
}
