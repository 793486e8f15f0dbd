//! Tools as the model and the scheduler see them.

mod matcher;

pub use matcher::{ToolMatcher, ToolMatcherError};

use crate::{JsonText, RunScope, TaskId, ToolResultContent, WaitingAgent};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A tool as the model sees it. Its JSON is byte-stable over a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ToolSpec {
    /// The name, unique in a set: 1 to 64 of `A-Z a-z 0-9 _ -`.
    pub name: String,
    /// Description for the model: the effect of the tool and the cases to use it in.
    pub description: String,
    /// JSON Schema (2020-12) of the input; an object schema.
    pub input_schema: JsonText,
    /// `true` if the provider shall force the model to follow the schema, where it can. Providers refuse many schemas
    /// and many tools of this kind, so it is off unless a tool asks for it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub strict: bool,
    /// Loading of the definition: from the beginning, or after a search by the model. Never part of a request.
    #[serde(skip)]
    pub loading: ToolLoading,
}

/// Loading of a tool's definition: in requests from the beginning, or withheld when there are many tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum ToolLoading {
    /// By the tool's name: tools of MCP servers (`mcp__server__tool`) may be withheld, all others are in requests from
    /// the beginning.
    #[default]
    ByName,
    /// The definition is in requests from the beginning.
    Always,
    /// The definition may be withheld.
    OnSearch,
    /// The definition may be withheld, with a smaller budget than that of the others: tools of servers that are started
    /// at their first call.
    OnDemand,
}

impl ToolSpec {
    /// Returns `true` if requests may leave the tool out until the model has searched for it.
    pub fn may_be_withheld(&self) -> bool {
        match self.loading {
            ToolLoading::ByName => self.name.starts_with(crate::mcp_name::PREFIX),
            ToolLoading::Always => false,
            ToolLoading::OnSearch | ToolLoading::OnDemand => true,
        }
    }

    /// A tool specification.
    pub fn new(name: impl Into<String>, description: impl Into<String>, input_schema: JsonText) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            input_schema,
            strict: false,
            loading: ToolLoading::ByName,
        }
    }
}

/// Resources that a call touches: the scheduler runs calls concurrently unless these conflict, and permissions judge
/// the paths.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Access {
    /// Only reads these files or trees. An empty list touches
    /// nothing outside the session. Relative paths start at the session's
    /// current directory.
    Reads(Vec<PathBuf>),
    /// Writes these files (and may read them).
    Writes(Vec<PathBuf>),
    /// Talks to other machines; touches nothing here.
    Network,
    /// Runs agents, whose calls are each judged separately; touches nothing here on its own.
    Agents,
    /// Makes calls of other tools, each judged and scheduled separately; touches nothing here on its own.
    Calls,
    /// Reads or changes the session's own state, such as its todo list, and touches nothing outside of it. Such a call
    /// runs alone, once its message is stored, so it sees the effects of the calls before it.
    Session,
    /// Runs programs.
    Exec,
    /// Unknown: runs alone and asks.
    #[default]
    Unknown,
}

impl Access {
    /// Touches nothing outside the session.
    pub const NOTHING: Self = Self::Reads(Vec::new());

    /// Reads one file or tree.
    pub fn reads(path: impl Into<PathBuf>) -> Self {
        Self::Reads(vec![path.into()])
    }

    /// Writes one file.
    pub fn writes(path: impl Into<PathBuf>) -> Self {
        Self::Writes(vec![path.into()])
    }

    /// The paths, if the access names any.
    pub fn paths(&self) -> &[PathBuf] {
        match self {
            Self::Reads(paths) | Self::Writes(paths) => paths,
            _ => &[],
        }
    }

    /// Returns `true` if two calls must not run at the same time. Paths are compared by component; a tree conflicts
    /// with everything below it. Symmetric.
    pub fn conflicts_with(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::Reads(_) | Self::Network | Self::Agents | Self::Calls,
                Self::Reads(_) | Self::Network | Self::Agents | Self::Calls,
            ) => false,
            (Self::Writes(ours), Self::Writes(theirs) | Self::Reads(theirs))
            | (Self::Reads(ours), Self::Writes(theirs)) => {
                ours.iter().any(|ours| theirs.iter().any(|theirs| overlaps(ours, theirs)))
            }
            (Self::Writes(_), Self::Network) | (Self::Network, Self::Writes(_)) => false,
            // The accesses of an agent's calls, or of calls that a call makes, are not known yet.
            (Self::Agents | Self::Calls, Self::Writes(_)) | (Self::Writes(_), Self::Agents | Self::Calls) => true,
            (Self::Session | Self::Exec | Self::Unknown, _) | (_, Self::Session | Self::Exec | Self::Unknown) => true,
        }
    }
}

fn overlaps(a: &Path, b: &Path) -> bool {
    a.starts_with(b) || b.starts_with(a)
}

/// A change of the session's state that a tool asks for. Applied in call order.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ContextChange {
    /// Later calls start in this directory.
    Cwd(PathBuf),
    /// The todo list is now this (a JSON array in the tool's own form).
    Todos(JsonText),
    /// Stops this background task. The model ordered that, so the end is not reported to it.
    StopTask(TaskId),
    /// Applies this scope for the rest of the run.
    Scope(Box<RunScope>),
}

/// The outcome of a call that ran, before it becomes a tool result.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ToolOutcome {
    /// Content for the model.
    pub content: ToolResultContent,
    /// `true` if the call failed.
    pub is_error: bool,
    /// The tool's structured output, for hosts and hooks.
    pub structured: Option<JsonText>,
    /// A unified diff of what changed on disk, for people.
    pub diff: Option<String>,
    /// The files that the call wrote, with links followed. Only for calls that name their files beforehand.
    pub written: Vec<PathBuf>,
    /// Changes of the session's state.
    pub changes: Vec<ContextChange>,
    /// Duration, in milliseconds.
    pub duration_ms: u64,
    /// Failure of the tool, for hosts. `None` for a tool that gave a result of its own, also one that is an error.
    pub failure: Option<ToolFailure>,
    /// Random bits, if the content comes from others: the model reads it between two lines with a mark made of these
    /// bits.
    pub boundary: Option<u128>,
    /// Text of the tool itself, placed behind the content and outside of its marks.
    pub note: Option<String>,
    /// Agent that the call has run, if the agent waits for answers and the call stays open for it: all other fields are
    /// then ignored. Only for calls that may stay open.
    pub waits: Option<Box<WaitingAgent>>,
}

/// Failure of a tool, for hosts. The model reads the call's result instead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ToolFailure {
    /// Kind of the failure.
    pub kind: ToolFailureKind,
    /// The cause inside the tool, with its own causes, such as `cannot read the index: permission denied`. Not for the
    /// model: it may hold secrets.
    pub source: Option<String>,
}

/// Kind of failure of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolFailureKind {
    /// The input does not fit the tool.
    InvalidInput,
    /// The tool refused, with a text for the model.
    Rejected,
    /// The call was stopped.
    Cancelled,
    /// An error inside the tool; [`source`](ToolFailure::source) has it.
    Internal,
    /// The tool's code panicked; [`source`](ToolFailure::source) has the panic's message if that is a text.
    Panicked,
}

impl ToolFailure {
    /// A failure without a known cause.
    pub fn new(kind: ToolFailureKind) -> Self {
        Self { kind, source: None }
    }

    /// Adds the cause.
    #[must_use]
    pub fn with_source(mut self, source: Option<String>) -> Self {
        self.source = source;
        self
    }
}

impl ToolOutcome {
    /// A successful outcome.
    pub fn ok(content: impl Into<ToolResultContent>) -> Self {
        Self { content: content.into(), ..Self::default() }
    }

    /// A failed outcome with the text that the model should read.
    pub fn error(text: impl Into<String>) -> Self {
        Self { content: ToolResultContent::Text(text.into()), is_error: true, ..Self::default() }
    }

    /// Adds the failure.
    #[must_use]
    pub fn with_failure(mut self, failure: ToolFailure) -> Self {
        self.failure = Some(failure);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conflicts_are_by_component_and_symmetric() {
        let all = [
            Access::NOTHING,
            Access::reads("/w/a"),
            Access::reads("/w"),
            Access::writes("/w/a"),
            Access::writes("/w/ab"),
            Access::Network,
            Access::Agents,
            Access::Calls,
            Access::Session,
            Access::Exec,
            Access::Unknown,
        ];
        for a in &all {
            for b in &all {
                assert_eq!(a.conflicts_with(b), b.conflicts_with(a), "{a:?} {b:?}");
            }
        }
        assert!(!Access::reads("/w/a").conflicts_with(&Access::reads("/w")));
        assert!(Access::writes("/w/a").conflicts_with(&Access::reads("/w")));
        assert!(!Access::writes("/w/a").conflicts_with(&Access::writes("/w/ab")));
        assert!(Access::Exec.conflicts_with(&Access::NOTHING));
        assert!(all.iter().all(|other| Access::Session.conflicts_with(other)));
        assert!(!Access::Agents.conflicts_with(&Access::Agents));
        assert!(Access::Agents.conflicts_with(&Access::writes("/w/a")));
        assert!(!Access::Calls.conflicts_with(&Access::Calls));
        assert!(Access::Calls.conflicts_with(&Access::writes("/w/a")));
    }
}
