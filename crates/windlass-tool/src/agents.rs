//! Port to agents below the one whose call runs.

use crate::{BoxFuture, Cancel, ToolError};
use std::fmt::Debug;
use windlass_types::{AgentId, AgentRights, Effort, Outcome, SystemSection, TaskId, TaskUsage, Usage};

/// Runs agents below the one whose call runs.
///
/// An agent has its own conversation. It shares the session's files, hooks, budget and the host that answers permission
/// requests, and may never do more than its parent may. Its events reach the host under its own
/// [`AgentPath`](windlass_types::AgentPath); its conversation is kept beside the session's.
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
    /// Returns the depth of the caller: zero for the main agent.
    fn depth(&self) -> u32;

    /// Returns the name of the caller's definition. `None` for the main agent. Default: `None`.
    fn agent_type(&self) -> Option<&str> {
        None
    }

    /// Returns the agent that this call has run before, if it stayed open for it: a call that runs it under this id
    /// continues it where it waited. Default: `None`.
    fn continues(&self) -> Option<AgentId> {
        None
    }

    /// Runs an agent to its end. An agent that fails, is stopped or reaches a limit reports that.
    ///
    /// The agent begins when the future is first polled. When `cancel` is given, its run is stopped, and it reports so.
    /// Dropping the future also stops it, without waiting for its end.
    ///
    /// The future fails when the agent could not begin: its transcript cannot be written, or too many agents are
    /// running. It also fails with [`ToolErrorKind::AgentWaits`](crate::ToolErrorKind::AgentWaits) when the agent waits
    /// for answers and the call stays open for it ([`AgentSpec::may_wait`]).
    fn run(&self, spec: AgentSpec, cancel: Cancel) -> BoxFuture<'static, Result<AgentReport, ToolError>>;
}

/// Prompt of an agent, with its definition and limits.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgentSpec {
    /// Id of the agent, unique in the session.
    pub id: AgentId,
    /// Name of the definition.
    pub agent_type: String,
    /// Description of the task, in a few words.
    pub description: String,
    /// Prompt of the agent.
    pub prompt: String,
    /// System prompt.
    pub system: Vec<SystemSection>,
    /// Restrictions of the agent compared to its parent.
    pub rights: AgentRights,
    /// Model, by id or alias. `None`: the model of the parent.
    pub model: Option<String>,
    /// `true` if the parent's model chose the model in this call. Such a choice must be a model whose price is known,
    /// so that the budget holds; a definition, like the user, may name others.
    pub chooses_model: bool,
    /// Maximum number of model messages. `None`: no limit.
    pub max_turns: Option<u32>,
    /// Thinking effort of the model. `None`: that of the parent.
    pub effort: Option<Effort>,
    /// Background task that the agent is, if any. Its progress is then reported to the host.
    pub task: Option<TaskId>,
    /// `true` if the call may stay open while the agent waits for answers, in a run that waits for them. A tool that
    /// sets this can be run again for the same tool use: then it runs the agent that [`Agents::continues`] names. Only
    /// for tools that touch nothing on their own ([`Access::Agents`](windlass_types::Access::Agents)). Default:
    /// `false`, and permission requests of the agent that nothing answers are denied.
    pub may_wait: bool,
}

impl AgentSpec {
    /// Returns an agent with all tools, the model and the limits of its parent, and no system prompt.
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

/// Outcome of an agent, and its report.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct AgentReport {
    /// Outcome of the agent's run.
    pub outcome: Outcome,
    /// Last text of the model; the report of the agent, if it succeeded.
    pub text: String,
    /// Model that the agent called.
    pub model: String,
    /// Number of model messages.
    pub turns: u32,
    /// Usage of the agent.
    pub usage: TaskUsage,
    /// Tokens of that usage by kind, over all model calls.
    pub tokens: Usage,
}

impl AgentReport {
    /// Returns a report without a model and tokens.
    pub fn new(outcome: Outcome, text: impl Into<String>, usage: TaskUsage) -> Self {
        Self { outcome, text: text.into(), model: String::new(), turns: 0, usage, tokens: Usage::default() }
    }
}

const _: fn(&dyn Agents) = |_| {};
