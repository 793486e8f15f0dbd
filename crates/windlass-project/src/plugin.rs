//! Plugins: directories with commands, agents, MCP servers, language servers and hooks.
//!
//! Naming a directory means trusting it. Loading runs no program, and the size of every file is limited. An unusable
//! part is a [`PluginError`]; the other parts and the session are not affected.

mod components;
mod error;
mod hooks;
mod language_servers;
mod manifest;
mod unsupported;

pub use error::{PluginError, PluginErrorKind};
pub use hooks::PluginHooks;

use crate::agents::Agents;
use crate::commands::definition::Command;
use crate::error::SettingsError;
use crate::note::Origin;
use crate::servers::definition::ServerDefinition;
use components::Components;
use manifest::Manifest;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use windlass_types::JsonText;
use windlass_types::path::normalized;

/// Maximum number of plugins.
const MAX_PLUGINS: usize = 64;

/// A directory that is to be loaded as a plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PluginDir {
    /// Path of the plugin; relative to the start directory, or absolute.
    pub path: PathBuf,
    /// `true` if the plugin's MCP servers are used. Default: `true`.
    pub mcp: bool,
}

impl PluginDir {
    /// Names a plugin directory whose components are all used.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), mcp: true }
    }

    /// Excludes the plugin's MCP servers, for hosts that connect them by other means.
    #[must_use]
    pub fn without_mcp(mut self) -> Self {
        self.mcp = false;
        self
    }
}

/// A plugin that was loaded.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Plugin {
    /// Name of the plugin: from its manifest, or that of its directory without one.
    pub name: String,
    /// Version from the manifest, if it has one. Text of the plugin's author.
    pub version: Option<String>,
    /// Purpose in one line, if the manifest has a description. Text of the plugin's author.
    pub description: Option<String>,
    /// The directory as it was named, made absolute.
    pub path: PathBuf,
    /// Directory with links followed: the value of `${CLAUDE_PLUGIN_ROOT}`.
    pub root: PathBuf,
    /// Slash commands, named `plugin:command`.
    pub commands: Vec<Command>,
    /// Agents, named `plugin:agent`.
    pub agents: Agents,
    /// MCP servers, named `plugin:NAME:SERVER`; empty if they are not used.
    pub servers: Vec<ServerDefinition>,
    /// Language servers, named `plugin:NAME:SERVER`, each in the JSON form of the setting `lspServers`.
    /// `${CLAUDE_PLUGIN_ROOT}` is replaced in them, and they have the variable `CLAUDE_PLUGIN_ROOT`.
    pub language_servers: BTreeMap<String, JsonText>,
    /// Hooks of the plugin.
    pub hooks: PluginHooks,
}

/// The plugins of a session.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Plugins {
    /// Loaded plugins, in the order in which they were named; no two have the same name.
    pub plugins: Vec<Plugin>,
    /// Components and plugins that could not be used.
    pub errors: Vec<PluginError>,
}

impl Plugins {
    /// Returns the commands of all plugins.
    pub fn commands(&self) -> impl Iterator<Item = &Command> {
        self.all_commands().filter(|command| command.problem().is_none())
    }

    /// Returns the commands of all plugins, with those that cannot be used.
    pub(crate) fn all_commands(&self) -> impl Iterator<Item = &Command> {
        self.plugins.iter().flat_map(|plugin| &plugin.commands)
    }

    /// Returns the agents of all plugins. Any other agent of the same name takes precedence:
    /// `agents.or(plugins.agents())`.
    #[must_use]
    pub fn agents(&self) -> Agents {
        self.plugins.iter().fold(Agents::default(), |all, plugin| all.or(plugin.agents.clone()))
    }

    /// Checks that every plugin hook that could deny or block is usable.
    ///
    /// # Errors
    /// A hook that could deny or block is unusable, or a file of hooks cannot be read.
    pub fn check_hooks(&self) -> Result<(), SettingsError> {
        let broken = |plugin: &Plugin| Some((plugin.root.clone(), plugin.hooks.broken.first()?.clone()));
        match self.plugins.iter().find_map(broken) {
            None => Ok(()),
            Some((root, hook)) => Err(SettingsError::Hook { origin: Origin::File(root), hook }),
        }
    }

    /// Returns the MCP servers of all plugins.
    pub fn servers(&self) -> impl Iterator<Item = &ServerDefinition> {
        self.plugins.iter().flat_map(|plugin| &plugin.servers)
    }
}

/// Loads plugins for a session that starts in `cwd`, an absolute path. No program is run and no file written.
///
/// A plugin is a directory with `.claude-plugin/plugin.json`, an object with at least a `name`; without that file, the
/// plugin has the name of its directory. Its commands are in `commands`, its agents in `agents`, its MCP servers in
/// `.mcp.json`, its language servers in `.lsp.json`, or in the places that the manifest names: a path or a list of
/// them, relative to the plugin. Paths that lead out of the plugin, also through links, are left out. Of two plugins
/// with one name the first is used.
///
/// ```
/// # mod windlass { pub mod project { pub use windlass_project::*; } }
/// use windlass::project::{PluginDir, load_plugins};
///
/// let directory = tempfile::tempdir()?;
/// let plugin = directory.path().join("greet");
/// std::fs::create_dir_all(plugin.join("commands"))?;
/// std::fs::write(plugin.join("commands/hello.md"), "Say hello to $1.")?;
///
/// let plugins = load_plugins(directory.path(), &[PluginDir::new("greet")]);
/// let command = plugins.commands().next().unwrap();
/// assert_eq!(command.name, "greet:hello");
/// let used = windlass_project::CommandUse::with("Ada");
/// assert_eq!(command.expand(&used)?, "Say hello to Ada.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn load_plugins(cwd: &Path, directories: &[PluginDir]) -> Plugins {
    let mut plugins = Plugins::default();
    for (index, directory) in directories.iter().enumerate() {
        let path = normalized(&cwd.join(&directory.path));
        let not_loaded_error = |kind, message: String| PluginError {
            plugin: format!("inline[{index}]"),
            kind,
            message,
            path: Some(path.clone()),
        };
        if plugins.plugins.len() >= MAX_PLUGINS {
            let message = format!("there are more than {MAX_PLUGINS} plugins; the rest is left out");
            plugins.errors.push(not_loaded_error(PluginErrorKind::NotLoaded, message));
            break;
        }
        match load(&path, directory.mcp, &plugins.plugins) {
            Ok(Some((plugin, errors))) => {
                plugins.plugins.push(plugin);
                plugins.errors.extend(errors);
            }
            Ok(None) => {}
            Err((kind, message)) => plugins.errors.push(not_loaded_error(kind, message)),
        }
    }
    plugins
}

/// Returns one plugin with its errors; `None` for a directory that was loaded before.
#[expect(clippy::type_complexity, reason = "a plugin and its errors, or why there is none")]
fn load(
    path: &Path,
    uses_mcp: bool,
    loaded: &[Plugin],
) -> Result<Option<(Plugin, Vec<PluginError>)>, (PluginErrorKind, String)> {
    let missing = |error: &dyn fmt::Display| (PluginErrorKind::NotFound, error.to_string());
    let root = path.canonicalize().map_err(|error| missing(&error))?;
    if !root.is_dir() {
        return Err(missing(&"it is not a directory"));
    }
    if loaded.iter().any(|plugin| plugin.root == root) {
        return Ok(None);
    }
    let manifest = Manifest::read(&root).map_err(|problem| (PluginErrorKind::Manifest, problem))?;
    if let Some(other) = loaded.iter().find(|plugin| plugin.name == manifest.name) {
        let message = format!("{} is called {:?}, too, and was named first", other.path.display(), other.name);
        return Err((PluginErrorKind::NotLoaded, message));
    }
    let mut components = Components::new(&root, &manifest);
    // Unsupported components are reported first, because the number of errors is limited.
    components.unsupported();
    let (commands, agents) = (components.commands(), components.agents());
    let servers = if uses_mcp { components.servers() } else { Vec::new() };
    let (language_servers, hooks) = (components.language_servers(), components.hooks());
    let (errors, Manifest { name, version, description, .. }) = (components.finish(), manifest);
    let path = path.to_path_buf();
    let plugin = Plugin { name, version, description, path, root, commands, agents, servers, language_servers, hooks };
    Ok(Some((plugin, errors)))
}

#[cfg(test)]
mod tests;
