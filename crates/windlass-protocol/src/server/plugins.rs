//! Plugins: what hosts are told of them, and what they may order.

use super::commands::SlashCommand;
use super::control::{Answer, Refusal, field};
use super::core::Core;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fmt;
use std::path::PathBuf;
use windlass_types::JsonText;

/// Most plugins that the host may name at once.
const MOST: usize = 64;

/// The plugins of a host's sessions.
pub trait PluginControl: fmt::Debug + Send + Sync + 'static {
    /// What `system/init` says of them.
    fn listing(&self) -> PluginListing;

    /// What a session is offered with them, as it is now.
    fn offer(&self) -> PluginOffer;

    /// The host names these plugins with `initialize` instead of on its command line. Whether each of them is loaded.
    /// May be called again.
    fn launch(&self, plugins: &[PluginSource]) -> bool;

    /// Loads all plugins again, and `order.add` with them.
    ///
    /// # Errors
    /// Nothing was changed; the reason is for the host.
    fn reload(&self, order: &PluginReload) -> Result<PluginsReloaded, String>;
}

/// A directory that the host names as a plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PluginSource {
    /// The directory.
    pub path: PathBuf,
    /// Whether the host connects its MCP servers itself.
    pub skip_mcp: bool,
}

/// An order to load plugins again.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct PluginReload {
    /// Plugins that join; absolute paths.
    pub add: Vec<PluginSource>,
    /// Whether nothing is to change if the model would be offered other tools: if MCP servers came or went, or if
    /// agents of the open session changed. The provider then reads the conversation anew instead of from its cache.
    pub hold: bool,
}

/// What an order to load plugins again did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct PluginsReloaded {
    /// The servers that came or would have come.
    pub servers_added: Vec<String>,
    /// The servers that went or would have gone.
    pub servers_removed: Vec<String>,
    /// The agents of the open session that changed or would have changed: new ones, others, and those that are gone.
    pub agents_changed: Vec<String>,
    /// The agents that the open session has now, if it is open and may have any, and if nothing was held.
    pub agents: Option<Vec<HostAgent>>,
    /// Whether nothing was changed because of them.
    pub held: bool,
}

/// A plugin, as hosts are told of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct HostPlugin {
    /// Its name.
    pub name: String,
    /// Its directory.
    pub path: String,
    /// Where it comes from: `NAME@inline` for a directory that was named.
    pub source: String,
    /// Its version, if its manifest says one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

impl HostPlugin {
    /// A plugin of a directory that was named.
    pub fn new(name: impl Into<String>, path: impl Into<String>, version: Option<String>) -> Self {
        let name = name.into();
        Self { source: format!("{name}@inline"), name, path: path.into(), version }
    }
}

/// Something of a plugin that is not used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct HostPluginError {
    /// The plugin, or `inline[N]`.
    pub plugin: String,
    /// What kind of thing it is, such as `path-not-found`.
    #[serde(rename = "type")]
    pub kind: String,
    /// What it is, for people.
    pub message: String,
    /// The directory, if the plugin was not loaded at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

impl HostPluginError {
    /// Something of a plugin that is not used.
    pub fn new(
        plugin: impl Into<String>,
        kind: impl Into<String>,
        message: impl Into<String>,
        path: Option<String>,
    ) -> Self {
        Self { plugin: plugin.into(), kind: kind.into(), message: message.into(), path }
    }
}

/// What `system/init` says of plugins.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct PluginListing {
    /// Those that were loaded.
    pub plugins: Vec<HostPlugin>,
    /// What is not used.
    pub errors: Vec<HostPluginError>,
}

impl PluginListing {
    /// Plugins, and what is not used of them.
    #[must_use]
    pub fn new(plugins: Vec<HostPlugin>, errors: Vec<HostPluginError>) -> Self {
        Self { plugins, errors }
    }
}

/// What a session offers with its plugins.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct PluginOffer {
    /// All slash commands but those of the server itself.
    pub commands: Vec<SlashCommand>,
    /// All agents but those that the host defines: they take the place of
    /// [`ServerOptions::agents`](super::ServerOptions::agents).
    pub agents: Vec<HostAgent>,
}

impl PluginOffer {
    /// Commands and agents.
    #[must_use]
    pub fn new(commands: Vec<SlashCommand>, agents: Vec<HostAgent>) -> Self {
        Self { commands, agents }
    }
}

/// An agent, as hosts are told of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct HostAgent {
    /// Its name.
    pub name: String,
    /// When it is used.
    pub description: String,
    /// Its model, if it wants one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

impl HostAgent {
    /// An agent.
    pub fn new(name: impl Into<String>, description: impl Into<String>, model: Option<String>) -> Self {
        Self { name: name.into(), description: description.into(), model }
    }
}

/// An entry of the SDKs' option `plugins`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    #[serde(rename = "type")]
    kind: String,
    path: PathBuf,
    #[serde(default)]
    skip_mcp_discovery: Option<bool>,
}

/// The plugins under a name, if the host says any.
pub(crate) fn sources(body: &JsonText, name: &str) -> Result<Option<Vec<PluginSource>>, Refusal> {
    let Some(entries) = field::<Vec<Entry>>(body, name)? else { return Ok(None) };
    if entries.len() > MOST {
        return Err(Refusal::new(format!("`{name}` has more than {MOST} plugins")));
    }
    if let Some(other) = entries.iter().find(|entry| entry.kind != "local") {
        return Err(Refusal::new(format!("`{name}`: there are no plugins of type {:?}", other.kind)));
    }
    let source = |entry: Entry| PluginSource { path: entry.path, skip_mcp: entry.skip_mcp_discovery == Some(true) };
    Ok(Some(entries.into_iter().map(source).collect()))
}

impl Core {
    /// Takes the plugins that `initialize` names: whether each is loaded.
    pub(crate) fn launch_plugins(&self, plugins: &[PluginSource]) -> bool {
        let Some(control) = &self.options.plugins else { return false };
        let applied = control.launch(plugins);
        self.offer_again(control.offer().commands);
        applied
    }

    /// Loads plugins again.
    pub(crate) fn reload_plugins(&self, body: &JsonText) -> Answer {
        let Some(control) = &self.options.plugins else { return Err(super::control::unsupported("reload_plugins")) };
        if field::<bool>(body, "refuse_if_busy")? == Some(true) && self.has_work() {
            return Err(Refusal::coded("The session is busy: ask again when it is idle.", "reload_plugins_busy"));
        }
        let add = sources(body, "add_plugins")?.unwrap_or_default();
        if let Some(relative) = add.iter().find(|source| !source.path.is_absolute()) {
            let path = relative.path.display();
            return Err(Refusal::new(format!("`add_plugins`: {path} is not an absolute path")));
        }
        let hold = field::<bool>(body, "hold_on_cache_impact")?;
        let order = PluginReload { add, hold: hold == Some(true) };
        let reloaded = control.reload(&order).map_err(Refusal::new)?;
        self.offer_again(control.offer().commands);
        if let Some(agents) = &reloaded.agents {
            self.list_agents(agents);
        }
        let PluginListing { plugins, errors } = control.listing();
        let servers = self.mcp_status().get("mcpServers").cloned().unwrap_or_default();
        let mut answer = json!({
            "commands": self.commands().list(),
            "agents": reloaded.agents.unwrap_or_else(|| self.agents()),
            "plugins": plugins,
            "mcpServers": servers,
            "error_count": errors.len(),
        });
        if let Some(fields) = answer.as_object_mut().filter(|_| order.hold) {
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
        Ok(Some(answer))
    }

    /// Whether a turn goes on or waits, or an agent works in the background.
    fn has_work(&self) -> bool {
        let state = self.lock();
        state.running || state.woken || state.busy || !state.queue.ids().is_empty() || self.told.has_background()
    }

    /// Lists other commands than before.
    fn offer_again(&self, commands: Vec<SlashCommand>) {
        let names = {
            let mut state = self.lock();
            state.commands.relist(commands);
            state.commands.list().into_iter().map(|command| command.name).collect()
        };
        self.frames(|mapper, _| mapper.offers(names, &super::control::CAPABILITIES));
    }
}
