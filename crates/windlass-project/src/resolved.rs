//! Settings in effect, from all files.

use crate::error::SettingsError;
use crate::note::{Note, Origin};
use crate::sandbox::ResolvedSandbox;
use crate::servers::definition::ServerDefinition;
use crate::servers::lists::ServerLists;
use crate::settings::{Attribution, FileCheckpointSettings, ModelSettings, OutputLimitSettings, SkillSettings};
use crate::sources::Layer;
use std::collections::BTreeMap;
use std::path::PathBuf;
use windlass_hook_runner::{BrokenHook, HookDefinition, RequestRules};
use windlass_permission::RuleOrigins;
use windlass_types::{Behavior, Effort, JsonText, PermissionMode, RuleSource};

/// A value with its layer and origin.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Setting<T> {
    /// The value.
    pub value: T,
    /// Layer of the setting.
    pub layer: Layer,
    /// File of the setting.
    pub origin: Origin,
}

/// Rules of one file and behaviour.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuleSet {
    /// Rule source under which the rules are reported.
    pub source: RuleSource,
    /// Behavior of the rules: allow, ask or deny.
    pub behavior: Behavior,
    /// The rules; each can be used.
    pub rules: Vec<String>,
    /// Base directory of patterns with a leading `/`.
    pub anchor: PathBuf,
    /// Origin of the rules.
    pub origin: Origin,
    /// Origin of each rule, if that is a file.
    pub origins: RuleOrigins,
}

/// Enabled and disabled servers of a project's `.mcp.json`, from the files that may decide it. A file can always
/// disable a server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct McpjsonChoice {
    /// `true` if all servers are enabled.
    pub all: Option<Setting<bool>>,
    /// Enabled servers, by name.
    pub enabled: BTreeMap<String, Origin>,
    /// Disabled servers, by name.
    pub disabled: BTreeMap<String, Origin>,
}

/// Resolved key `permissions`.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ResolvedPermissions {
    /// All rules, those of the strongest layer first. Their order does not change a decision.
    pub rules: Vec<RuleSet>,
    /// `true` if only allow rules of managed settings apply, even if other files have some.
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
    /// Returns the file that forbids a mode, if one does.
    pub fn forbids(&self, mode: PermissionMode) -> Option<&Origin> {
        match mode {
            PermissionMode::BypassPermissions => self.bypass_disabled.as_ref(),
            PermissionMode::Auto => self.auto_disabled.as_ref(),
            _ => None,
        }
    }
}

/// Resolved settings of MCP servers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResolvedServers {
    /// Enabled and disabled servers of the project's `.mcp.json`.
    pub mcpjson: McpjsonChoice,
    /// Allow and deny lists of servers of every scope.
    pub lists: ServerLists,
    /// Servers of the administrator: remote ones, the strongest file's of a name.
    pub provided: Vec<ServerDefinition>,
}

/// Resolved keys of memory and of instructions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResolvedMemory {
    /// `true` if sessions have a memory; `None` if no file sets it.
    pub enabled: Option<Setting<bool>>,
    /// Absolute path of the memory directory; `None` if no file sets it.
    pub directory: Option<Setting<PathBuf>>,
    /// `true` if an agent notes after a run the facts worth remembering; `None` if no file sets it.
    pub extraction: Option<Setting<bool>>,
    /// The model that finds the notes that fit a prompt, if a file names one.
    pub ranking_model: Option<Setting<String>>,
    /// Patterns of instruction files to leave out. A pattern from a project's file applies only to files of the
    /// project.
    pub instruction_excludes: Vec<Setting<String>>,
}

/// Resolved settings of hooks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResolvedHooks {
    /// Hooks in the order of precedence, those of the strongest layer first.
    pub all: Vec<Setting<HookDefinition>>,
    /// Hooks of gates that cannot be used: a session must not start without them. See [`Resolved::check_hooks`].
    pub broken: Vec<Setting<BrokenHook>>,
    /// `true` if hooks of plugins, agents and skills are used.
    pub others_count: bool,
    /// Allowed URLs and header variables of hook requests.
    pub requests: RequestRules,
}

/// Parts of the user's login shell that commands get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SnapshotContent {
    /// Variables alone.
    Variables,
    /// Functions and aliases, too.
    All,
}

/// Resolved session keys: language, thinking, API key and language servers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResolvedSession {
    /// The name of the output style.
    pub output_style: Option<Setting<String>>,
    /// The language of answers, in words.
    pub language: Option<Setting<String>>,
    /// Texts that the model adds to commits and pull requests about its part.
    pub attribution: Option<Setting<Attribution>>,
    /// Reasoning effort of the model.
    pub effort: Option<Setting<Effort>>,
    /// A command line that prints the key of the model provider. No file that others may have written sets it.
    pub api_key_helper: Option<Setting<String>>,
    /// Language servers by name, as a JSON object. No file that others may have written sets them.
    pub lsp_servers: Option<Setting<JsonText>>,
    /// `true` if commands continue in the background after their time limit.
    pub background_long_commands: Option<Setting<bool>>,
    /// `true` if commands may ask for a terminal.
    pub command_terminals: Option<Setting<bool>>,
    /// Parts of the user's login shell that commands get. No file that others may have written sets it.
    pub shell_snapshot: Option<Setting<SnapshotContent>>,
    /// Limits of file checkpoints.
    pub file_checkpoints: Option<Setting<FileCheckpointSettings>>,
    /// Disk space for the outputs of programs.
    pub output_limits: Option<Setting<OutputLimitSettings>>,
    /// Days after which unused sessions are deleted. No file of a project sets it.
    pub cleanup_period_days: Option<Setting<u64>>,
    /// Maximum bytes of all sessions. No file of a project sets it.
    pub cleanup_max_bytes: Option<Setting<u64>>,
}

/// Resolved keys of the interactive terminal. No file of a project sets one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResolvedTerminal {
    /// Name of the theme.
    pub theme: Option<Setting<String>>,
    /// Actions by key, as a JSON object.
    pub key_bindings: Option<Setting<JsonText>>,
    /// `true` if Enter queues behind the run and Tab steers.
    pub enter_queues: Option<Setting<bool>>,
    /// Command of the status line, as a JSON object.
    pub status_line: Option<Setting<JsonText>>,
    /// `false` if the terminal shows no progress in its title bar.
    pub progress: Option<Setting<bool>>,
    /// `true` if nothing moves by itself.
    pub reduced_motion: Option<Setting<bool>>,
    /// `true` for labelled lines without any redrawing.
    pub screen_reader: Option<Setting<bool>>,
}

/// Resolved keys `model`, `fallbackModel` and `models`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResolvedModels {
    /// The model.
    pub model: Option<Setting<String>>,
    /// The models that take over, the first one first.
    pub fallback: Option<Setting<Vec<String>>>,
    /// Settings of models, by name or beginning of names: for each name those of the strongest layer.
    pub by_name: BTreeMap<String, Setting<ModelSettings>>,
}

/// Resolved key `env`, by receiver of the variables.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResolvedEnv {
    /// Variables for the programs that tools run.
    pub programs: BTreeMap<String, Setting<String>>,
    /// Variables for the model provider: none that a project's shared file sets, so that no repository chooses
    /// who gets the user's key.
    pub provider: BTreeMap<String, Setting<String>>,
}

/// Resolved settings of all layers, each value with its origin.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Resolved {
    /// Rules, mode and directories.
    pub permissions: ResolvedPermissions,
    /// Model, fallback models, and settings of models.
    pub models: ResolvedModels,
    /// The agent of the main thread.
    pub agent: Option<Setting<String>>,
    /// Session keys.
    pub session: ResolvedSession,
    /// Variables for the programs that tools run, and for the model provider.
    pub env: ResolvedEnv,
    /// Settings of MCP servers.
    pub servers: ResolvedServers,
    /// Memory.
    pub memory: ResolvedMemory,
    /// Settings of skills and commands.
    pub skills: SkillSettings,
    /// Settings of the interactive terminal.
    pub terminal: ResolvedTerminal,
    /// Settings of the sandbox.
    pub sandbox: ResolvedSandbox,
    /// The file that switches the index of the project off, if one does. Any layer can.
    pub index_off: Option<Origin>,
    /// Hooks.
    pub hooks: ResolvedHooks,
    /// Notes on settings that have no effect, or less than their writer may think.
    pub notes: Vec<Note>,
}

impl Resolved {
    /// Checks that every hook that could deny or block is usable.
    ///
    /// # Errors
    /// A hook of a gate is unusable.
    pub fn check_hooks(&self) -> Result<(), SettingsError> {
        match self.hooks.broken.first() {
            None => Ok(()),
            Some(hook) => Err(SettingsError::Hook { origin: hook.origin.clone(), hook: hook.value.clone() }),
        }
    }
}
