//! The port to agents below the one whose call runs.

use crate::{BoxFuture, Cancel, ToolError};
use std::fmt::Debug;
use windlass_types::{AgentId, AgentRights, Effort, Outcome, SystemSection, TaskId, TaskUsage, Usage};

/// Runs agents below the one whose call runs.
///
/// An agent has a conversation of its own. It shares the session's files, hooks, budget and the host that
/// answers permission requests, and may never do more than its parent may. Its events reach the
/// host under its own [`AgentPath`](windlass_types::AgentPath); its conversation is kept beside the session's.
///
/// ```
/// use windlass_tool::{AgentSpec, ToolCx, ToolError};
/// use windlass_types::AgentId;
///
/// /// What a tool does that has an agent look into something, and hands on its report.
/// async fn look_into(question: &str, cx: &ToolCx) -> Result<String, ToolError> {
///     let id = AgentId::from(format!("{:032x}", cx.ids().bits()));
///     let report = cx.agents()?.run(AgentSpec::new(id, "looker", question), cx.cancel().clone()).await?;
///     Ok(report.text)
/// }
/// ```
pub trait Agents: Debug + Send + Sync + 'static {
    /// How deep the caller is: zero for the main agent.
    fn depth(&self) -> u32;

    /// What kind of agent the caller is, by the name of its definition. `None` for the main agent. Default: `None`.
    fn agent_type(&self) -> Option<&str> {
        None
    }

    /// The agent that this call has run before, if it stayed open for it: a call that runs it under this id continues it where
    /// it waited. Default: `None`.
    fn continues(&self) -> Option<AgentId> {
        None
    }

    /// Runs an agent to its end. An agent that fails, is stopped or meets a limit reports that.
    ///
    /// It begins when the future is first polled. When `cancel` is given, its run is stopped, and it reports so.
    /// Dropping the future stops it too, without waiting for its end.
    ///
    /// The future fails when the agent could not begin: its transcript cannot be written, or too many are at work. And it fails
    /// with [`ToolErrorKind::AgentWaits`](crate::ToolErrorKind::AgentWaits) when the agent waits for answers and the call stays
    /// open for it ([`AgentSpec::may_wait`]).
    fn run(&self, spec: AgentSpec, cancel: Cancel) -> BoxFuture<'static, Result<AgentReport, ToolError>>;
}

/// The prompt of an agent, with its definition and limits.
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
    /// Its model, by id or alias. `None`: the model of its parent.
    pub model: Option<String>,
    /// Whether the parent's model chose that model in this call. Such a choice must be a model whose price is known, so
    /// that the budget holds; a definition, like the user, may name others.
    pub chooses_model: bool,
    /// Most model messages. `None`: no limit.
    pub max_turns: Option<u32>,
    /// How much its model spends on an answer. `None`: as much as that of its parent.
    pub effort: Option<Effort>,
    /// The background task that it is, if it is one. Its progress is then reported to the host.
    pub task: Option<TaskId>,
    /// Whether the call may stay open while the agent waits for answers, in a run that waits for them. A tool that says so can
    /// be run again for the same tool use: then it runs the agent that [`Agents::continues`] names. Only for tools that touch
    /// nothing on their own ([`Access::Agents`](windlass_types::Access::Agents)). Default: no, and what the agent would ask
    /// without an answer is denied.
    pub may_wait: bool,
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
            may_wait: false,
        }
    }
}

/// How an agent ended, and its report.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct AgentReport {
    /// How its run ended.
    pub outcome: Outcome,
    /// The last text of its model; its report, if it succeeded.
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
    /// An end without a report.
    pub fn new(outcome: Outcome, text: impl Into<String>, usage: TaskUsage) -> Self {
        Self { outcome, text: text.into(), model: String::new(), turns: 0, usage, tokens: Usage::default() }
    }
}

const _: fn(&dyn Agents) = |_| {};
