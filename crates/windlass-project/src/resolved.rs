//! The settings that count, of all files.

use crate::error::SettingsError;
use crate::hooks::GatingHook;
use crate::note::{Note, Origin};
use crate::servers::lists::ServerLists;
use crate::settings::{ModelSettings, SkillSettings};
use crate::sources::Layer;
use std::collections::BTreeMap;
use std::path::PathBuf;
use windlass_types::{Behavior, PermissionMode, RuleSource};

/// A value with where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Setting<T> {
    /// The value.
    pub value: T,
    /// Its layer.
    pub layer: Layer,
    /// Its file.
    pub origin: Origin,
}

/// Rules of one file and behaviour.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuleSet {
    /// Under which name they are reported.
    pub source: RuleSource,
    /// Whether they allow, ask or deny.
    pub behavior: Behavior,
    /// The rules; each can be used.
    pub rules: Vec<String>,
    /// Where their patterns with a leading `/` start.
    pub anchor: PathBuf,
    /// Where they come from.
    pub origin: Origin,
}

/// Which servers of a project's `.mcp.json` are wanted, by files that may decide it. What switches a server off counts
/// in every file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct McpjsonChoice {
    /// Whether all of them count.
    pub all: Option<Setting<bool>>,
    /// Those that count, by name.
    pub enabled: BTreeMap<String, Origin>,
    /// Those that do not count, by name.
    pub disabled: BTreeMap<String, Origin>,
}

/// What counts of the key `permissions`.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ResolvedPermissions {
    /// All rules, those of the strongest layer first. They join; order has no meaning for a verdict.
    pub rules: Vec<RuleSet>,
    /// Whether allow rules count in managed settings only, also if other files have some.
    pub managed_rules_only: bool,
    /// The mode that sessions begin in.
    pub default_mode: Option<Setting<PermissionMode>>,
    /// The file that forbids the mode bypassPermissions, if one does. Any layer can.
    pub bypass_disabled: Option<Origin>,
    /// More directories of the workspace; absolute.
    pub additional_directories: Vec<Setting<PathBuf>>,
}

/// What counts of MCP servers.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ResolvedServers {
    /// Which servers of the project's `.mcp.json` are wanted.
    pub mcpjson: McpjsonChoice,
    /// Which servers may be connected, wherever they are defined.
    pub lists: ServerLists,
}

/// What counts of the key `sandbox`.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ResolvedSandbox {
    /// The file that wants commands to run in a sandbox.
    pub enabled: Option<Origin>,
    /// The file that wants no command to run without a sandbox.
    pub required: Option<Origin>,
}

/// What counts of the keys of memory, and of instructions.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ResolvedMemory {
    /// Whether sessions have a memory, if a file decides that.
    pub enabled: Option<Setting<bool>>,
    /// Where it is, if a file says that; absolute.
    pub directory: Option<Setting<PathBuf>>,
    /// Whether an agent notes after a run what is worth remembering, if a file decides that.
    pub extraction: Option<Setting<bool>>,
    /// Patterns of instruction files that are not to be read. One of a project's file concerns files of the project alone.
    pub instruction_excludes: Vec<Setting<String>>,
}

/// What counts of all layers, each value with its origin.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Resolved {
    /// Rules, mode and directories.
    pub permissions: ResolvedPermissions,
    /// The model.
    pub model: Option<Setting<String>>,
    /// The models that take over, the first one first.
    pub fallback_model: Option<Setting<Vec<String>>>,
    /// What is said of models, by name or the beginning of names: of each name what the strongest layer says.
    pub models: BTreeMap<String, Setting<ModelSettings>>,
    /// The agent of the main thread.
    pub agent: Option<Setting<String>>,
    /// Variables for the programs that tools run.
    pub env: BTreeMap<String, Setting<String>>,
    /// Variables for the model provider: none that a project's shared file sets, so that no repository chooses
    /// who gets the user's key.
    pub provider_env: BTreeMap<String, Setting<String>>,
    /// Which MCP servers are wanted.
    pub servers: ResolvedServers,
    /// Memory.
    pub memory: ResolvedMemory,
    /// What is wanted of skills and commands.
    pub skills: SkillSettings,
    /// Whether commands are to run in a sandbox.
    pub sandbox: ResolvedSandbox,
    /// The file that switches the index of the project off, if one does. Any layer can.
    pub index_off: Option<Origin>,
    /// Hooks that can deny or block and that do not run in this version: a session must not start
    /// without them. See [`Resolved::check_hooks`].
    pub gating_hooks: Vec<Setting<GatingHook>>,
    /// What has no effect, or less than its writer may think.
    pub notes: Vec<Note>,
}

impl Resolved {
    /// Checks that a session may start without the hooks of settings.
    ///
    /// # Errors
    /// A hook that can deny or block cannot run.
    pub fn check_hooks(&self) -> Result<(), SettingsError> {
        match self.gating_hooks.first() {
            None => Ok(()),
            Some(hook) => Err(SettingsError::Hook { origin: hook.origin.clone(), hook: hook.value.clone() }),
        }
    }
}
