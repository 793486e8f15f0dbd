//! Projects: the files of a directory that configure a session. They are settings in layers, trust, agents, commands,
//! plugins and MCP servers.

mod agent;
mod answers;
mod apply;
#[cfg(all(feature = "mcp", feature = "sandbox"))]
mod confined_servers;
#[cfg(feature = "mcp")]
mod connect;
mod elsewhere;
mod error;
mod hooks;
mod index;
mod input;
mod instructions;
#[cfg(feature = "anthropic")]
mod key_helper;
#[cfg(feature = "lsp")]
mod language_servers;
mod live;
mod loaded;
mod memory;
mod notice;
mod open;
mod plugins;
mod program_files;
mod program_review;
mod prompt;
#[cfg(any(feature = "anthropic", feature = "gemini", feature = "openai"))]
mod provider;
mod read;
mod request;
#[cfg(any(feature = "lsp", feature = "mcp"))]
mod reviewed_servers;
#[cfg(feature = "sandbox")]
mod sandbox;
#[cfg(feature = "mcp")]
pub(crate) mod servers;
mod shared;
mod skills;
mod starts;
mod style;
#[cfg(feature = "mcp")]
mod tool_cache;
mod variables;

pub use error::ProjectError;
pub(crate) use index::SessionIndex;
pub(crate) use input::Applied;
pub use input::ProjectInput;
pub use loaded::LoadedProject;
pub use notice::{ProjectNotice, ProjectNoticeKind};
pub use plugins::PluginChange;
pub(crate) use program_review::ProgramReviewer;
pub use program_review::ReviewedProgram;
pub use request::Project;
#[cfg(feature = "mcp")]
pub(crate) use servers::ProjectServers;
pub(crate) use skills::GivenSkills;
#[cfg(feature = "mcp")]
pub(crate) use skills::named as named_command;
pub use windlass_index::ProjectSearch;
pub use windlass_index::{IndexConfig, Overview, ProjectIndex, Purpose};
pub use windlass_project::{
    Agents, KeepUpdates, KeyEffect, Layer, LoadedAgent, MEMORY_COMMAND, MEMORY_TOOL, ModelSettings, Origin, Resolved,
    ResolvedSession, ResolvedTerminal, ReviewedItem, ServerDefinition, ServerScope, Setting, SettingKey, SettingPath,
    Settings, SettingsFile, SettingsUpdates, SnapshotContent, TrustStatus, line_of, read_named, resolve, review_trust,
    settings_schema,
};
pub use windlass_project::{Plugin, PluginDir, PluginError, Plugins, SettingSource, SettingSources, load_plugins};
pub use windlass_types::path::absolute;

#[cfg(test)]
mod tests;
