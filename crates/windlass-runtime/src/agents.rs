//! Agents below the one whose call runs: the driver's side.
//!
//! Each is a session of its own, whose events reach the host of the first one. It is opened by the driver of the
//! agent above it, which alone knows what that one may do now.

mod follow;

use crate::Ports;
use crate::checkpoints::Keeper;
use crate::events::EventQueue;
use crate::handle::{Order, SessionHandle};
use crate::session::{Nested, Persistence, SessionConfig};
use follow::Above;
use futures_util::future::join_all;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use windlass_core::{AgentConfig, Input, Machine, ModelProfile};
use windlass_permission::{CanUseTool, Policy, can_use_tool_fn};
use windlass_session::AgentHeader;
use windlass_tool::{AgentReport, AgentSpec, Agents, BoxFuture, Cancel, OnlyTools, ToolError, ToolSet};
use windlass_types::{AgentIdentity, PermissionAnswer, ToolUseId};

/// How many agents go on at a time below one.
const MOST: usize = 16;
/// How long agents may take to end when the agent above them ends.
const GRACE: Duration = Duration::from_secs(4);

/// What calls ask the driver for.
#[derive(Debug)]
pub(crate) enum AgentOrder {
    /// What an agent is opened with.
    Open(Box<Opening>),
    /// It is open.
    Opened(SessionHandle),
}

/// An agent that is about to begin.
#[derive(Debug)]
pub(crate) struct Opening {
    spec: AgentSpec,
    tool_use_id: ToolUseId,
    cwd: PathBuf,
    answer: oneshot::Sender<Result<(SessionConfig, Nested), ToolError>>,
}

/// The agents below the one of a driver.
#[derive(Debug)]
pub(crate) struct Below {
    orders: mpsc::UnboundedReceiver<AgentOrder>,
    ask: mpsc::UnboundedSender<AgentOrder>,
    alive: Vec<SessionHandle>,
    /// What the agents below were told of what they may do.
    epoch: u64,
    /// How deep this agent is itself.
    depth: u32,
    /// The inputs of the main agent, if this is another one.
    main: Option<mpsc::UnboundedSender<Input>>,
    /// How the session is kept, for agents that are to be kept beside it.
    kept: Option<Persistence>,
}

/// What a driver has that agents below it need.
pub(crate) struct Parent<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) ports: &'a Ports,
    pub(crate) keeper: Option<&'a Keeper>,
    pub(crate) results: &'a mpsc::UnboundedSender<Input>,
}

impl Below {
    pub(crate) fn new(depth: u32, main: Option<mpsc::UnboundedSender<Input>>, kept: Option<Persistence>) -> Self {
        let (ask, orders) = mpsc::unbounded_channel();
        Self { orders, ask, alive: Vec::new(), epoch: 0, depth, main, kept }
    }

    /// What a question of this agent was answered with. What is to be kept of it holds for the whole session, from
    /// which the agents get it back.
    pub(crate) fn keep_updates(main: Option<&mpsc::UnboundedSender<Input>>, answer: &PermissionAnswer) {
        if let (Some(main), PermissionAnswer::Allow { updates, .. }) = (main, answer)
            && !updates.is_empty()
        {
            // It fails when the session has ended.
            let _ = main.send(Input::UpdatePermissions(updates.clone()));
        }
    }

    /// The inputs of the main agent, if this is another one.
    pub(crate) fn main(&self) -> Option<mpsc::UnboundedSender<Input>> {
        self.main.clone()
    }

    pub(crate) async fn next(&mut self) -> Option<AgentOrder> {
        self.orders.recv().await
    }

    /// What one call runs agents with.
    pub(crate) fn of_call(
        &self,
        tool_use_id: ToolUseId,
        cwd: PathBuf,
        ports: &Ports,
        queue: &Arc<EventQueue>,
        results: &mpsc::UnboundedSender<Input>,
    ) -> Arc<dyn Agents> {
        let above = Above {
            queue: Arc::clone(queue),
            results: results.clone(),
            provider: Arc::clone(&ports.provider),
            clock: Arc::clone(&ports.clock),
            tool_use_id,
        };
        Arc::new(OfCall { ask: self.ask.clone(), depth: self.depth, cwd, above })
    }

    /// Carries out what a call asks for.
    pub(crate) fn obey(&mut self, order: AgentOrder, parent: &Parent<'_>) {
        self.alive.retain(|agent| !agent.has_ended());
        match order {
            AgentOrder::Open(opening) => {
                let parts = self.parts(&opening, parent);
                // Whoever asked may have been stopped.
                let _ = opening.answer.send(parts);
            }
            AgentOrder::Opened(agent) => {
                // What this agent may do can have changed since the parts were given out.
                tell(&agent, parent.machine.policy());
                self.alive.push(agent);
            }
        }
    }

    /// Lets agents do no more than the one above them, from now on.
    pub(crate) fn follow_policy(&mut self, machine: &Machine) {
        if std::mem::replace(&mut self.epoch, machine.policy_epoch()) != machine.policy_epoch() {
            for agent in &self.alive {
                tell(agent, machine.policy());
            }
        }
    }

    /// Stops all agents and waits until they have ended. Bounded.
    pub(crate) async fn close(&self) {
        let closed = join_all(self.alive.iter().map(SessionHandle::close));
        // Each ends within its own grace; what it acknowledged is safe already.
        let _ = tokio::time::timeout(GRACE, closed).await;
    }

    /// What an agent is opened with.
    fn parts(&self, opening: &Opening, parent: &Parent<'_>) -> Result<(SessionConfig, Nested), ToolError> {
        let Opening { spec, tool_use_id, cwd, .. } = opening;
        if self.alive.len() >= MOST {
            return Err(ToolError::rejected(format!("{MOST} agents go on already: wait until one ends, or stop one.")));
        }
        let Parent { machine, ports, keeper, results } = parent;
        let mut agent = AgentConfig::new(AgentIdentity::new(spec.id.clone(), spec.agent_type.clone()));
        (agent.permission_mode, agent.deny) = (spec.permission_mode, spec.disallowed_tools.clone());
        let model = spec.model.as_deref().filter(|model| *model != "inherit").map(|name| {
            let id = ports.provider.resolve_model(name);
            let info = ports.provider.model_info(&id);
            ModelProfile::new(id, info)
        });
        let config = machine.agent_config(agent, model, spec.system.clone(), cwd.clone(), ports.ids.bits());
        let mut config = config.map_err(|error| {
            ToolError::rejected(format!("The agent {:?} cannot be used: {error}", spec.agent_type)).with_source(error)
        })?;
        let tools = tools_of(spec, &ports.tools, machine, &config.policy)?;
        config.tools = tools.specs();
        config.limits.max_turns = spec.max_turns;
        config.effort = spec.effort.or(config.effort);
        let mut ports = (*ports).clone();
        // The folder goes with the session of the main agent.
        ports.artifacts = ports.artifacts.or(ports.scratch.take());
        (ports.tools, ports.checkpoints) = (tools, None);
        ports.can_use_tool = ports.can_use_tool.map(|above| passed_on(above, tool_use_id.clone()));
        let mut session = SessionConfig::new(config, ports);
        if let Some(kept) = &self.kept {
            let parent = machine.agent().map(|agent| agent.id.clone());
            let header = AgentHeader::new(spec.agent_type.clone(), spec.description.clone(), tool_use_id.clone());
            let key = kept.key.of_agent(spec.id.clone());
            let header = kept.header.clone().with_agent(header.with_parent(parent));
            session =
                session.with_persistence(Persistence::new(Arc::clone(&kept.store), key, kept.owner.clone(), header));
        }
        let keeper = keeper.zip(machine.prompt()).map(|(keeper, prompt)| keeper.of_agent(prompt.clone()));
        let main = self.main.clone().unwrap_or_else(|| (*results).clone());
        Ok((session, Nested { keeper, depth: self.depth.saturating_add(1), main: Some(main) }))
    }
}

/// Whoever answers the questions of the agent above answers those of an agent, under its path.
fn passed_on(above: Arc<dyn CanUseTool>, spawned_by: ToolUseId) -> Arc<dyn CanUseTool> {
    Arc::new(can_use_tool_fn(move |mut request| {
        request.agent = request.agent.below(&spawned_by);
        let above = Arc::clone(&above);
        async move { above.can_use_tool(request).await }
    }))
}

/// Tells an agent what the one above it may do.
fn tell(agent: &SessionHandle, policy: &Policy) {
    // It fails when the agent has ended.
    let _ = agent.order(Order::Input(Input::Inherit(Box::new(policy.clone()))));
}

/// The tools of an agent: of those of the agent above it, what it is given and nobody denies it, without those that
/// are for the main agent only.
fn tools_of(spec: &AgentSpec, above: &ToolSet, machine: &Machine, policy: &Policy) -> Result<ToolSet, ToolError> {
    let mut only = OnlyTools::default();
    if let Some(names) = &spec.tools {
        only.and(names.clone());
    }
    let is_given = |name: &&str| {
        let asks = above.get(name).is_none_or(|tool| tool.annotations().requires_user_interaction);
        !asks && only.keeps(name) && !policy.is_hidden(name) && !machine.is_main_only(name)
    };
    let tools: Vec<_> = above.names().filter(is_given).filter_map(|name| above.get(name).cloned()).collect();
    if tools.is_empty() && spec.tools.as_ref().is_some_and(|names| !names.is_empty()) {
        let text = format!("The agent {:?} cannot be used: none of its tools is available here.", spec.agent_type);
        return Err(ToolError::rejected(text));
    }
    ToolSet::new(tools).map_err(|error| ToolError::rejected(error.to_string()).with_source(error))
}

/// What one call runs agents with.
#[derive(Debug)]
struct OfCall {
    ask: mpsc::UnboundedSender<AgentOrder>,
    depth: u32,
    cwd: PathBuf,
    above: Above,
}

impl Agents for OfCall {
    fn depth(&self) -> u32 {
        self.depth
    }

    fn run(&self, spec: AgentSpec, cancel: Cancel) -> BoxFuture<'static, Result<AgentReport, ToolError>> {
        let (ask, above, cwd) = (self.ask.clone(), self.above.clone(), self.cwd.clone());
        Box::pin(async move {
            let (answer, parts) = oneshot::channel();
            let told = spec.clone();
            let opening = Opening { spec, tool_use_id: above.tool_use_id.clone(), cwd, answer };
            let ended = || ToolError::rejected("The agent could not begin: the session is about to end.");
            ask.send(AgentOrder::Open(Box::new(opening))).map_err(|_| ended())?;
            let (config, nested) = parts.await.map_err(|_| ended())??;
            let session = crate::Session::open_nested(config, nested).await.map_err(|error| {
                ToolError::rejected(format!("The agent could not begin: {error}")).with_source(error)
            })?;
            // It fails when the session has ended; then this is dropped soon.
            let _ = ask.send(AgentOrder::Opened(session.handle.clone()));
            above.follow(session, told, cancel).await
        })
    }
}
