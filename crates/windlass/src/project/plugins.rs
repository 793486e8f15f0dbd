//! Plugins of a project, which may be loaded again while sessions are open.

use super::shared::LoadedPlugins;
use super::{LoadedProject, ProjectNoticeKind};
use std::sync::Arc;
use windlass_project::{PluginDir, Plugins, load_plugins};
use windlass_subagent::Subagents;

/// Changes of a reload of plugins. See [`LoadedProject::plugin_change`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PluginChange {
    /// Plugins in their present form.
    pub plugins: Plugins,
    /// Names of the MCP servers that would be added or changed.
    pub servers_added: Vec<String>,
    /// Names of the MCP servers that would be removed or changed.
    pub servers_removed: Vec<String>,
    /// Names of the agents of open sessions that would be added, removed or changed, sorted.
    pub agents_changed: Vec<String>,
    /// Agents that the last opened session would have; `None` if no open session may have any.
    pub agents: Option<Subagents>,
    directories: Vec<PluginDir>,
}

impl PluginChange {
    /// `true` if the tools offered to the model of an open session would change. The provider then reads the
    /// conversation anew instead of from its cache.
    #[must_use]
    pub fn changes_tools(&self) -> bool {
        let all = [&self.servers_added, &self.servers_removed, &self.agents_changed];
        !all.into_iter().all(Vec::is_empty)
    }
}

impl LoadedProject {
    /// Loaded plugins.
    pub fn plugins(&self) -> Arc<Plugins> {
        Arc::clone(&self.shared.plugins.lock().plugins)
    }

    /// Directories that were named as plugins.
    pub fn plugin_directories(&self) -> Vec<PluginDir> {
        self.shared.plugins.lock().directories.clone()
    }

    pub(super) fn find_plugins(&self, directories: &[PluginDir]) -> Plugins {
        load_plugins(self.places().start(), directories)
    }

    /// Reads plugins in their present form, and returns the changes that [`reload`](Self::reload) would make. Nothing
    /// changes yet. Naming a directory trusts it.
    ///
    /// ```
    /// use windlass::project::{LoadedProject, PluginDir};
    ///
    /// /// Loads one more plugin, unless open conversations would have to be read anew.
    /// fn add(project: &LoadedProject, directory: &str) -> bool {
    ///     let mut directories = project.plugin_directories();
    ///     directories.push(PluginDir::new(directory));
    ///     let change = project.plugin_change(directories);
    ///     let is_free = !change.changes_tools();
    ///     if is_free {
    ///         project.reload(change);
    ///     }
    ///     is_free
    /// }
    /// ```
    pub fn plugin_change(&self, directories: Vec<PluginDir>) -> PluginChange {
        let plugins = self.find_plugins(&directories);
        let (agents, agents_changed) = self.agents_of_sessions(&plugins);
        let (servers_added, servers_removed) = self.shared.servers.changed_by(&plugins);
        PluginChange { plugins, servers_added, servers_removed, agents_changed, agents, directories }
    }

    /// Replaces the plugins. Their commands are available at once, their agents from the next request to the model on,
    /// their MCP servers when they have connected. Removed servers end in the background. Must be called inside a tokio
    /// runtime if there are MCP servers.
    pub fn reload(&self, change: PluginChange) {
        let PluginChange { plugins, directories, .. } = change;
        for error in &plugins.errors {
            self.note(ProjectNoticeKind::Plugin, error.to_string());
        }
        let plugins = Arc::new(plugins);
        self.shared.servers.renew(&plugins);
        *self.shared.plugins.lock() = LoadedPlugins { directories, plugins: Arc::clone(&plugins) };
        self.reread_commands();
        self.renew_agents(&plugins);
    }
}
