//! The agents of a host's session.

use super::configuration::Host;
use crate::agents::listed;
use crate::failure::Usage;
use crate::launch::{self, Driver};
use serde::Deserialize;
use windlass::project::Agents;
use windlass::{JsonText, Subagents, session::Options};
use windlass_protocol::{HostAgent, HostSetup};

/// Fields of `initialize` that are used here.
#[derive(Default, Deserialize)]
struct AgentFields {
    #[serde(default)]
    agents: Option<JsonText>,
    #[serde(default)]
    skills: Option<Vec<String>>,
    #[serde(default)]
    title: Option<String>,
}

/// Settings of an `initialize` for a session, beside its prompts, tools and hooks.
#[derive(Default)]
pub(super) struct Wanted {
    /// Agents that the host defines.
    pub(super) agents: Agents,
    /// The skills that the model may use. `None`: all.
    pub(super) skills: Option<Vec<String>>,
    /// The title of a new session.
    pub(super) title: Option<String>,
}

impl Wanted {
    /// Reads the settings of a host.
    pub(super) fn of(setup: &HostSetup) -> anyhow::Result<Self> {
        let fields = setup.initialize.as_ref().map(|initialize| initialize.body.to::<AgentFields>()).transpose();
        let fields = fields.map_err(|error| Usage(format!("initialize: {error}")))?.unwrap_or_default();
        let agents = fields.agents.map(|json| Agents::parse(json.as_str())).transpose();
        let agents = agents.map_err(|error| Usage(format!("agents: {error}")))?.unwrap_or_default();
        let title = fields.title.map(|title| title.trim().to_owned()).filter(|title| !title.is_empty());
        Ok(Self { agents, skills: fields.skills, title })
    }
}

impl Host {
    /// Returns the options of a session without its `initialize`. `None` if they cannot be settled: the error is
    /// reported when a session is opened, unless the host defines the missing agent.
    pub(super) fn first_session(&self) -> Option<Options> {
        let args = self.flags.run_args().ok()?;
        let builder = launch::options(&args, &self.project, (Driver::Host, Agents::default())).ok()?;
        Some(builder.resolve().ok()?.options().clone())
    }

    /// Returns the agents to which the model can give tasks before the host defines any.
    pub(super) fn first_agents(&self, first: Option<&Options>) -> Vec<HostAgent> {
        let agents = match first {
            Some(options) => options.subagents().cloned(),
            None => launch::offers_agents(self.args.offered.tools.as_deref()).then(Subagents::new),
        };
        agents.as_ref().map(listed).unwrap_or_default()
    }
}
