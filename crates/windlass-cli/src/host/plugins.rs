//! The plugins of a host.

use super::Host;
use super::commands::listed;
use std::sync::Arc;
use windlass::crates::project::{PluginDir, Plugins};
use windlass_protocol::{
    HostPlugin, HostPluginError, PluginControl, PluginListing, PluginOffer, PluginReload, PluginSource, PluginsReloaded,
};

/// The plugins of a host, which it may load again.
#[derive(Debug)]
pub(super) struct HostPlugins(pub(super) Host);

/// What `system/init` says of plugins.
fn listing(plugins: &Plugins) -> PluginListing {
    let of = |plugin: &windlass::crates::project::Plugin| {
        HostPlugin::new(&plugin.name, plugin.path.to_string_lossy(), plugin.version.clone())
    };
    let error = |error: &windlass::crates::project::PluginError| {
        let path = error.path.as_ref().map(|path| path.to_string_lossy().into_owned());
        HostPluginError::new(&error.plugin, error.kind.as_str(), &error.message, path)
    };
    PluginListing::new(plugins.plugins.iter().map(of).collect(), plugins.errors.iter().map(error).collect())
}

/// Plugins that nobody can load again.
#[derive(Debug)]
pub(crate) struct Listed(pub(crate) Arc<Plugins>);

impl PluginControl for Listed {
    fn listing(&self) -> PluginListing {
        listing(&self.0)
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
    /// The directories that are loaded, and others.
    fn directories(&self, more: &[PluginSource]) -> Vec<PluginDir> {
        let more = more.iter().map(|source| {
            let directory = PluginDir::new(&source.path);
            if source.skip_mcp { directory.without_mcp() } else { directory }
        });
        let mut all = self.0.settings.plugin_directories();
        for directory in more {
            // A reload that adds one again keeps it as it is.
            if !all.iter().any(|known| known.path == directory.path) {
                all.push(directory);
            }
        }
        all
    }

    fn load(&self, plugins: Plugins, directories: Vec<PluginDir>) {
        let before = self.0.settings.plugins();
        for error in plugins.errors.iter().filter(|error| !before.errors.contains(error)) {
            super::note_to_stderr(&error.to_string());
        }
        self.0.mcp.renew(self.0.mcp.renewal(&plugins));
        let agents = self.0.agents_with(&plugins);
        self.0.settings.set_plugins(plugins, directories);
        self.0.commands.renew(&self.0.settings);
        if let Some(agents) = agents {
            self.0.renew_agents(agents);
        }
    }
}

impl PluginControl for HostPlugins {
    fn listing(&self) -> PluginListing {
        listing(&self.0.settings.plugins())
    }

    fn offer(&self) -> PluginOffer {
        PluginOffer::new(listed(&self.0.commands.current()), self.0.first_agents())
    }

    fn launch(&self, plugins: &[PluginSource]) -> bool {
        if self.0.flags.has("await-initialize") {
            let directories = self.directories(plugins);
            if directories != self.0.settings.plugin_directories() {
                self.load(self.0.settings.find_plugins(&directories), directories);
            }
        }
        let loaded = self.0.settings.plugins();
        plugins.iter().all(|wanted| {
            let path = self.0.settings.places.start().join(&wanted.path).canonicalize();
            path.is_ok_and(|path| loaded.plugins.iter().any(|plugin| plugin.root == path))
        })
    }

    fn reload(&self, order: &PluginReload) -> Result<PluginsReloaded, String> {
        let directories = self.directories(&order.add);
        let plugins = self.0.settings.find_plugins(&directories);
        let renewal = self.0.mcp.renewal(&plugins);
        let mut reloaded = PluginsReloaded::default();
        reloaded.servers_added = renewal.come.iter().map(|server| server.name.clone()).collect();
        reloaded.servers_removed = renewal.go;
        let agents = self.0.agents_with(&plugins);
        reloaded.agents_changed = agents.iter().flat_map(|agents| self.0.changed_agents(agents)).collect();
        let same = [&reloaded.servers_added, &reloaded.servers_removed, &reloaded.agents_changed];
        reloaded.held = order.hold && !same.into_iter().all(Vec::is_empty);
        if !reloaded.held {
            self.load(plugins, directories);
            reloaded.agents = agents.as_ref().map(crate::agents::listed);
        }
        Ok(reloaded)
    }
}
