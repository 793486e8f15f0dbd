//! One settings file, typed.

mod memory;
mod models;
mod raw;
mod skills;

pub use memory::MemorySettings;
pub use models::ModelSettings;
pub use skills::{SkillOverride, SkillSettings};

use crate::canonical::content_of;
use crate::hooks::HookSettings;
use crate::servers::pattern::ServerPattern;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The settings of one file that this version honours.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settings {
    /// Rules, mode and directories.
    pub permissions: PermissionSettings,
    /// Variables for the programs that tools run and for the model provider.
    pub env: BTreeMap<String, String>,
    /// The model.
    pub model: Option<String>,
    /// The models that take over, the first one first.
    pub fallback_model: Vec<String>,
    /// What is said of models, by name or the beginning of names.
    pub models: BTreeMap<String, ModelSettings>,
    /// The agent of the main thread.
    pub agent: Option<String>,
    /// What is wanted of a memory.
    pub memory: MemorySettings,
    /// What is wanted of skills and commands.
    pub skills: SkillSettings,
    /// What is wanted of a sandbox.
    pub sandbox: SandboxSettings,
    /// The hooks.
    pub hooks: HookSettings,
    /// Which servers of a project's `.mcp.json` are wanted.
    pub mcpjson: McpjsonSettings,
    /// Which MCP servers may be connected.
    pub server_lists: ServerListSettings,
    /// Whether `projectIndex` is false: no session makes an index of the project.
    pub index_off: bool,
    /// Keys that have no effect, such as `permissions.disableAutoMode`, in order.
    pub without_effect: Vec<String>,
}

/// The keys `enableAllProjectMcpServers`, `enabledMcpjsonServers` and `disabledMcpjsonServers`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct McpjsonSettings {
    /// Whether all servers of a project's `.mcp.json` count, if the file decides that.
    pub all: Option<bool>,
    /// Servers that count, by name.
    pub enabled: Vec<String>,
    /// Servers that do not count, by name.
    pub disabled: Vec<String>,
}

/// The keys `allowedMcpServers`, `deniedMcpServers` and `allowManagedMcpServersOnly`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerListSettings {
    /// The servers that may be connected, if the file has the list, or what is wrong with the list.
    pub allowed: Option<Result<Vec<ServerPattern>, String>>,
    /// The servers that may not, if the file has the list, or what is wrong with the list.
    pub denied: Option<Result<Vec<ServerPattern>, String>>,
    /// In a managed file, whether only managed files may allow any.
    pub managed_only: bool,
}

/// The key `permissions`, and what is said of it elsewhere.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PermissionSettings {
    /// Rules of calls that need no question.
    pub allow: Vec<String>,
    /// Rules of calls that are asked about.
    pub ask: Vec<String>,
    /// Rules of calls that are refused.
    pub deny: Vec<String>,
    /// The mode that sessions begin in, as it is written.
    pub default_mode: Option<String>,
    /// More directories of the workspace, as they are written.
    pub additional_directories: Vec<PathBuf>,
    /// Whether `disableBypassPermissionsMode` is `"disable"`.
    pub bypass_disabled: bool,
    /// `allowManagedPermissionRulesOnly`, a key of its own: in a managed file, whether no other file may allow anything.
    pub managed_rules_only: bool,
}

/// The key `sandbox`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SandboxSettings {
    /// Whether commands should run in a sandbox, if the file decides that.
    pub enabled: Option<bool>,
    /// Whether no command should run when there is no sandbox, if the file decides that.
    pub fail_if_unavailable: Option<bool>,
}

impl Settings {
    /// Keys whose values widen what may happen, rules, directories, variables and hooks aside, with their canonical
    /// text.
    pub(crate) fn widening(&self) -> Vec<(&'static str, String)> {
        let when = |holds: bool, key, content: String| holds.then_some((key, content));
        let mcpjson = &self.mcpjson;
        let allowed = self.server_lists.allowed.as_ref().and_then(|list| list.as_ref().ok());
        [
            self.model.as_ref().map(|model| ("model", content_of(model))),
            when(!self.fallback_model.is_empty(), "fallbackModel", content_of(&self.fallback_model)),
            when(!self.models.is_empty(), "models", content_of(&self.models)),
            self.agent.as_ref().map(|agent| ("agent", content_of(agent))),
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
