//! The plugins of a host.

use super::commands::{LiveCommands, listed};
use super::mcp::HostServers;
use crate::settings::ProjectSettings;
use std::sync::Arc;
use windlass::crates::project::{LoadedAgent, PluginDir, Plugins};
use windlass_protocol::{
    HostAgent, HostPlugin, HostPluginError, PluginControl, PluginListing, PluginOffer, PluginReload, PluginSource,
    PluginsReloaded,
};

/// The plugins of a host, which it may load again.
#[derive(Debug)]
pub(crate) struct HostPlugins {
    pub(crate) settings: Arc<ProjectSettings>,
    pub(crate) commands: Arc<LiveCommands>,
    pub(crate) servers: Arc<HostServers>,
    /// Whether `initialize` may name plugins.
    pub(crate) may_launch: bool,
}

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
        let mut all = self.settings.plugin_directories();
        for directory in more {
            // A reload that adds one again keeps it as it is.
            if !all.iter().any(|known| known.path == directory.path) {
                all.push(directory);
            }
        }
        all
    }

    fn load(&self, plugins: Plugins, directories: Vec<PluginDir>) {
        let before = self.settings.plugins();
        for error in plugins.errors.iter().filter(|error| !before.errors.contains(error)) {
            super::note_to_stderr(&error.to_string());
        }
        self.servers.renew(self.servers.renewal(&plugins));
        self.settings.set_plugins(plugins, directories);
        self.commands.renew(&self.settings);
    }
}

impl PluginControl for HostPlugins {
    fn listing(&self) -> PluginListing {
        listing(&self.settings.plugins())
    }

    fn offer(&self) -> PluginOffer {
        let agent = |agent: LoadedAgent| {
            let agent = agent.definition;
            HostAgent::new(agent.name, agent.description, agent.model)
        };
        PluginOffer::new(
            listed(&self.commands.current()),
            self.settings.agents().agents.into_iter().map(agent).collect(),
        )
    }

    fn launch(&self, plugins: &[PluginSource]) -> bool {
        if self.may_launch {
            let directories = self.directories(plugins);
            if directories != self.settings.plugin_directories() {
                self.load(self.settings.find_plugins(&directories), directories);
            }
        }
        let loaded = self.settings.plugins();
        plugins.iter().all(|wanted| {
            let path = self.settings.places.start().join(&wanted.path).canonicalize();
            path.is_ok_and(|path| loaded.plugins.iter().any(|plugin| plugin.root == path))
        })
    }

    fn reload(&self, order: &PluginReload) -> Result<PluginsReloaded, String> {
        let directories = self.directories(&order.add);
        let plugins = self.settings.find_plugins(&directories);
        let renewal = self.servers.renewal(&plugins);
        let mut reloaded = PluginsReloaded::default();
        reloaded.servers_added = renewal.come.iter().map(|server| server.name.clone()).collect();
        reloaded.servers_removed = renewal.go;
        reloaded.held = order.hold && !(reloaded.servers_added.is_empty() && reloaded.servers_removed.is_empty());
        if !reloaded.held {
            self.load(plugins, directories);
        }
        Ok(reloaded)
    }
}
