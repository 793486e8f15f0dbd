//! Plugins and agents: reports to hosts, and their control requests.

use super::ServerMachine;
use super::answers::{RequestRefusal, RequestReply, field, unsupported};
use super::io::{Reloaded, ServerJob};
use super::jobs::HostJob;
use crate::server::plugins::{HostAgent, PluginOffer, PluginReload, sources};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use windlass_conversation::Input as Turn;
use windlass_types::JsonText;

/// Used fields of an agent that the host defines.
#[derive(Deserialize)]
struct AgentFields {
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    model: Option<String>,
}

/// Agents that `initialize` defines. Unreadable definitions are left out here; opening the session reports them.
fn defined_agents(body: &JsonText) -> Vec<HostAgent> {
    let agents = field::<BTreeMap<String, JsonText>>(body, "agents").ok().flatten().unwrap_or_default();
    let agent = |(name, definition): (String, JsonText)| {
        let AgentFields { description, model } = definition.to().ok()?;
        Some(HostAgent::new(name, description.unwrap_or_default(), model))
    };
    agents.into_iter().filter_map(agent).collect()
}

impl ServerMachine {
    /// Agents that can be started before a session is open: those of the command line, of plugins and of the host,
    /// which take precedence. Empty without a tool to start them.
    pub(super) fn agents(&self) -> Vec<HostAgent> {
        let mut startable = self.config.agents.clone();
        if startable.is_empty() {
            return startable;
        }
        let host_agents =
            self.initialize.as_ref().map(|initialize| defined_agents(&initialize.body)).unwrap_or_default();
        for agent in host_agents {
            match startable.iter_mut().find(|known| known.name == agent.name) {
                Some(known) => *known = agent,
                None => startable.push(agent),
            }
        }
        startable
    }

    /// Lists the startable agents in `system/init`.
    pub(super) fn list_agents(&mut self, agents: &[HostAgent]) {
        let names = agents.iter().map(|agent| agent.name.clone()).collect();
        self.mapper.lists_agents(names);
    }

    /// Stores the agents that sessions can start with the current plugins.
    pub(super) fn take_offer(&mut self, offer: Option<&PluginOffer>) {
        if let Some(offer) = offer {
            self.config.agents.clone_from(&offer.agents);
        }
    }

    /// Loads plugins again.
    pub(super) fn reload_plugins(&mut self, id: &str, body: &JsonText) -> Result<RequestReply, RequestRefusal> {
        if !self.config.has_plugins {
            return Err(unsupported("reload_plugins"));
        }
        if field::<bool>(body, "refuse_if_busy")? == Some(true) && self.conversation.is_busy() {
            return Err(RequestRefusal::coded(
                "The session is busy: ask again when it is idle.",
                "reload_plugins_busy",
            ));
        }
        let add = sources(body, "add_plugins").map_err(RequestRefusal::new)?.unwrap_or_default();
        if let Some(relative) = add.iter().find(|source| !source.path.is_absolute()) {
            let path = relative.path.display();
            return Err(RequestRefusal::new(format!("`add_plugins`: {path} is not an absolute path")));
        }
        let hold = field::<bool>(body, "hold_on_cache_impact")? == Some(true);
        self.pass_to_conversation(Turn::Held);
        self.begin_job(id, HostJob::Reload { hold }, ServerJob::Reload(PluginReload { add, hold }))
    }

    /// Handles the outcome of loading plugins again.
    pub(super) fn reloaded(&mut self, id: &str, hold: bool, reloaded: Result<Box<Reloaded>, String>) {
        let answer = reloaded.map(|reloaded| Some(self.take_reloaded(hold, *reloaded))).map_err(RequestRefusal::new);
        self.reply(id, answer);
        self.pass_to_conversation(Turn::Released);
    }

    fn take_reloaded(&mut self, hold: bool, reloaded: Reloaded) -> Value {
        let Reloaded { reloaded, offer, listing, servers } = reloaded;
        self.take_offer(Some(&offer));
        self.pass_to_conversation(Turn::Commands(offer.commands));
        self.list_commands();
        if let Some(agents) = &reloaded.agents {
            self.list_agents(agents);
        }
        let servers = self.mcp_status(&servers).get("mcpServers").cloned().unwrap_or_default();
        let mut answer = json!({
            "commands": self.conversation.commands(),
            "agents": reloaded.agents.unwrap_or_else(|| self.agents()),
            "plugins": listing.plugins,
            "mcpServers": servers,
            "error_count": listing.errors.len(),
        });
        if let Some(fields) = answer.as_object_mut().filter(|_| hold) {
            fields.insert("held".to_owned(), Value::Bool(reloaded.held));
            if reloaded.held {
                let mut impact = json!({
                    "mcp_servers_added": reloaded.servers_added,
                    "mcp_servers_removed": reloaded.servers_removed,
                    "lsp_tool_change": null,
                });
                let changed = Some(reloaded.agents_changed).filter(|names| !names.is_empty());
                if let (Some(changed), Some(impact)) = (changed, impact.as_object_mut()) {
                    impact.insert("agents_changed".to_owned(), changed.into());
                }
                fields.insert("cache_impact".to_owned(), impact);
            }
        }
        answer
    }
}
