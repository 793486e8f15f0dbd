//! The settings that count, of all files.

use crate::error::SettingsError;
use crate::note::{Note, Origin};
use crate::sandbox::ResolvedSandbox;
use crate::servers::definition::ServerDefinition;
use crate::servers::lists::ServerLists;
use crate::settings::{Attribution, FileCheckpointSettings, ModelSettings, SkillSettings};
use crate::sources::Layer;
use std::collections::BTreeMap;
use std::path::PathBuf;
use windlass_hooks::{BrokenHook, HookDefinition, RequestRules};
use windlass_permission::RuleOrigins;
use windlass_types::{Behavior, Effort, JsonText, PermissionMode, RuleSource};

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
    /// Where each of them stands, if that is a file.
    pub origins: RuleOrigins,
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
    /// The file that forbids the mode auto, if one does. Any layer can.
    pub auto_disabled: Option<Origin>,
    /// More directories of the workspace; absolute.
    pub additional_directories: Vec<Setting<PathBuf>>,
}

impl ResolvedPermissions {
    /// The file that forbids a mode, if one does.
    pub fn forbids(&self, mode: PermissionMode) -> Option<&Origin> {
        match mode {
            PermissionMode::BypassPermissions => self.bypass_disabled.as_ref(),
            PermissionMode::Auto => self.auto_disabled.as_ref(),
            _ => None,
        }
    }
}

/// What counts of MCP servers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResolvedServers {
    /// Which servers of the project's `.mcp.json` are wanted.
    pub mcpjson: McpjsonChoice,
    /// Which servers may be connected, wherever they are defined.
    pub lists: ServerLists,
    /// Servers of the administrator: remote ones, the strongest file's of a name.
    pub provided: Vec<ServerDefinition>,
}

/// What counts of the keys of memory, and of instructions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResolvedMemory {
    /// Whether sessions have a memory, if a file decides that.
    pub enabled: Option<Setting<bool>>,
    /// Where it is, if a file says that; absolute.
    pub directory: Option<Setting<PathBuf>>,
    /// Whether an agent notes after a run what is worth remembering, if a file decides that.
    pub extraction: Option<Setting<bool>>,
    /// The model that finds the notes that fit a prompt, if a file names one.
    pub ranking_model: Option<Setting<String>>,
    /// Patterns of instruction files that are not to be read. One of a project's file concerns files of the project alone.
    pub instruction_excludes: Vec<Setting<String>>,
}

/// What counts of hooks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResolvedHooks {
    /// Hooks in the order in which they count, those of the strongest layer first.
    pub all: Vec<Setting<HookDefinition>>,
    /// Hooks of gates that cannot be used: a session must not start without them. See [`Resolved::check_hooks`].
    pub broken: Vec<Setting<BrokenHook>>,
    /// Whether hooks of plugins, agents and skills count.
    pub others_count: bool,
    /// Where hooks may send requests, and which variables those may hold.
    pub requests: RequestRules,
}

/// What commands get of the user's login shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SnapshotContent {
    /// Variables alone.
    Variables,
    /// Functions and aliases, too.
    All,
}

/// What counts of the keys that say how a session speaks, thinks, gets its key, and reads code.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResolvedSession {
    /// The name of the output style.
    pub output_style: Option<Setting<String>>,
    /// The language of answers, in words.
    pub language: Option<Setting<String>>,
    /// What the model writes of its part in commits and pull requests.
    pub attribution: Option<Setting<Attribution>>,
    /// How hard the model thinks.
    pub effort: Option<Setting<Effort>>,
    /// A command line that prints the key of the model provider. No file that others may have written sets it.
    pub api_key_helper: Option<Setting<String>>,
    /// Language servers by name, as a JSON object. No file that others may have written sets them.
    pub lsp_servers: Option<Setting<JsonText>>,
    /// Whether commands continue in the background when their time is up.
    pub background_long_commands: Option<Setting<bool>>,
    /// Whether commands may ask for a terminal.
    pub command_terminals: Option<Setting<bool>>,
    /// What commands get of the user's login shell. No file that others may have written sets it.
    pub shell_snapshot: Option<Setting<SnapshotContent>>,
    /// How much checkpoints of files keep.
    pub file_checkpoints: Option<Setting<FileCheckpointSettings>>,
}

/// What counts of the keys `model`, `fallbackModel` and `models`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResolvedModels {
    /// The model.
    pub model: Option<Setting<String>>,
    /// The models that take over, the first one first.
    pub fallback: Option<Setting<Vec<String>>>,
    /// What is said of models, by name or the beginning of names: of each name what the strongest layer says.
    pub by_name: BTreeMap<String, Setting<ModelSettings>>,
}

/// What counts of the key `env`, by who gets the variables.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResolvedEnv {
    /// Variables for the programs that tools run.
    pub programs: BTreeMap<String, Setting<String>>,
    /// Variables for the model provider: none that a project's shared file sets, so that no repository chooses
    /// who gets the user's key.
    pub provider: BTreeMap<String, Setting<String>>,
}

/// What counts of all layers, each value with its origin.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Resolved {
    /// Rules, mode and directories.
    pub permissions: ResolvedPermissions,
    /// The model, those that take over, and what is said of models.
    pub models: ResolvedModels,
    /// The agent of the main thread.
    pub agent: Option<Setting<String>>,
    /// How sessions speak, think and get their key.
    pub session: ResolvedSession,
    /// Variables for the programs that tools run, and for the model provider.
    pub env: ResolvedEnv,
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
    /// Hooks.
    pub hooks: ResolvedHooks,
    /// What has no effect, or less than its writer may think.
    pub notes: Vec<Note>,
}

impl Resolved {
    /// Checks that no hook is missing that could deny or block.
    ///
    /// # Errors
    /// A hook of a gate cannot be used.
    pub fn check_hooks(&self) -> Result<(), SettingsError> {
        match self.hooks.broken.first() {
            None => Ok(()),
            Some(hook) => Err(SettingsError::Hook { origin: hook.origin.clone(), hook: hook.value.clone() }),
        }
    }
}
