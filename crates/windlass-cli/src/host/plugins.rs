//! The plugins of a host.

use super::configuration::Host;
use windlass::project::LoadedProject;
use windlass::project::{PluginDir, Plugins};
use windlass_protocol::{
    HostPlugin, HostPluginError, PluginControl, PluginListing, PluginOffer, PluginReload, PluginSource, PluginsReloaded,
};

/// The plugins of a host, which it may load again.
#[derive(Debug)]
pub(super) struct HostPlugins(pub(super) Host);

/// The plugins in `system/init`.
fn listing(plugins: &Plugins) -> PluginListing {
    let of = |plugin: &windlass::project::Plugin| {
        HostPlugin::new(&plugin.name, plugin.path.to_string_lossy(), plugin.version.clone())
    };
    let error = |error: &windlass::project::PluginError| {
        let path = error.path.as_ref().map(|path| path.to_string_lossy().into_owned());
        HostPluginError::new(&error.plugin, error.kind.as_str(), &error.message, path)
    };
    PluginListing::new(plugins.plugins.iter().map(of).collect(), plugins.errors.iter().map(error).collect())
}

/// Plugins that cannot be loaded again, only listed.
#[derive(Debug)]
pub(crate) struct Listed(pub(crate) LoadedProject);

impl PluginControl for Listed {
    fn listing(&self) -> PluginListing {
        listing(&self.0.plugins())
    }

    fn offer(&self) -> PluginOffer {
        PluginOffer::default()
    }

    fn launch(&self, _: &[PluginSource]) -> bool {
        false
    }

    fn reload(&self, _: &PluginReload) -> Result<PluginsReloaded, String> {
        Err("plugins are not loaded again here".to_owned())
    }
}

impl HostPlugins {
    /// Returns the directories that are loaded, and others.
    fn directories(&self, more: &[PluginSource]) -> Vec<PluginDir> {
        let more = more.iter().map(|source| {
            let directory = PluginDir::new(&source.path);
            if source.skip_mcp { directory.without_mcp() } else { directory }
        });
        let mut all = self.0.project.plugin_directories();
        for directory in more {
            // A reload that adds a directory again keeps it as it is.
            if !all.iter().any(|known| known.path == directory.path) {
                all.push(directory);
            }
        }
        all
    }
}

impl PluginControl for HostPlugins {
    fn listing(&self) -> PluginListing {
        listing(&self.0.project.plugins())
    }

    fn offer(&self) -> PluginOffer {
        PluginOffer::new(self.0.slash_commands(), self.0.first_agents(self.0.first_session().as_ref()))
    }

    fn launch(&self, plugins: &[PluginSource]) -> bool {
        let project = &self.0.project;
        if self.0.flags.has("await-initialize") {
            let directories = self.directories(plugins);
            if directories != project.plugin_directories() {
                project.reload(project.plugin_change(directories));
            }
        }
        let loaded = project.plugins();
        plugins.iter().all(|wanted| {
            let path = project.places().start().join(&wanted.path).canonicalize();
            path.is_ok_and(|path| loaded.plugins.iter().any(|plugin| plugin.root == path))
        })
    }

    fn reload(&self, order: &PluginReload) -> Result<PluginsReloaded, String> {
        let project = &self.0.project;
        let change = project.plugin_change(self.directories(&order.add));
        let mut reloaded = PluginsReloaded::default();
        reloaded.servers_added.clone_from(&change.servers_added);
        reloaded.servers_removed.clone_from(&change.servers_removed);
        reloaded.agents_changed.clone_from(&change.agents_changed);
        reloaded.held = order.hold && change.changes_tools();
        if !reloaded.held {
            reloaded.agents = change.agents.as_ref().map(crate::agents::listed);
            project.reload(change);
        }
        Ok(reloaded)
    }
}
