//! One settings file, typed.

mod check;
pub(crate) mod keys;
pub(crate) mod lines;
mod memory;
mod models;
mod path;
mod raw;
mod schema;
mod session;
mod skills;
mod terminal;

pub use check::{KeyReport, UnknownKey};
pub use keys::{KeyEffect, SettingKey};
pub use lines::line_of;
pub use memory::MemorySettings;
pub use models::ModelSettings;
pub use path::{SettingPath, UnknownSetting};
pub use schema::settings_schema;
pub use session::{Attribution, FileCheckpointSettings, OutputLimitSettings, SessionSettings};
pub use skills::{SkillOverride, SkillSettings};
pub use terminal::TerminalSettings;

use crate::canonical::content_of;
use crate::hooks::HookSettings;
use crate::sandbox::SandboxSettings;
use crate::servers::pattern::ServerPattern;
use std::collections::BTreeMap;
use std::path::PathBuf;
use windlass_types::{Behavior, JsonText};

/// The settings of one file that this version honours.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settings {
    /// Rules, mode and directories.
    pub permissions: PermissionSettings,
    /// Variables for the programs that tools run and for the model provider.
    pub env: BTreeMap<String, String>,
    /// Model, fallback models, and settings of models.
    pub models: ChosenModels,
    /// The agent of the main thread.
    pub agent: Option<String>,
    /// Session keys.
    pub session: SessionSettings,
    /// Settings of the memory.
    pub memory: MemorySettings,
    /// Settings of skills and commands.
    pub skills: SkillSettings,
    /// Settings of the interactive terminal.
    pub terminal: TerminalSettings,
    /// Settings of the sandbox.
    pub sandbox: SandboxSettings,
    /// The hooks.
    pub hooks: HookSettings,
    /// Enabled MCP servers, and the policy for connections.
    pub servers: ServerSettings,
    /// `true` if `projectIndex` is false: no session makes an index of the project.
    pub index_off: bool,
    /// Keys without effect, and refused keys.
    pub keys: KeyReport,
}

/// The keys `model`, `fallbackModel` and `models`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChosenModels {
    /// The model.
    pub model: Option<String>,
    /// The models that take over, the first one first.
    pub fallback: Vec<String>,
    /// Settings of models, by name or beginning of names.
    pub by_name: BTreeMap<String, ModelSettings>,
}

/// The keys of MCP servers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerSettings {
    /// Enabled and disabled servers of a project's `.mcp.json`.
    pub mcpjson: McpjsonSettings,
    /// Allow and deny lists of MCP servers.
    pub lists: ServerListSettings,
}

/// The keys `enableAllProjectMcpServers`, `enabledMcpjsonServers` and `disabledMcpjsonServers`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct McpjsonSettings {
    /// `true` if all servers of a project's `.mcp.json` are enabled; `None` if the file does not set it.
    pub all: Option<bool>,
    /// Enabled servers, by name.
    pub enabled: Vec<String>,
    /// Disabled servers, by name.
    pub disabled: Vec<String>,
}

/// The keys `allowedMcpServers`, `deniedMcpServers`, `allowManagedMcpServersOnly` and `managedMcpServers`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerListSettings {
    /// Servers that may be connected, if the file has the list, or the problem with the list.
    pub allowed: Option<Result<Vec<ServerPattern>, String>>,
    /// Servers that must not be connected, if the file has the list, or the problem with the list.
    pub denied: Option<Result<Vec<ServerPattern>, String>>,
    /// In a managed file, `true` if only managed files may allow servers.
    pub managed_only: bool,
    /// In a managed file, servers that every session has, by name, as they are written.
    pub provided: BTreeMap<String, JsonText>,
}

/// The key `permissions`, and related keys.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PermissionSettings {
    /// Rules that allow calls without a permission request.
    pub allow: Vec<String>,
    /// Rules for calls that need a permission request.
    pub ask: Vec<String>,
    /// Rules for calls that are denied.
    pub deny: Vec<String>,
    /// The mode that sessions begin in, as it is written.
    pub default_mode: Option<String>,
    /// More directories of the workspace, as they are written.
    pub additional_directories: Vec<PathBuf>,
    /// `true` if `disableBypassPermissionsMode` is `"disable"`.
    pub bypass_disabled: bool,
    /// `true` if `disableAutoMode` is `"disable"`.
    pub auto_disabled: bool,
    /// `allowManagedPermissionRulesOnly`, a key of its own: in a managed file, `true` if no other file may allow
    /// anything.
    pub managed_rules_only: bool,
    /// Lines of the allow, ask and deny rules, counted from one.
    pub(crate) lines: [Vec<Option<u64>>; 3],
}

impl PermissionSettings {
    /// Returns the line in which a rule stands, counted from one.
    pub(crate) fn line(&self, behavior: Behavior, rule: &str) -> Option<u64> {
        let [allow, ask, deny] = &self.lines;
        let (rules, lines) = match behavior {
            Behavior::Allow => (&self.allow, allow),
            Behavior::Ask => (&self.ask, ask),
            Behavior::Deny => (&self.deny, deny),
        };
        let index = rules.iter().position(|known| known == rule)?;
        lines.get(index).copied().flatten()
    }
}

impl Settings {
    /// Returns only the settings that restrict: without those that allow, choose or run.
    pub(crate) fn restrictions(&self) -> Self {
        let permissions = PermissionSettings {
            allow: Vec::new(),
            additional_directories: Vec::new(),
            default_mode: self.permissions.default_mode.clone().filter(|mode| mode == "plan" || mode == "dontAsk"),
            ..self.permissions.clone()
        };
        let mut hooks = self.hooks.clone();
        hooks.disabled = false;
        let servers = ServerSettings {
            mcpjson: McpjsonSettings { disabled: self.servers.mcpjson.disabled.clone(), ..McpjsonSettings::default() },
            lists: ServerListSettings { allowed: None, provided: BTreeMap::new(), ..self.servers.lists.clone() },
        };
        let off = |on: Option<bool>| on.filter(|on| !on);
        Self {
            permissions,
            hooks,
            servers,
            sandbox: self.sandbox.restrictions(),
            memory: MemorySettings {
                enabled: off(self.memory.enabled),
                extraction: off(self.memory.extraction),
                ..MemorySettings::default()
            },
            skills: SkillSettings {
                without_bundled: self.skills.without_bundled,
                without_programs: self.skills.without_programs,
                ..SkillSettings::default()
            },
            index_off: self.index_off,
            keys: self.keys.clone(),
            ..Self::default()
        }
    }

    /// Returns the keys whose values widen, except rules, directories, variables and hooks, with their canonical text.
    pub(crate) fn widening(&self) -> Vec<(&'static str, String)> {
        let when = |condition: bool, key, content: String| condition.then_some((key, content));
        let models = &self.models;
        let mcpjson = &self.servers.mcpjson;
        let session = &self.session;
        let allowed = self.servers.lists.allowed.as_ref().and_then(|list| list.as_ref().ok());
        [
            models.model.as_ref().map(|model| ("model", content_of(model))),
            when(!models.fallback.is_empty(), "fallbackModel", content_of(&models.fallback)),
            when(!models.by_name.is_empty(), "models", content_of(&models.by_name)),
            self.agent.as_ref().map(|agent| ("agent", content_of(agent))),
            session.output_style.as_ref().map(|style| ("outputStyle", content_of(style))),
            session.language.as_ref().map(|language| ("language", content_of(language))),
            session.attribution().map(|said| ("attribution", content_of(&said))),
            session.effort_level.as_ref().map(|effort| ("effortLevel", content_of(effort))),
            session.api_key_helper.as_ref().map(|helper| ("apiKeyHelper", content_of(helper))),
            when(session.background_long_commands == Some(true), "backgroundLongCommands", "true".to_owned()),
            when(session.command_terminals == Some(true), "commandTerminals", "true".to_owned()),
            session.shell_snapshot.as_ref().map(|said| ("shellSnapshot", content_of(said))),
            session.file_checkpoints.as_ref().map(|kept| ("fileCheckpoints", content_of(kept))),
            session.output_limits.as_ref().map(|limits| ("outputLimits", content_of(limits))),
            session.lsp_servers.as_ref().map(|servers| ("lspServers", content_of(servers))),
            self.permissions.default_mode.as_ref().map(|mode| ("permissions.defaultMode", content_of(mode))),
            when(mcpjson.all == Some(true), "enableAllProjectMcpServers", "true".to_owned()),
            when(!mcpjson.enabled.is_empty(), "enabledMcpjsonServers", content_of(&mcpjson.enabled)),
            allowed.map(|list| ("allowedMcpServers", content_of(list))),
            when(self.hooks.disabled, "disableAllHooks", "true".to_owned()),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

#[cfg(test)]
mod tests;
