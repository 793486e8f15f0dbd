//! The agent that a host's session is.

use super::{Host, commands};
use crate::agents::{AgentFlags, MainAgent, in_background, is_offered, listed};
use crate::failure::Usage;
use serde::Deserialize;
use std::sync::Arc;
use windlass::crates::subagent::AGENT_TOOL_NAME;
use windlass::{ContentBlock, DynTool, JsonText, PermissionMode, SessionBuilder, Subagents, Toolkit};
use windlass_protocol::{HostAgent, HostSetup};

/// What is read of `initialize`.
#[derive(Deserialize)]
struct Fields {
    #[serde(default)]
    agents: Option<JsonText>,
}

impl Host {
    /// The agent that the flags or the settings name: one that the host, the flags or a file defines.
    pub(super) fn agent(&self, setup: &HostSetup) -> anyhow::Result<MainAgent> {
        let said = setup.initialize.as_ref().map(|said| said.body.to::<Fields>()).transpose();
        let said = said.map_err(|error| Usage(format!("initialize: {error}")))?.and_then(|said| said.agents);
        self.chosen(said.as_ref())
    }

    fn chosen(&self, said: Option<&JsonText>) -> anyhow::Result<MainAgent> {
        let flags = AgentFlags {
            agent: self.flags.text("agent"),
            agents: self.flags.text("agents"),
            host: said,
            bypass_allowed: self.bypass_allowed,
        };
        MainAgent::choose(&flags, &self.settings, &self.tools())
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
    pub(super) fn agents(&self, agent: &MainAgent, builder: &SessionBuilder) -> anyhow::Result<Vec<HostAgent>> {
        let hidden = builder.policy()?.is_hidden(AGENT_TOOL_NAME);
        Ok(self.below(agent).filter(|_| !hidden).as_ref().map(listed).unwrap_or_default())
    }

    /// The tools that take up room in the model's context.
    pub(super) fn tools_of(&self, agent: &MainAgent) -> Toolkit {
        let kept = agent.keep(self.tools());
        let below = self.below(agent).map(|agents| agents.tool() as Arc<dyn DynTool>);
        Toolkit::from(kept.tools().iter().cloned().chain(below).collect::<Vec<_>>())
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
