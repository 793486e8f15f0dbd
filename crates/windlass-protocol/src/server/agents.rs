//! The agents that the model can start, as hosts are told of them.

use super::control::{Refusal, field};
use super::core::Core;
use super::plugins::HostAgent;
use serde::Deserialize;
use std::collections::BTreeMap;
use windlass_types::JsonText;

/// What is read of an agent that the host defines.
#[derive(Deserialize)]
struct Defined {
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    model: Option<String>,
}

/// The agents that `initialize` defines. What cannot be read is nothing here: who opens the session says so.
fn defined(body: &JsonText) -> Result<Vec<HostAgent>, Refusal> {
    let agents = field::<BTreeMap<String, JsonText>>(body, "agents")?.unwrap_or_default();
    let agent = |(name, definition): (String, JsonText)| {
        let Defined { description, model } = definition.to().ok()?;
        Some(HostAgent::new(name, description.unwrap_or_default(), model))
    };
    Ok(agents.into_iter().filter_map(agent).collect())
}

impl Core {
    /// The agents that can be started before a session says which: those of the command line, of plugins and of the
    /// host, which counts for more. None where there is no tool to start them with.
    pub(crate) fn agents(&self) -> Vec<HostAgent> {
        let plugins = self.options.plugins.as_ref();
        let mut all = plugins.map_or_else(|| self.options.agents.clone(), |plugins| plugins.offer().agents);
        if all.is_empty() {
            return all;
        }
        let body = self.lock().initialize.as_ref().map(|said| said.body.clone());
        let own = body.and_then(|body| defined(&body).ok()).unwrap_or_default();
        for agent in own {
            match all.iter_mut().find(|known| known.name == agent.name) {
                Some(known) => *known = agent,
                None => all.push(agent),
            }
        }
        all
    }

    /// Says in `system/init` which agents can be started.
    pub(crate) fn list_agents(&self, agents: &[HostAgent]) {
        let names = agents.iter().map(|agent| agent.name.clone()).collect();
        self.frames(|mapper, _| mapper.lists_agents(names));
    }
}
