//! Plugins: reports to hosts, and their control requests.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use windlass_conversation::SlashCommand;
use windlass_types::JsonText;

/// Maximum number of plugins that the host may name at once.
const MAX_PLUGINS: usize = 64;

/// Plugins of a host's sessions.
pub trait PluginControl: fmt::Debug + Send + Sync + 'static {
    /// Returns the entries of plugins in `system/init`.
    fn listing(&self) -> PluginListing;

    /// Returns the commands and agents that a session is offered with the present plugins.
    fn offer(&self) -> PluginOffer;

    /// Loads the plugins that the host names with `initialize` instead of on its command line. Returns `true` if all of
    /// them are loaded. May be called again.
    fn launch(&self, plugins: &[PluginSource]) -> bool;

    /// Loads all plugins again, and adds `order.add`.
    ///
    /// # Errors
    /// No plugin was changed; the reason is for the host.
    fn reload(&self, order: &PluginReload) -> Result<PluginsReloaded, String>;
}

/// A directory that the host names as a plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PluginSource {
    /// Path of the directory.
    pub path: PathBuf,
    /// `true` if the host connects its MCP servers itself.
    pub skip_mcp: bool,
}

/// A control request to load plugins again.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct PluginReload {
    /// Plugins to add; absolute paths.
    pub add: Vec<PluginSource>,
    /// `true` if no plugin is to change if the tools offered to the model would change: if MCP servers were added or
    /// removed, or if agents of the open session changed. The provider then reads the conversation anew instead of from
    /// its cache.
    pub hold: bool,
}

/// Outcome of loading plugins again.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct PluginsReloaded {
    /// Servers that were or would have been added.
    pub servers_added: Vec<String>,
    /// Servers that were or would have been removed.
    pub servers_removed: Vec<String>,
    /// Agents of the open session that changed or would have changed: new, changed and removed ones.
    pub agents_changed: Vec<String>,
    /// Present agents of the open session, if it is open and may have any, and if nothing was held.
    pub agents: Option<Vec<HostAgent>>,
    /// `true` if the change was held because of them.
    pub held: bool,
}

/// A plugin for hosts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct HostPlugin {
    /// Name of the plugin.
    pub name: String,
    /// Directory of the plugin.
    pub path: String,
    /// Source of the plugin: `NAME@inline` for a directory that was named.
    pub source: String,
    /// Version of the plugin, if its manifest names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

impl HostPlugin {
    /// Creates a plugin of a named directory.
    pub fn new(name: impl Into<String>, path: impl Into<String>, version: Option<String>) -> Self {
        let name = name.into();
        Self { source: format!("{name}@inline"), name, path: path.into(), version }
    }
}

/// An unused part of a plugin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct HostPluginError {
    /// Name of the plugin, or `inline[N]`.
    pub plugin: String,
    /// Kind of the problem, such as `path-not-found`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Text of the problem, for people.
    pub message: String,
    /// Directory, if the plugin was not loaded at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

impl HostPluginError {
    /// Creates an error for an unused part of a plugin.
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
    /// Loaded plugins.
    pub plugins: Vec<HostPlugin>,
    /// Errors of unused parts.
    pub errors: Vec<HostPluginError>,
}

impl PluginListing {
    /// Creates a listing of plugins and their errors.
    #[must_use]
    pub fn new(plugins: Vec<HostPlugin>, errors: Vec<HostPluginError>) -> Self {
        Self { plugins, errors }
    }
}

/// Offer of a session with its plugins.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct PluginOffer {
    /// All slash commands except those of the server itself.
    pub commands: Vec<SlashCommand>,
    /// All agents except those that the host defines: they replace
    /// [`ServerOptions::agents`](super::ServerOptions::agents).
    pub agents: Vec<HostAgent>,
}

impl PluginOffer {
    /// Creates an offer of commands and agents.
    #[must_use]
    pub fn new(commands: Vec<SlashCommand>, agents: Vec<HostAgent>) -> Self {
        Self { commands, agents }
    }
}

/// An agent for hosts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct HostAgent {
    /// Name of the agent.
    pub name: String,
    /// Description of its use.
    pub description: String,
    /// Model of the agent, if it names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

impl HostAgent {
    /// Creates an agent.
    pub fn new(name: impl Into<String>, description: impl Into<String>, model: Option<String>) -> Self {
        Self { name: name.into(), description: description.into(), model }
    }
}

/// An entry of the SDKs' option `plugins`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PluginEntry {
    #[serde(rename = "type")]
    kind: String,
    path: PathBuf,
    #[serde(default)]
    skip_mcp_discovery: Option<bool>,
}

/// Plugins under a field name, if the host names any.
///
/// # Errors
/// The list cannot be read, or there are too many.
pub(crate) fn sources(body: &JsonText, name: &str) -> Result<Option<Vec<PluginSource>>, String> {
    let fields: BTreeMap<String, JsonText> = body.to().map_err(|error| error.to_string())?;
    let Some(list) = fields.get(name).filter(|list| list.as_str() != "null") else { return Ok(None) };
    let entries: Vec<PluginEntry> = list.to().map_err(|error| format!("`{name}` cannot be read: {error}"))?;
    if entries.len() > MAX_PLUGINS {
        return Err(format!("`{name}` has more than {MAX_PLUGINS} plugins"));
    }
    if let Some(unsupported) = entries.iter().find(|entry| entry.kind != "local") {
        return Err(format!("`{name}`: there are no plugins of type {:?}", unsupported.kind));
    }
    let source =
        |entry: PluginEntry| PluginSource { path: entry.path, skip_mcp: entry.skip_mcp_discovery == Some(true) };
    Ok(Some(entries.into_iter().map(source).collect()))
}
