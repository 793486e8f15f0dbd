//! Project configuration read from disk: settings in layers, trust, custom commands, agents, plugins and MCP servers.
//!
//! Reading and deciding are separate. [`load`] reads the files that [`Places`] names; [`resolve`] is pure and decides
//! the settings in effect, with the origin of each value. A part that cannot be read or understood and might deny a
//! call is an error that names the file: a rule that denies is never lost silently.
//!
//! ```
//! use std::path::PathBuf;
//! use windlass_project::{Layer, Origin, Settings, SettingsFile, Standing, resolve};
//! use windlass_types::Behavior;
//!
//! let repository = r#"{"permissions":{"allow":["Bash"],"deny":["Read(.env)"]}}"#;
//! let file = SettingsFile::new(
//!     Layer::Project,
//!     Origin::File(PathBuf::from("/w/.claude/settings.json")),
//!     "/w",
//!     Settings::parse(repository)?,
//! )
//! .with_standing(Standing::untrusted());
//! let resolved = resolve(&[file])?;
//!
//! // /w is not trusted yet: what it forbids counts, what it allows does not.
//! let counts: Vec<_> = resolved.permissions.rules.iter().map(|set| (set.behavior, set.rules.clone())).collect();
//! assert_eq!(counts, [(Behavior::Deny, vec!["Read(.env)".to_owned()])]);
//! assert!(resolved.notes[0].to_string().contains("Bash"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![cfg_attr(docsrs, feature(doc_cfg))]

mod agents;
mod canonical;
mod commands;
mod configured_lines;
mod edit;
mod elsewhere;
mod error;
mod expand;
mod file;
mod front_matter;
mod hooks;
mod instructions;
mod kept;
mod live;
mod load;
mod markdown;
mod memory;
mod mode;
mod note;
mod object;
mod places;
mod plugin;
mod program_start;
mod records;
mod request;
mod resolve;
mod resolved;
mod review;
mod sandbox;
mod servers;
mod settings;
mod settings_file;
mod shipped;
mod sources;
mod spelling;
mod stamp;
mod styles;
#[cfg(test)]
mod testing;
mod trust;
mod update;

pub use agents::{AgentError, AgentSource, Agents, LoadedAgent, load_agents};
pub use commands::{
    Command, CommandError, CommandHooks, CommandScope, CommandSource, CommandUse, Commands, CommandsStamp, Fork, Skill,
    SkillDetails, load_commands, load_stamped_commands,
};
pub use configured_lines::{ConfiguredLine, ProgramContent};
pub use edit::updated;
pub use elsewhere::load_elsewhere;
pub use error::SettingsError;
pub use expand::split_arguments;
pub use file::read_named;
pub use hooks::HookSettings;
pub use instructions::{Instruction, InstructionExcludes, InstructionFiles, WaitingInstruction};
pub use kept::KeptTexts;
pub use live::{LiveSettings, SettingsNews};
pub use load::{Loaded, load};
pub use memory::{
    MEMORY_COMMAND, MEMORY_DESCRIPTION, MEMORY_TOOL, MemoryAction, MemoryBudget, MemoryDirectory, MemoryEntry,
    MemoryError, MemoryInput, MemoryKind, MemoryName, MemoryNote, ShownMemory,
};
pub use note::{Note, Origin};
pub use places::Places;
pub use plugin::{Plugin, PluginDir, PluginError, PluginErrorKind, PluginHooks, Plugins, load_plugins};
pub use program_start::{
    ProgramAuthor, ProgramLine, ProgramPlace, ProgramStarts, StartCause, StartRefusal, neutral_directory,
};
pub use records::is_trusted;
pub use request::SettingsRequest;
pub use resolve::resolve;
pub use resolved::{
    McpjsonChoice, Resolved, ResolvedEnv, ResolvedHooks, ResolvedMemory, ResolvedModels, ResolvedPermissions,
    ResolvedServers, ResolvedSession, ResolvedTerminal, RuleSet, Setting, SnapshotContent,
};
pub use review::{ReviewedItem, review_trust};
pub use sandbox::{ResolvedSandbox, SandboxDomains, SandboxFiles, SandboxSettings};
#[cfg(feature = "server-policy")]
pub use servers::ServerPolicy;
pub use servers::{
    AllowedServers, LeftOutServer, ServerAddress, ServerDefinition, ServerFiles, ServerLists, ServerPattern,
    ServerScope, Servers, load_servers,
};
pub use settings::{
    Attribution, ChosenModels, FileCheckpointSettings, KeyEffect, KeyReport, McpjsonSettings, MemorySettings,
    ModelSettings, OutputLimitSettings, PermissionSettings, ServerListSettings, ServerSettings, SessionSettings,
    SettingKey, SettingPath, Settings, SkillOverride, SkillSettings, TerminalSettings, UnknownKey, UnknownSetting,
    line_of, settings_schema,
};
pub use settings_file::SettingsFile;
pub use sources::{Layer, SettingSource, SettingSources};
pub use styles::{OutputStyle, OutputStyles, load_output_styles};
pub use trust::{Approved, ProjectRecord, Standing, Trust, TrustItem, TrustKind, TrustRecord, TrustStatus};
pub use update::{KeepError, KeepUpdates, SettingsUpdates, destination};
