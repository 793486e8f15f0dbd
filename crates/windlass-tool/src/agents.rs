//! The port to agents below the one whose call runs.

use crate::{BoxFuture, Cancel, ToolError};
use std::fmt::Debug;
use windlass_types::{AgentId, AgentRights, Effort, Outcome, SystemSection, TaskId, TaskUsage, Usage};

/// Runs agents below the one whose call runs.
///
/// An agent has a conversation of its own. It shares the session's files, hooks, money and whoever
/// answers permission requests, and may never do more than its parent may. Its events reach the
/// host under its own [`AgentPath`](windlass_types::AgentPath); its conversation is kept beside the session's.
pub trait Agents: Debug + Send + Sync + 'static {
    /// How deep the caller is: zero for the main agent.
    fn depth(&self) -> u32;

    /// Runs an agent to its end. An agent that fails, is stopped or meets a limit reports that.
    ///
    /// It begins when the future is first polled. When `cancel` is given, its run is stopped, and it reports so.
    /// Dropping the future stops it too, and nobody waits for it then.
    ///
    /// The future fails when the agent could not begin: its transcript cannot be written, or too many are at work.
    fn run(&self, spec: AgentSpec, cancel: Cancel) -> BoxFuture<'static, Result<AgentReport, ToolError>>;
}

/// What an agent is to do, and with what.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgentSpec {
    /// Its id, unique in the session.
    pub id: AgentId,
    /// The name of its definition.
    pub agent_type: String,
    /// What it does, in a few words.
    pub description: String,
    /// Its prompt.
    pub prompt: String,
    /// Its system prompt.
    pub system: Vec<SystemSection>,
    /// How much less it may do than its parent.
    pub rights: AgentRights,
    /// Its model, by id or alias. `None`: that of its parent.
    pub model: Option<String>,
    /// Whether the model of the parent chose that for this call. A definition may name a model that no budget holds
    /// for, as the user can; a model that has a budget may not.
    pub chooses_model: bool,
    /// Most model messages. `None`: no limit.
    pub max_turns: Option<u32>,
    /// How much its model spends on an answer. `None`: as much as that of its parent.
    pub effort: Option<Effort>,
    /// The background task that it is, if it is one. The host hears of its progress then.
    pub task: Option<TaskId>,
}

impl AgentSpec {
    /// An agent with all tools, the model and the limits of its parent, and no system prompt.
    pub fn new(id: AgentId, agent_type: impl Into<String>, prompt: impl Into<String>) -> Self {
        Self {
            id,
            agent_type: agent_type.into(),
            description: String::new(),
            prompt: prompt.into(),
            system: Vec::new(),
            rights: AgentRights::default(),
            model: None,
            chooses_model: false,
            max_turns: None,
            effort: None,
            task: None,
        }
    }
}

/// What came of an agent.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct AgentReport {
    /// How its run ended.
    pub outcome: Outcome,
    /// The last text of its model: what it reports, if it succeeded.
    pub text: String,
    /// The model that it called.
    pub model: String,
    /// How many model messages it took.
    pub turns: u32,
    /// What it used.
    pub usage: TaskUsage,
    /// The tokens of that by kind, over all model calls.
    pub tokens: Usage,
}

impl AgentReport {
    /// What came of an agent.
    pub fn new(outcome: Outcome, text: impl Into<String>, usage: TaskUsage) -> Self {
        Self { outcome, text: text.into(), model: String::new(), turns: 0, usage, tokens: Usage::default() }
    }
}

const _: fn(&dyn Agents) = |_| {};
