//! Plugins: what hosts see of them, and what they may order.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use windlass_conversation::SlashCommand;
use windlass_types::JsonText;

/// Most plugins that the host may name at once.
const MOST: usize = 64;

/// The plugins of a host's sessions.
pub trait PluginControl: fmt::Debug + Send + Sync + 'static {
    /// Their entries in `system/init`.
    fn listing(&self) -> PluginListing;

    /// The commands and agents that a session is offered with them now.
    fn offer(&self) -> PluginOffer;

    /// The host names these plugins with `initialize` instead of on its command line. Whether each of them is loaded.
    /// May be called again.
    fn launch(&self, plugins: &[PluginSource]) -> bool;

    /// Loads all plugins again, and `order.add` with them.
    ///
    /// # Errors
    /// No plugin was changed; the reason is for the host.
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
    /// Whether no plugin is to change if the model would be offered other tools: if MCP servers came or went, or if
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
    /// Whether the change was held back because of them.
    pub held: bool,
}

/// A plugin, as hosts see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct HostPlugin {
    /// Its name.
    pub name: String,
    /// Its directory.
    pub path: String,
    /// Where it comes from: `NAME@inline` for a directory that was named.
    pub source: String,
    /// Its version, if its manifest names one.
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

/// A part of a plugin that is not used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct HostPluginError {
    /// The plugin, or `inline[N]`.
    pub plugin: String,
    /// The kind of the problem, such as `path-not-found`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The problem, for people.
    pub message: String,
    /// The directory, if the plugin was not loaded at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

impl HostPluginError {
    /// A part of a plugin that is not used.
    pub fn new(
        plugin: impl Into<String>,
        kind: impl Into<String>,
        message: impl Into<String>,
        path: Option<String>,
    ) -> Self {
        Self { plugin: plugin.into(), kind: kind.into(), message: message.into(), path }
    }
}

/// The entries of plugins in `system/init`.
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

/// An agent, as hosts see it.
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

/// The plugins under a name, if the host names any.
///
/// # Errors
/// They cannot be read, or there are too many.
pub(crate) fn sources(body: &JsonText, name: &str) -> Result<Option<Vec<PluginSource>>, String> {
    let fields: BTreeMap<String, JsonText> = body.to().map_err(|error| error.to_string())?;
    let Some(list) = fields.get(name).filter(|list| list.as_str() != "null") else { return Ok(None) };
    let entries: Vec<Entry> = list.to().map_err(|error| format!("`{name}` cannot be read: {error}"))?;
    if entries.len() > MOST {
        return Err(format!("`{name}` has more than {MOST} plugins"));
    }
    if let Some(other) = entries.iter().find(|entry| entry.kind != "local") {
        return Err(format!("`{name}`: there are no plugins of type {:?}", other.kind));
    }
    let source = |entry: Entry| PluginSource { path: entry.path, skip_mcp: entry.skip_mcp_discovery == Some(true) };
    Ok(Some(entries.into_iter().map(source).collect()))
}
