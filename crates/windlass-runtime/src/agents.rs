//! Agents that calls run: the driver's side.
//!
//! Each agent is a session of its own, whose events reach the host of the main agent. The driver of its parent opens
//! it, because only that driver knows the parent's current rights.

mod child_run;
pub(crate) mod open_calls;
pub(crate) mod parts;

use crate::agents::child_run::{ChildRun, ParentAgent};
use crate::agents::open_calls::{OpenCalls, ParentCall};
use crate::agents::parts::{AgentParts, SessionOpener};
use crate::budget::{Place, Places};
use crate::commands::SessionCommand;
use crate::config::{Persistence, SessionConfig};
use crate::events::queue::EventQueue;
use crate::files::keeper::Keeper;
use crate::handle::SessionHandle;
use crate::ports::Ports;
use crate::questions::open_questions::{OpenQuestion, OpenQuestions};
use futures_util::future::join_all;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use windlass_core::{AgentConfig, AgentOpening, EffectId, Input, Machine, OfferedTool, RunCall};
use windlass_permission::{CanUseTool, Policy, can_use_tool_fn};
use windlass_session::AgentHeader;
use windlass_tool::{AgentReport, AgentSpec, Agents, BoxFuture, Cancel, ToolError, ToolSet};
use windlass_types::{AgentId, AgentIdentity, AgentPath, PermissionAnswer, PermissionRequest, TaskId, ToolUseId};

/// Time limit for agents to end when their parent ends.
const GRACE: Duration = Duration::from_secs(4);

/// Command of a call to the driver about agents.
#[derive(Debug)]
pub(crate) enum AgentCommand {
    /// Prepare an agent.
    Open(Box<AgentRequest>),
    /// Begin an agent that is open.
    Opened(Box<OpenedAgent>),
}

/// An agent that is about to begin.
#[derive(Debug)]
pub(crate) struct AgentRequest {
    spec: AgentSpec,
    call: AgentsCall,
    /// The call that the agent keeps open, if it may.
    above: Option<Arc<ParentCall>>,
    answer: oneshot::Sender<Result<ChildParts, ToolError>>,
}

/// A call that may run agents.
#[derive(Debug, Clone)]
pub(crate) struct AgentsCall {
    pub(crate) tool_use_id: ToolUseId,
    /// Directory in which the call starts.
    pub(crate) cwd: PathBuf,
    /// Effect that runs the call, if the call may stay open while an agent waits for answers.
    pub(crate) may_wait: Option<EffectId>,
    /// Agent that the call ran before and that waits for answers.
    pub(crate) continues: Option<AgentId>,
}

impl AgentsCall {
    /// The call that this effect runs.
    pub(crate) fn of(effect: EffectId, run: &RunCall) -> Self {
        let (tool_use_id, cwd) = (run.call.id.clone(), run.facts.cwd.clone());
        Self { tool_use_id, cwd, may_wait: run.may_wait.then_some(effect), continues: run.continues.clone() }
    }

    /// A placeholder where no call can be continued.
    pub(crate) fn standing_for(tool_use_id: ToolUseId, cwd: PathBuf) -> Self {
        Self { tool_use_id, cwd, may_wait: None, continues: None }
    }

    /// Returns `true` if the call continues this agent.
    fn continues(&self, spec: &AgentSpec) -> bool {
        self.continues.as_ref() == Some(&spec.id)
    }

    /// Returns the effect that runs the call, if the call may stay open for this agent. A call does not wait for an
    /// agent in the background.
    fn may_wait_for(&self, spec: &AgentSpec) -> Option<EffectId> {
        self.may_wait.filter(|_| spec.may_wait && spec.task.is_none())
    }
}

/// Parts to open an agent with.
#[derive(Debug)]
struct ChildParts {
    config: SessionConfig,
    nested: AgentParts,
    place: Place,
    /// Number of changes that agents follow, at the time of the preparation.
    changes: u64,
}

/// An agent that is open and has no prompt yet.
#[derive(Debug)]
pub(crate) struct OpenedAgent {
    agent: ChildAgent,
    changes: u64,
    /// The agent begins when this is sent or dropped.
    ready: oneshot::Sender<()>,
}

/// An agent that is at work.
#[derive(Debug)]
struct ChildAgent {
    handle: SessionHandle,
    spec: AgentSpec,
    cwd: PathBuf,
}

/// The agents below a driver's own agent.
#[derive(Debug)]
pub(crate) struct ChildAgents {
    commands: mpsc::UnboundedReceiver<AgentCommand>,
    ask: mpsc::UnboundedSender<AgentCommand>,
    alive: Vec<ChildAgent>,
    /// Policy epoch that the agents below have.
    epoch: u64,
    /// Number of other changes that agents below follow.
    changes: u64,
    /// Counts the agents below, and gives them their budget.
    places: Places,
    /// Depth of this agent; zero for the main one.
    depth: u32,
    ancestors: Ancestors,
    /// Persistence of the session, for agents that are stored beside it.
    kept: Option<Persistence>,
    /// The questions of the session, as this agent asks them.
    questions: OpenQuestions,
    /// The call above this agent, if its questions wait for answers.
    parent_call: Option<Arc<ParentCall>>,
    open_calls: OpenCalls,
    opener: SessionOpener,
}

/// Inputs of the agents that must learn of answers to questions of an agent below the main one. Empty for the main
/// agent.
#[derive(Debug, Clone)]
pub(crate) struct Ancestors {
    /// Inputs of the main agent.
    main: Option<mpsc::UnboundedSender<Input>>,
    /// Inputs of the highest agent that waits for this one.
    waiting: Option<mpsc::UnboundedSender<Input>>,
}

impl Ancestors {
    /// Passes on an answer to a question. Persistent permission updates apply to the whole session, from which the
    /// agents get them back. A request to stop the run stops the run that the user began, not a part of it.
    pub(crate) fn take(&self, answer: &PermissionAnswer) {
        let (to, input) = match answer {
            PermissionAnswer::Allow { updates, .. } if !updates.is_empty() => {
                (&self.main, Input::UpdatePermissions(updates.clone()))
            }
            PermissionAnswer::Deny { interrupt: true, .. } => (&self.waiting, Input::Interrupt),
            _ => return,
        };
        if let Some(to) = to {
            // Sending fails when the session has ended.
            let _ = to.send(input);
        }
    }
}

/// Parts of a driver that the agents below it need.
pub(crate) struct ParentParts<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) ports: &'a Ports,
    pub(crate) keeper: Option<&'a Keeper>,
    pub(crate) results: &'a mpsc::UnboundedSender<Input>,
}

impl ChildAgents {
    /// Returns the state for the agents below an agent, and the keeper of files of that agent.
    pub(crate) fn new(
        parts: AgentParts,
        kept: Option<Persistence>,
        places: Places,
        opener: SessionOpener,
    ) -> (Self, Option<Keeper>) {
        let AgentParts { keeper, depth, main, waiting, budget: _, questions, parent_call } = parts;
        let (ask, commands) = mpsc::unbounded_channel();
        let (alive, epoch, changes) = (Vec::new(), 0, 0);
        let below = Self {
            commands,
            ask,
            alive,
            epoch,
            changes,
            places,
            depth,
            ancestors: Ancestors { main, waiting },
            kept,
            questions,
            parent_call,
            open_calls: OpenCalls::default(),
            opener,
        };
        (below, keeper)
    }

    /// Returns `true` if any agent is at work or about to begin.
    pub(crate) fn any_at_work(&self) -> bool {
        self.places.any_taken()
    }

    /// Returns the other agents that must know of answers to questions of this agent.
    pub(crate) fn ancestors(&self) -> Ancestors {
        self.ancestors.clone()
    }

    /// Opens a question of this agent, so that it can be answered.
    pub(crate) fn open_question(&self, request: &PermissionRequest) -> OpenQuestion {
        self.questions.open(request)
    }

    /// The questions of the session, as this agent asks them.
    pub(crate) fn questions(&self) -> &OpenQuestions {
        &self.questions
    }

    /// The call above this agent, if its questions wait for answers.
    pub(crate) fn parent_call(&self) -> Option<Arc<ParentCall>> {
        self.parent_call.clone()
    }

    /// The agents below whose calls are being kept open.
    pub(crate) fn open_calls(&self) -> &OpenCalls {
        &self.open_calls
    }

    /// Persistence of the session, if it is stored.
    pub(crate) fn kept(&self) -> Option<&Persistence> {
        self.kept.as_ref()
    }

    pub(crate) async fn next(&mut self) -> Option<AgentCommand> {
        self.commands.recv().await
    }

    /// Returns `true` if there is a command.
    pub(crate) fn has_next(&self) -> bool {
        !self.commands.is_empty()
    }

    /// Returns the agents interface of one call.
    pub(crate) fn of_call(
        &self,
        call: AgentsCall,
        caller: Option<&AgentIdentity>,
        ports: &Ports,
        queue: &Arc<EventQueue>,
        results: &mpsc::UnboundedSender<Input>,
    ) -> Arc<dyn Agents> {
        let above = ParentAgent {
            queue: Arc::clone(queue),
            results: results.clone(),
            provider: Arc::clone(&ports.provider),
            clock: Arc::clone(&ports.system.clock),
            tool_use_id: call.tool_use_id.clone(),
        };
        let caller = caller.map(|agent| agent.agent_type.clone());
        let (open_calls, parent_call) = (self.open_calls.clone(), self.parent_call.clone());
        Arc::new(CallAgents {
            ask: self.ask.clone(),
            depth: self.depth,
            caller,
            call,
            above,
            open_calls,
            parent_call,
            opener: self.opener,
        })
    }

    /// Carries out a command of a call.
    pub(crate) fn obey(&mut self, command: AgentCommand, parent: &ParentParts<'_>) {
        self.alive.retain(|agent| !agent.handle.has_ended());
        match command {
            AgentCommand::Open(opening) => {
                let parts = self.parts(&opening, parent);
                // The requesting call may have been stopped.
                let _ = opening.answer.send(parts);
            }
            AgentCommand::Opened(opened) => {
                let OpenedAgent { agent, changes, ready } = *opened;
                // The rights of this agent may have changed since the parts were prepared.
                agent.may_do(parent.machine.policy());
                if changes != self.changes {
                    agent.has_tools(&parent.ports.tools, parent.machine);
                    agent.command(SessionCommand::Hooks);
                    agent.command(SessionCommand::Environment(parent.ports.system.env.to_vec()));
                }
                self.alive.push(agent);
                // The call that waits may have been stopped.
                let _ = ready.send(());
            }
        }
    }

    /// Removes tools from agents that their parent no longer has, and gives them its new ones.
    pub(crate) fn follow_tools(&mut self, tools: &ToolSet, machine: &Machine) {
        self.changes += 1;
        for agent in &self.alive {
            agent.has_tools(tools, machine);
        }
    }

    /// Gives the current hooks to the agents at work.
    pub(crate) fn follow_hooks(&mut self) {
        self.changes += 1;
        for agent in &self.alive {
            agent.command(SessionCommand::Hooks);
        }
    }

    /// Gives this environment to programs of agents at work.
    pub(crate) fn follow_environment(&mut self, env: &[(OsString, OsString)]) {
        self.changes += 1;
        for agent in &self.alive {
            agent.command(SessionCommand::Environment(env.to_vec()));
        }
    }

    /// Stops a background task if it belongs to an agent below.
    pub(crate) fn stop_task(&self, id: &TaskId) {
        for agent in &self.alive {
            agent.command(SessionCommand::StopTask(id.clone()));
        }
    }

    /// Limits agents to the current rights of their parent. Returns `true` if the policy of this agent has changed.
    pub(crate) fn follow_policy(&mut self, machine: &Machine) -> bool {
        let has_changed = std::mem::replace(&mut self.epoch, machine.policy_epoch()) != machine.policy_epoch();
        if has_changed {
            for agent in &self.alive {
                agent.may_do(machine.policy());
            }
        }
        has_changed
    }

    /// The tool uses that lead to this agent.
    pub(crate) fn path(&self) -> AgentPath {
        self.questions.agent().clone()
    }

    /// Stops all agents and waits until they have ended. Bounded.
    pub(crate) async fn close(&mut self) {
        // Commands of agents that are about to begin are not answered any more.
        self.commands.close();
        while self.commands.try_recv().is_ok() {}
        let closing = join_all(self.alive.iter().map(|agent| agent.handle.close()));
        // Each agent ends within its own grace period; acknowledged entries are safe already.
        let _ = tokio::time::timeout(GRACE, closing).await;
    }

    /// Returns the parts to open an agent with.
    fn parts(&self, opening: &AgentRequest, parent: &ParentParts<'_>) -> Result<ChildParts, ToolError> {
        let AgentRequest { spec, call, above, .. } = opening;
        let AgentsCall { tool_use_id, cwd, .. } = call;
        let place = self.places.take().map_err(refused)?;
        let ParentParts { machine, ports, keeper, results } = parent;
        let mut agent_opening = opened_with(spec, ports, cwd);
        // An agent that is not kept could not be continued.
        agent_opening.agent.waits = above.is_some() && self.kept.is_some();
        let mut config = machine.agent_config(agent_opening).map_err(refused)?;
        let tools = tools_of(spec, cwd, &ports.tools, machine)?;
        config.tools.specs = tools.specs();
        let mut ports = (*ports).clone();
        // The folder belongs to the session of the main agent.
        ports.storage.artifacts = ports.storage.artifacts.or(ports.storage.scratch.take());
        (ports.tools, ports.storage.checkpoints) = (tools.into(), None);
        ports.host.callback = ports.host.callback.map(|parent| passed_on(parent, tool_use_id.clone()));
        let config = self.kept_beside(SessionConfig::new(config, ports), spec, call, machine)?;
        let nested = AgentParts {
            keeper: keeper.zip(machine.prompt()).map(|(keeper, prompt)| keeper.of_agent(prompt.clone())),
            depth: self.depth.saturating_add(1),
            main: Some(self.ancestors.main.clone().unwrap_or_else(|| (*results).clone())),
            waiting: spec.task.is_none().then(|| self.ancestors.waiting.clone().unwrap_or_else(|| (*results).clone())),
            budget: Some(self.places.budget().clone()),
            questions: self.questions.of_agent(tool_use_id.clone()),
            parent_call: above.clone(),
        };
        Ok(ChildParts { config, nested, place, changes: self.changes })
    }

    /// Returns the persistence of an agent's session beside that of the main one, if that one is kept.
    fn kept_beside(
        &self,
        session: SessionConfig,
        spec: &AgentSpec,
        call: &AgentsCall,
        above: &Machine,
    ) -> Result<SessionConfig, ToolError> {
        let Some(kept) = &self.kept else {
            let not_continued = || ToolError::rejected("The agent could not be continued: the session is not kept.");
            return if call.continues(spec) { Err(not_continued()) } else { Ok(session) };
        };
        let parent = above.agent().map(|agent| agent.id.clone());
        let header = AgentHeader::new(spec.agent_type.clone(), spec.description.clone(), call.tool_use_id.clone());
        let header = kept.header.clone().with_agent(header.with_parent(parent));
        let key = kept.key.of_agent(spec.id.clone());
        let mut persistence = Persistence::new(Arc::clone(&kept.store), key, kept.owner.clone(), header);
        persistence.must_exist = call.continues(spec);
        Ok(session.with_persistence(persistence))
    }
}

impl ChildAgent {
    /// Gives the agent a command. The command is dropped when the agent has ended.
    fn command(&self, command: SessionCommand) {
        let _ = self.handle.command(command);
    }

    /// Gives the agent the policy of its parent.
    fn may_do(&self, policy: &Policy) {
        self.command(SessionCommand::Input(Input::Inherit(Box::new(policy.clone()))));
    }

    /// Gives the agent its share of its parent's tools. An agent that loses its last tool continues without.
    fn has_tools(&self, above: &ToolSet, machine: &Machine) {
        let tools = tools_of(&self.spec, &self.cwd, above, machine).ok();
        self.command(SessionCommand::Tools(tools.unwrap_or_default()));
    }
}

/// Returns the identity of an agent and its limits relative to its parent.
fn agent_of(spec: &AgentSpec) -> AgentConfig {
    let mut agent = AgentConfig::new(AgentIdentity::new(spec.id.clone(), spec.agent_type.clone()));
    agent.rights.clone_from(&spec.rights);
    agent
}

fn opened_with(spec: &AgentSpec, ports: &Ports, cwd: &Path) -> AgentOpening {
    let mut opening = AgentOpening::new(agent_of(spec), cwd.to_path_buf(), ports.system.ids.bits());
    opening.model = spec.model.as_deref().filter(|model| *model != "inherit").map(|name| ports.model(name));
    opening.chooses_model = spec.chooses_model;
    (opening.effort, opening.max_turns, opening.system) = (spec.effort, spec.max_turns, spec.system.clone());
    opening
}

fn refused(error: impl std::error::Error + Send + Sync + 'static) -> ToolError {
    ToolError::rejected(error.to_string()).with_source(error)
}

/// Passes the questions of an agent, under its path, to the host that answers the questions of the parent.
fn passed_on(above: Arc<dyn CanUseTool>, spawned_by: ToolUseId) -> Arc<dyn CanUseTool> {
    Arc::new(can_use_tool_fn(move |mut request| {
        request.agent = request.agent.below(&spawned_by);
        let above = Arc::clone(&above);
        async move { above.can_use_tool(request).await }
    }))
}

/// Returns the tools of an agent, out of those of its parent.
fn tools_of(spec: &AgentSpec, cwd: &Path, above: &ToolSet, machine: &Machine) -> Result<ToolSet, ToolError> {
    let asks = |name| above.get(name).is_none_or(|tool| tool.annotations().requires_user_interaction);
    let offered = above.names().map(|name| OfferedTool { name, asks_the_user: asks(name) });
    let names = machine.agent_tools(&agent_of(spec), cwd, offered).map_err(refused)?;
    ToolSet::new(names.into_iter().filter_map(|name| above.get(name).cloned()))
        .map_err(|error| ToolError::rejected(error.to_string()).with_source(error))
}

/// Agents interface of one call.
#[derive(Debug)]
struct CallAgents {
    ask: mpsc::UnboundedSender<AgentCommand>,
    depth: u32,
    /// Type of the calling agent, unless it is the main one.
    caller: Option<String>,
    call: AgentsCall,
    above: ParentAgent,
    open_calls: OpenCalls,
    /// The call above the caller.
    parent_call: Option<Arc<ParentCall>>,
    opener: SessionOpener,
}

impl CallAgents {
    /// Returns the call as the agent that it runs keeps it open, if it may stay open for the agent.
    fn parent_call(&self, spec: &AgentSpec) -> Option<Arc<ParentCall>> {
        let effect = self.call.may_wait_for(spec)?;
        let agent = (effect, AgentIdentity::new(spec.id.clone(), spec.agent_type.clone()));
        let (results, open_calls) = (self.above.results.clone(), self.open_calls.clone());
        let above = ParentCall::new(agent, results, open_calls, self.parent_call.clone());
        Some(Arc::new(if self.call.continues(spec) { above.kept_open_before() } else { above }))
    }
}

impl Agents for CallAgents {
    fn depth(&self) -> u32 {
        self.depth
    }

    fn agent_type(&self) -> Option<&str> {
        self.caller.as_deref()
    }

    fn continues(&self) -> Option<AgentId> {
        self.call.continues.clone()
    }

    fn run(&self, spec: AgentSpec, cancel: Cancel) -> BoxFuture<'static, Result<AgentReport, ToolError>> {
        let (ask, parent, call) = (self.ask.clone(), self.above.clone(), self.call.clone());
        let (parent_call, opener) = (self.parent_call(&spec), self.opener);
        Box::pin(async move {
            let (answer, parts) = oneshot::channel();
            let (described, cwd) = (spec.clone(), call.cwd.clone());
            let work = ChildRun { is_continued: call.continues(&spec), parent_call: parent_call.clone(), spec };
            let opening = AgentRequest { spec: described.clone(), call, above: parent_call, answer };
            let ended = || ToolError::rejected(format!("{}: the session is about to end.", work.failed()));
            ask.send(AgentCommand::Open(Box::new(opening))).map_err(|_| ended())?;
            let ChildParts { config, nested, place, changes } = parts.await.map_err(|_| ended())??;
            let session = opener(config, nested)
                .await
                .map_err(|error| ToolError::rejected(format!("{}: {error}", work.failed())).with_source(error))?;
            let (ready, begins) = oneshot::channel();
            let agent = ChildAgent { handle: session.handle.clone(), spec: described, cwd };
            // Either fails when the session has ended; then this is dropped soon.
            let _ = ask.send(AgentCommand::Opened(Box::new(OpenedAgent { agent, changes, ready })));
            let _ = begins.await;
            let ended = parent.follow(session, work, cancel).await;
            drop(place);
            ended
        })
    }
}
