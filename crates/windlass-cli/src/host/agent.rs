//! The agent that a host's session is.

use super::{Host, commands};
use crate::agents::{AgentFlags, MainAgent, all, below, in_background, is_offered, listed};
use crate::failure::Usage;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, MutexGuard, PoisonError};
use windlass::crates::project::Plugins;
use windlass::crates::subagent::AGENT_TOOL_NAME;
use windlass::{
    AgentDefinition, ContentBlock, DynTool, JsonText, PermissionMode, SessionBuilder, SessionTools, Subagents, Toolkit,
};
use windlass_protocol::{HostAgent, HostSetup};

/// What is read of `initialize`.
#[derive(Deserialize)]
struct Fields {
    #[serde(default)]
    agents: Option<JsonText>,
}

/// The agents that `initialize` defines.
fn defined(setup: &HostSetup) -> anyhow::Result<Option<JsonText>> {
    let said = setup.initialize.as_ref().map(|said| said.body.to::<Fields>()).transpose();
    Ok(said.map_err(|error| Usage(format!("initialize: {error}")))?.and_then(|said| said.agents))
}

fn definitions(agents: &Subagents) -> BTreeMap<&String, &AgentDefinition> {
    agents.definitions().map(|agent| (&agent.name, agent)).collect()
}

/// The agents of the open session.
#[derive(Debug)]
pub(super) struct OpenAgents {
    tools: SessionTools,
    /// Those that the host defines.
    defined: Option<JsonText>,
    current: Subagents,
}

impl Host {
    /// The agent that the flags or the settings name: one that the host, the flags or a file defines.
    pub(super) fn agent(&self, setup: &HostSetup) -> anyhow::Result<MainAgent> {
        self.chosen(defined(setup)?.as_ref())
    }

    fn chosen(&self, said: Option<&JsonText>) -> anyhow::Result<MainAgent> {
        MainAgent::choose(&self.agent_flags(said), &self.settings, &self.tools())
    }

    fn agent_flags<'a>(&'a self, said: Option<&'a JsonText>) -> AgentFlags<'a> {
        AgentFlags {
            agent: self.flags.text("agent"),
            agents: self.flags.text("agents"),
            host: said,
            bypass_allowed: self.bypass_allowed,
        }
    }

    /// The agents below one, if it may have any.
    fn below(&self, agent: &MainAgent) -> Option<Subagents> {
        let offered = is_offered(self.flags.value("tools")) && agent.may_delegate();
        offered.then(|| agent.below().clone().background_by_default(in_background()))
    }

    /// The agents that the model can give tasks to before the host defines any.
    pub(super) fn first_agents(&self) -> Vec<HostAgent> {
        // What is wrong is said when a session is opened.
        let agent = self.chosen(None).unwrap_or_default();
        self.below(&agent).as_ref().map(listed).unwrap_or_default()
    }

    /// Lets the model give tasks to agents.
    pub(super) fn delegate(&self, builder: SessionBuilder, agent: &MainAgent) -> SessionBuilder {
        match self.below(agent) {
            Some(agents) => builder.subagents(agents),
            None => builder,
        }
    }

    /// The agents that the model of a session can give tasks to: none without the tool for it.
    pub(super) fn agents(&self, agent: &MainAgent, builder: &SessionBuilder) -> anyhow::Result<Option<Subagents>> {
        let hidden = builder.policy()?.is_hidden(AGENT_TOOL_NAME);
        Ok(self.below(agent).filter(|_| !hidden))
    }

    /// Keeps what the agents of the open session can be changed with, if it may have any.
    pub(super) fn keep_agents(
        &self,
        setup: &HostSetup,
        agents: Option<Subagents>,
        tools: SessionTools,
    ) -> anyhow::Result<()> {
        let defined = defined(setup)?;
        *self.open_agents() = agents.map(|current| OpenAgents { tools, defined, current });
        Ok(())
    }

    fn open_agents(&self) -> MutexGuard<'_, Option<OpenAgents>> {
        self.open_agents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The agents that the open session would have with these plugins, if it may have any.
    pub(super) fn agents_with(&self, plugins: &Plugins) -> Option<Subagents> {
        let open = self.open_agents();
        let open = open.as_ref()?;
        let own = all(&self.agent_flags(open.defined.as_ref())).ok()?;
        let agents = below(&own.or(self.settings.agents_with(plugins)));
        Some(agents.background_by_default(in_background()))
    }

    /// The names of agents that these have and those of the open session have not, or another way round, sorted.
    pub(super) fn changed_agents(&self, agents: &Subagents) -> Vec<String> {
        let open = self.open_agents();
        let Some(open) = open.as_ref() else { return Vec::new() };
        let (before, after) = (definitions(&open.current), definitions(agents));
        let names: BTreeSet<&String> = before.keys().chain(after.keys()).copied().collect();
        names.into_iter().filter(|name| before.get(name) != after.get(name)).cloned().collect()
    }

    /// Gives the open session these agents.
    pub(super) fn renew_agents(&self, agents: Subagents) {
        if let Some(open) = self.open_agents().as_mut() {
            // A session that is closed is followed by one that reads them itself.
            if open.tools.set_subagents(agents.clone()).is_ok() {
                open.current = agents;
            }
        }
    }

    /// The tools that take up room in the model's context now: `own` ones, and the one for agents.
    pub(super) fn tools_now(&self, own: &Toolkit) -> Toolkit {
        let agents = self.open_agents().as_ref().map(|open| open.current.tool() as Arc<dyn DynTool>);
        Toolkit::from(own.tools().iter().cloned().chain(agents).collect::<Vec<_>>())
    }

    /// The mode that the session begins in if the host asks for none.
    pub(super) fn first_mode(&self, agent: &MainAgent) -> PermissionMode {
        let by_hand = self.flags.text("permission-mode").is_some() || self.flags.has("dangerously-skip-permissions");
        if by_hand { self.mode } else { agent.mode(self.mode) }
    }

    /// What goes in front of the first prompt of a session that is new.
    pub(super) fn initial_prompt(&self, agent: &MainAgent, setup: &HostSetup) -> Vec<ContentBlock> {
        let goes_on = self.flags.has("continue") || self.flags.text("resume").is_some();
        let Some(text) = agent.initial_prompt().filter(|_| !goes_on && !setup.fresh) else { return Vec::new() };
        let command = text.strip_prefix('/').and_then(|called| {
            let (name, arguments) = called.split_once(char::is_whitespace).unwrap_or((called, ""));
            commands::expand(Arc::clone(&self.commands))(name, arguments)
        });
        command.unwrap_or_else(|| vec![ContentBlock::text(text)])
    }
}
