//! The agents of a host's session.

use super::configuration::Host;
use crate::agents::listed;
use crate::failure::Usage;
use crate::launch::{self, Driver};
use serde::Deserialize;
use windlass::crates::project::Agents;
use windlass::{ContentBlock, JsonText, Subagents};
use windlass_protocol::{HostAgent, HostSetup};

/// What is read of `initialize`.
#[derive(Deserialize)]
struct Fields {
    #[serde(default)]
    agents: Option<JsonText>,
}

/// The agents that `initialize` defines.
pub(super) fn defined(setup: &HostSetup) -> anyhow::Result<Agents> {
    let fields = setup.initialize.as_ref().map(|initialize| initialize.body.to::<Fields>()).transpose();
    let json = fields.map_err(|error| Usage(format!("initialize: {error}")))?.and_then(|fields| fields.agents);
    let agents = json.map(|json| Agents::parse(json.as_str())).transpose();
    Ok(agents.map_err(|error| Usage(format!("agents: {error}")))?.unwrap_or_default())
}

impl Host {
    /// The agents that the model can give tasks to before the host defines any.
    pub(super) fn first_agents(&self) -> Vec<HostAgent> {
        let settled = launch::options(&self.args, &self.project, (Driver::Host, Agents::default()))
            .and_then(|builder| Ok(builder.resolve()?));
        let agents = match settled {
            Ok(builder) => builder.options().subagents().cloned(),
            // An error is reported when a session is opened, unless the host defines the agent that is missing.
            Err(_) => launch::offers_agents(self.args.offered.tools.as_deref()).then(Subagents::new),
        };
        agents.as_ref().map(listed).unwrap_or_default()
    }

    /// The text in front of the first prompt of a new session.
    pub(super) fn initial_prompt(&self, text: Option<&str>) -> Vec<ContentBlock> {
        let Some(text) = text else { return Vec::new() };
        let command = text.strip_prefix('/').and_then(|called| {
            let (name, arguments) = called.split_once(char::is_whitespace).unwrap_or((called, ""));
            self.commands()?;
            let prompt = self.project.called(name, arguments, None).ok().flatten();
            prompt.filter(|prompt| prompt.parts.is_empty())
        });
        command.map_or_else(|| vec![ContentBlock::text(text)], |prompt| prompt.content)
    }
}
