//! Projects: the files of a directory that configure a session. They are settings in layers, trust, agents, commands,
//! plugins and MCP servers.

mod agent;
mod answers;
mod configuration;
pub(crate) mod configured_hook;
mod context_options;
mod elsewhere;
mod error;
mod hooks;
mod index;
mod input;
mod instructions;
#[cfg(feature = "anthropic")]
mod key_helper;
#[cfg(not(feature = "anthropic"))]
#[path = "absent/key_helper.rs"]
mod key_helper;
#[cfg(feature = "lsp")]
mod language_servers;
#[cfg(not(feature = "lsp"))]
#[path = "absent/language_servers.rs"]
mod language_servers;
mod live;
mod loaded;
mod memory;
mod notice;
mod open;
mod open_settings;
mod options;
mod plugins;
mod program_files;
mod program_review;
mod program_reviewer;
mod prompt;
mod provider;
mod read;
mod remote_start;
mod request;
mod reviewed_servers;
#[cfg(feature = "sandbox")]
mod sandbox;
#[cfg(not(feature = "sandbox"))]
#[path = "absent/project_sandbox.rs"]
mod sandbox;
#[cfg(feature = "mcp")]
pub(crate) mod servers;
#[cfg(not(feature = "mcp"))]
#[path = "absent/project_servers.rs"]
mod servers;
mod settings_values;
mod shared;
mod skills;
mod starts;
mod style;
mod variables;

pub(crate) use agent::MainAgent;
pub(crate) use configuration::offer_servers;
pub use error::ProjectError;
pub(crate) use index::SessionIndex;
pub use input::ProjectInput;
pub use loaded::LoadedProject;
pub use notice::{ProjectNotice, ProjectNoticeKind};
pub(crate) use options::{Applied, ProjectOptions};
pub use plugins::PluginChange;
pub use program_review::ReviewedProgram;
pub(crate) use program_reviewer::ProgramReviewer;
pub use request::Project;
pub(crate) use skills::{GivenSkills, SKILL_TOOL};
pub(crate) use variables::Variables;
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
