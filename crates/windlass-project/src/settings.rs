//! One settings file, typed.

use crate::canonical::content_of;
use crate::hooks::HookSettings;
use crate::servers::pattern::{self, ServerPattern};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use windlass_types::{JsonError, JsonText};

/// Keys that only change how an interactive program looks.
const LOOKS: &[&str] = &[
    "$schema",
    "awaySummaryEnabled",
    "companyAnnouncements",
    "editorMode",
    "feedbackSurveyRate",
    "footerLinksRegexes",
    "prUrlTemplate",
    "prefersReducedMotion",
    "showThinkingSummaries",
    "showTurnDuration",
    "spinnerTipsEnabled",
    "spinnerTipsOverride",
    "spinnerVerbs",
    "statusLine",
    "terminalProgressBarEnabled",
    "theme",
    "tui",
    "verbose",
    "viewMode",
    "voice",
    "voiceEnabled",
];

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
    /// The agent of the main thread.
    pub agent: Option<String>,
    /// What is wanted of a sandbox.
    pub sandbox: SandboxSettings,
    /// The hooks.
    pub hooks: HookSettings,
    /// `disableAllHooks`: whether hooks are to be passed over.
    pub hooks_disabled: bool,
    /// `allowManagedHooksOnly`: in a managed file, whether hooks of other files are to be passed over.
    pub managed_hooks_only: bool,
    /// Which servers of a project's `.mcp.json` are wanted.
    pub mcpjson: McpjsonSettings,
    /// Which MCP servers may be connected.
    pub server_lists: ServerListSettings,
    /// `allowManagedPermissionRulesOnly`: in a managed file, whether no other file may allow anything.
    pub managed_rules_only: bool,
    /// Keys that have no effect, such as `permissions.disableAutoMode`, in order.
    pub without_effect: Vec<String>,
}

/// The keys `enableAllProjectMcpServers`, `enabledMcpjsonServers` and `disabledMcpjsonServers`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct McpjsonSettings {
    /// Whether all servers of a project's `.mcp.json` count, if the file says.
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
    /// The servers that may be connected, if the file says, or what is wrong with the list.
    pub allowed: Option<Result<Vec<ServerPattern>, String>>,
    /// The servers that may not, if the file says, or what is wrong with the list.
    pub denied: Option<Result<Vec<ServerPattern>, String>>,
    /// In a managed file, whether only managed files may allow any.
    pub managed_only: bool,
}

/// The key `permissions`.
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
}

/// The key `sandbox`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SandboxSettings {
    /// Whether commands should run in a sandbox, if the file says.
    pub enabled: Option<bool>,
    /// Whether nothing should run when there is no sandbox, if the file says.
    pub fail_if_unavailable: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Raw {
    #[serde(default)]
    permissions: Option<RawPermissions>,
    #[serde(default)]
    env: Option<BTreeMap<String, Scalar>>,
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    fallback_model: Option<OneOrMany>,
    #[serde(default)]
    agent: Option<String>,
    #[serde(default)]
    sandbox: Option<RawSandbox>,
    #[serde(default)]
    hooks: Option<Value>,
    #[serde(default)]
    disable_all_hooks: Option<bool>,
    #[serde(default)]
    allow_managed_hooks_only: Option<bool>,
    #[serde(default)]
    enable_all_project_mcp_servers: Option<bool>,
    #[serde(default)]
    enabled_mcpjson_servers: Option<Vec<String>>,
    #[serde(default)]
    disabled_mcpjson_servers: Option<Vec<String>>,
    #[serde(default)]
    allow_managed_permission_rules_only: Option<bool>,
    #[serde(default)]
    allowed_mcp_servers: Option<Value>,
    #[serde(default)]
    denied_mcp_servers: Option<Value>,
    #[serde(default)]
    allow_managed_mcp_servers_only: Option<bool>,
    #[serde(flatten)]
    other: BTreeMap<String, IgnoredAny>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawPermissions {
    #[serde(default)]
    allow: Option<Vec<String>>,
    #[serde(default)]
    ask: Option<Vec<String>>,
    #[serde(default)]
    deny: Option<Vec<String>>,
    #[serde(default)]
    default_mode: Option<String>,
    #[serde(default)]
    additional_directories: Option<Vec<PathBuf>>,
    #[serde(default)]
    disable_bypass_permissions_mode: Option<String>,
    #[serde(flatten)]
    other: BTreeMap<String, IgnoredAny>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawSandbox {
    #[serde(default)]
    enabled: Option<bool>,
    #[serde(default)]
    fail_if_unavailable: Option<bool>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Scalar {
    Text(String),
    Bool(bool),
    Number(serde_json::Number),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl Settings {
    /// Reads the text of a settings file. Keys that are not known are listed; `null` is as good as absent.
    ///
    /// # Errors
    /// The text is not a JSON object, has a key twice, or a known key has a value of another type.
    pub fn parse(text: &str) -> Result<Self, JsonError> {
        let json = JsonText::parse_strict(text)?;
        let raw: Raw = json.to()?;
        let permissions = raw.permissions.unwrap_or_default();
        let mut without_effect: Vec<String> =
            raw.other.into_keys().filter(|key| !LOOKS.contains(&key.as_str())).collect();
        without_effect.extend(permissions.other.into_keys().map(|key| format!("permissions.{key}")));
        let sandbox = raw.sandbox.unwrap_or_default();
        let text = |value| match value {
            Scalar::Text(text) => text,
            Scalar::Bool(value) => value.to_string(),
            Scalar::Number(number) => number.to_string(),
        };
        Ok(Self {
            permissions: PermissionSettings {
                allow: permissions.allow.unwrap_or_default(),
                ask: permissions.ask.unwrap_or_default(),
                deny: permissions.deny.unwrap_or_default(),
                default_mode: permissions.default_mode,
                additional_directories: permissions.additional_directories.unwrap_or_default(),
                bypass_disabled: permissions.disable_bypass_permissions_mode.as_deref() == Some("disable"),
            },
            env: raw.env.unwrap_or_default().into_iter().map(|(name, value)| (name, text(value))).collect(),
            model: raw.model.filter(|model| !model.is_empty()),
            fallback_model: match raw.fallback_model {
                None => Vec::new(),
                Some(OneOrMany::One(model)) => vec![model],
                Some(OneOrMany::Many(models)) => models,
            },
            agent: raw.agent.filter(|agent| !agent.is_empty()),
            sandbox: SandboxSettings { enabled: sandbox.enabled, fail_if_unavailable: sandbox.fail_if_unavailable },
            hooks: raw.hooks.as_ref().map(HookSettings::read).unwrap_or_default(),
            hooks_disabled: raw.disable_all_hooks == Some(true),
            managed_hooks_only: raw.allow_managed_hooks_only == Some(true),
            mcpjson: McpjsonSettings {
                all: raw.enable_all_project_mcp_servers,
                enabled: raw.enabled_mcpjson_servers.unwrap_or_default(),
                disabled: raw.disabled_mcpjson_servers.unwrap_or_default(),
            },
            server_lists: ServerListSettings {
                allowed: raw.allowed_mcp_servers.as_ref().map(pattern::read),
                denied: raw.denied_mcp_servers.as_ref().map(pattern::read),
                managed_only: raw.allow_managed_mcp_servers_only == Some(true),
            },
            managed_rules_only: raw.allow_managed_permission_rules_only == Some(true),
            without_effect,
        })
    }

    /// Keys whose values widen what may happen, rules, directories, variables and hooks aside, with their canonical
    /// text.
    pub(crate) fn widening(&self) -> Vec<(&'static str, String)> {
        let said = |said: bool, key, content: String| said.then_some((key, content));
        let mcpjson = &self.mcpjson;
        let allowed = self.server_lists.allowed.as_ref().and_then(|list| list.as_ref().ok());
        [
            self.model.as_ref().map(|model| ("model", content_of(model))),
            said(!self.fallback_model.is_empty(), "fallbackModel", content_of(&self.fallback_model)),
            self.agent.as_ref().map(|agent| ("agent", content_of(agent))),
            self.permissions.default_mode.as_ref().map(|mode| ("permissions.defaultMode", content_of(mode))),
            said(mcpjson.all == Some(true), "enableAllProjectMcpServers", "true".to_owned()),
            said(!mcpjson.enabled.is_empty(), "enabledMcpjsonServers", content_of(&mcpjson.enabled)),
            allowed.map(|list| ("allowedMcpServers", content_of(list))),
            said(self.hooks_disabled, "disableAllHooks", "true".to_owned()),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

#[cfg(test)]
mod tests;
