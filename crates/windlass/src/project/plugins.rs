//! Plugins of a project, which may be loaded again while sessions are open.

use super::shared::LoadedPlugins;
use super::{LoadedProject, ProjectNoticeKind};
use std::sync::Arc;
use windlass_project::{PluginDir, Plugins, load_plugins};
use windlass_subagent::Subagents;

/// What loading plugins again would change. See [`LoadedProject::plugin_change`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PluginChange {
    /// The plugins as they are now.
    pub plugins: Plugins,
    /// The MCP servers that would come, or become others, by name.
    pub servers_added: Vec<String>,
    /// The MCP servers that would go, or become others, by name.
    pub servers_removed: Vec<String>,
    /// The agents of open sessions that would come, go or become others, by name, sorted.
    pub agents_changed: Vec<String>,
    /// The agents that the session which was opened last would have; `None` if no session is open that may have any.
    pub agents: Option<Subagents>,
    directories: Vec<PluginDir>,
}

impl PluginChange {
    /// Whether the model of an open session would be offered other tools. The provider then reads the conversation anew
    /// instead of from its cache.
    #[must_use]
    pub fn changes_tools(&self) -> bool {
        let all = [&self.servers_added, &self.servers_removed, &self.agents_changed];
        !all.into_iter().all(Vec::is_empty)
    }
}

impl LoadedProject {
    /// The plugins.
    pub fn plugins(&self) -> Arc<Plugins> {
        Arc::clone(&self.shared.plugins.lock().plugins)
    }

    /// The directories that were named as plugins.
    pub fn plugin_directories(&self) -> Vec<PluginDir> {
        self.shared.plugins.lock().directories.clone()
    }

    pub(super) fn find_plugins(&self, directories: &[PluginDir]) -> Plugins {
        load_plugins(self.places().start(), directories)
    }

    /// Reads plugins as they are now, and says what [`reload`](Self::reload) would change. Nothing changes yet. Naming a
    /// directory trusts it.
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
        let (servers_added, servers_removed) = self.servers_of(&plugins);
        PluginChange { plugins, servers_added, servers_removed, agents_changed, agents, directories }
    }

    /// The names of the MCP servers that would come with these plugins, and of those that would go.
    fn servers_of(&self, plugins: &Plugins) -> (Vec<String>, Vec<String>) {
        #[cfg(feature = "mcp")]
        if let Some(servers) = self.shared.servers.get() {
            let renewal = servers.renewal(plugins);
            return (renewal.come.into_iter().map(|server| server.name).collect(), renewal.go);
        }
        let _ = plugins;
        Default::default()
    }

    /// Puts plugins in the place of those before: their commands are there at once, their agents from the next request to
    /// the model on, their MCP servers when they have connected. Servers that go end in the background. Must be called
    /// inside a tokio runtime if there are MCP servers.
    pub fn reload(&self, change: PluginChange) {
        let PluginChange { plugins, directories, .. } = change;
        for error in &plugins.errors {
            self.note(ProjectNoticeKind::Plugin, error.to_string());
        }
        let plugins = Arc::new(plugins);
        #[cfg(feature = "mcp")]
        if let Some(servers) = self.shared.servers.get() {
            servers.renew(servers.renewal(&plugins));
        }
        *self.shared.plugins.lock() = LoadedPlugins { directories, plugins: Arc::clone(&plugins) };
        self.reread_commands();
        self.renew_agents(&plugins);
    }
}
