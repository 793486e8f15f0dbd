//! What tools are to the model and to the scheduler.

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
    /// What it does and when to use it, for the model.
    pub description: String,
    /// JSON Schema (2020-12) of the input; an object schema.
    pub input_schema: JsonText,
    /// Whether the provider shall hold the model to the schema, where it can. Providers refuse many schemas and many
    /// tools of this kind, so it is off unless a tool asks for it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub strict: bool,
    /// Whether its definition may be withheld from requests until the model has searched for it. Never part of a request.
    #[serde(skip)]
    pub loading: ToolLoading,
}

/// Whether the definition of a tool is in requests from the beginning, or may be withheld when there are many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum ToolLoading {
    /// As its name says: tools of MCP servers (`mcp__server__tool`) may be withheld, all others are in requests from the
    /// beginning.
    #[default]
    ByName,
    /// It is in requests from the beginning.
    Always,
    /// It may be withheld.
    OnSearch,
    /// It may be withheld, beyond a budget that is smaller than that of the others: tools of servers that are started at
    /// their first call.
    OnDemand,
}

impl ToolSpec {
    /// Whether requests may be without it until the model has searched for it.
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

/// What a call touches: the scheduler runs calls side by side unless these
/// conflict, and permissions judge the paths.
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
    /// Runs agents, each call of which is judged by itself; touches nothing here on its own.
    Agents,
    /// Makes calls of other tools, each of which is judged by itself and takes its own place; touches nothing here on its
    /// own.
    Calls,
    /// Reads or changes what the session itself keeps, such as its list of tasks, and touches nothing outside of it. Such
    /// a call runs alone, once its message is stored, so it finds what the calls before it have left.
    Session,
    /// Runs programs.
    Exec,
    /// Not known: runs alone and asks.
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

    /// The paths, if this names any.
    pub fn paths(&self) -> &[PathBuf] {
        match self {
            Self::Reads(paths) | Self::Writes(paths) => paths,
            _ => &[],
        }
    }

    /// Whether two calls must not run at the same time. Paths are compared by
    /// component; a tree conflicts with what is below it. Symmetric.
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
            // What an agent will touch, or a call will make, is not known yet.
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
    /// This background work is to stop. The model knows that already: its end is not reported to it.
    StopTask(TaskId),
    /// This counts for the rest of the run.
    Scope(Box<RunScope>),
}

/// The outcome of a call that ran, before it becomes a tool result.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ToolOutcome {
    /// What the model reads.
    pub content: ToolResultContent,
    /// Whether the call failed.
    pub is_error: bool,
    /// The tool's structured output, for hosts and hooks.
    pub structured: Option<JsonText>,
    /// A unified diff of what changed on disk, for people.
    pub diff: Option<String>,
    /// The files that it wrote, with links followed, of a call that names them beforehand.
    pub written: Vec<PathBuf>,
    /// Changes of the session's state.
    pub changes: Vec<ContextChange>,
    /// How long it ran, in milliseconds.
    pub duration_ms: u64,
    /// Why the tool failed, for hosts. `None` for a tool that gave a result of its own, also one that is an error.
    pub failure: Option<ToolFailure>,
    /// Random bits, if others have written the content: it stands between two lines with a mark made of them when the model reads it.
    pub boundary: Option<u128>,
    /// Words of the tool itself, which stand behind the content and outside of its marks.
    pub note: Option<String>,
    /// The agent that the call has run, if that waits for answers and the call is to stay open for it: then nothing else of
    /// this counts. Only for a call that may stay open.
    pub waits: Option<Box<WaitingAgent>>,
}

/// Why a tool failed, for hosts. What the model reads is in the call's result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ToolFailure {
    /// What kind of failure.
    pub kind: ToolFailureKind,
    /// The cause inside the tool, with its own causes, such as `cannot read the index: permission denied`. Not for the
    /// model: it may hold secrets.
    pub source: Option<String>,
}

/// What kind of failure of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolFailureKind {
    /// The input is not what the tool takes.
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

    /// Adds why the tool failed.
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
