//! Projects: what a session reads of a directory, that is settings in layers, trust, agents, commands, plugins and MCP
//! servers.

mod agent;
mod answers;
mod apply;
#[cfg(feature = "mcp")]
mod connect;
mod error;
mod index;
mod input;
mod instructions;
mod loaded;
mod memory;
mod notice;
mod open;
mod plugins;
mod prompt;
mod read;
mod request;
#[cfg(feature = "mcp")]
mod servers;
mod shared;
mod skills;
mod variables;

pub use error::ProjectError;
pub(crate) use index::SessionIndex;
pub(crate) use input::Applied;
pub use input::ProjectInput;
pub use loaded::LoadedProject;
pub use notice::{ProjectNotice, ProjectNoticeKind};
pub use plugins::PluginChange;
pub use read::LoadedFile;
pub use request::Project;
#[cfg(feature = "mcp")]
pub use servers::{AbsentServer, ProjectServers, ServerNotConnected};
pub(crate) use skills::GivenSkills;
pub use windlass_index::{
    FileHit, Found, Framework, IndexConfig, Interrupted, LanguageShare, ManifestKind, Overview, Package,
    ProjectCommand, ProjectIndex, Purpose, Symbol,
};
pub use windlass_project::{
    Plugin, PluginDir, PluginError, PluginErrorKind, Plugins, SettingSource, SettingSources, load_plugins,
};

#[cfg(test)]
mod tests;
