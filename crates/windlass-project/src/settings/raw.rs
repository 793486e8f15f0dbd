//! A settings file as it is written.
//!
//! The keys of hooks and of servers are read in passes of their own, each from the whole text, so that an error names
//! its place in the file.

use super::check::{self, KeyReport};
use super::lines::rule_lines;
use super::memory::MemorySettings;
use super::models::Models;
use super::session::{Attribution, SessionSettings};
use super::skills::SkillSettings;
use super::terminal::TerminalSettings;
use super::{ChosenModels, McpjsonSettings, PermissionSettings, ServerListSettings, ServerSettings, Settings};
use crate::hooks::HookSettings;
use crate::sandbox::RawSandbox;
use crate::servers::pattern;
use serde::Deserialize;
use serde::de::Error;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use windlass_types::{JsonError, JsonText};

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
    models: Option<Models>,
    #[serde(default)]
    agent: Option<String>,
    #[serde(default)]
    sandbox: Option<RawSandbox>,
    #[serde(default)]
    allow_managed_permission_rules_only: Option<bool>,
    #[serde(default)]
    project_index: Option<bool>,
    #[serde(default)]
    disable_auto_mode: Option<String>,
}

/// The keys of hooks.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawHooks {
    #[serde(default)]
    hooks: Option<Value>,
    #[serde(default)]
    disable_all_hooks: Option<bool>,
    #[serde(default)]
    allow_managed_hooks_only: Option<bool>,
    #[serde(default)]
    allowed_http_hook_urls: Option<Vec<String>>,
    #[serde(default)]
    http_hook_allowed_env_vars: Option<Vec<String>>,
}

/// The keys of MCP servers.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawServers {
    #[serde(default)]
    enable_all_project_mcp_servers: Option<bool>,
    #[serde(default)]
    enabled_mcpjson_servers: Option<Vec<String>>,
    #[serde(default)]
    disabled_mcpjson_servers: Option<Vec<String>>,
    #[serde(default)]
    allowed_mcp_servers: Option<Value>,
    #[serde(default)]
    denied_mcp_servers: Option<Value>,
    #[serde(default)]
    allow_managed_mcp_servers_only: Option<bool>,
    #[serde(default)]
    managed_mcp_servers: Option<BTreeMap<String, JsonText>>,
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
    #[serde(default)]
    disable_auto_mode: Option<String>,
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

impl Scalar {
    fn text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Bool(value) => value.to_string(),
            Self::Number(number) => number.to_string(),
        }
    }
}

impl OneOrMany {
    fn list(self) -> Vec<String> {
        match self {
            Self::One(text) => vec![text],
            Self::Many(texts) => texts,
        }
    }
}

impl Settings {
    /// Reads the text of a settings file. Keys that are not known are listed; `null` is as good as absent.
    ///
    /// # Errors
    /// The text is not a JSON object, has a key twice, or a known key has a value of another type. The text names the
    /// line.
    pub fn parse(text: &str) -> Result<Self, JsonError> {
        let json = JsonText::parse_strict(text)?;
        let value: Value = json.to()?;
        check::check(text, &value).map_err(serde_json::Error::custom)?;
        let mut settings = settings(&json, KeyReport::of(text, &value))?;
        let permissions = &mut settings.permissions;
        permissions.lines = [("allow", &permissions.allow), ("ask", &permissions.ask), ("deny", &permissions.deny)]
            .map(|(list, rules)| rule_lines(text, list, rules));
        Ok(settings)
    }
}

/// Returns the settings in a file.
fn settings(json: &JsonText, keys: KeyReport) -> Result<Settings, JsonError> {
    let raw: Raw = json.to()?;
    let (hooks, servers) = (json.to::<RawHooks>()?, json.to::<RawServers>()?);
    let (memory, skills): (MemorySettings, SkillSettings) = (json.to()?, json.to()?);
    let (terminal, mut session): (TerminalSettings, SessionSettings) = (json.to()?, json.to()?);
    session.attribution = session.attribution.filter(|said| *said != Attribution::default());
    let permissions = raw.permissions.unwrap_or_default().settings();
    let sandbox = raw.sandbox.unwrap_or_default().settings();
    Ok(Settings {
        permissions: PermissionSettings {
            managed_rules_only: raw.allow_managed_permission_rules_only == Some(true),
            auto_disabled: permissions.auto_disabled || raw.disable_auto_mode.as_deref() == Some("disable"),
            ..permissions
        },
        env: raw.env.unwrap_or_default().into_iter().map(|(name, value)| (name, value.text())).collect(),
        models: ChosenModels {
            model: raw.model.filter(|model| !model.is_empty()),
            fallback: raw.fallback_model.map(OneOrMany::list).unwrap_or_default(),
            by_name: raw.models.unwrap_or_default().0,
        },
        agent: raw.agent.filter(|agent| !agent.is_empty()),
        sandbox,
        session,
        terminal,
        memory,
        skills,
        hooks: hooks.settings(),
        servers: servers.settings(),
        index_off: raw.project_index == Some(false),
        keys,
    })
}

impl RawPermissions {
    fn settings(self) -> PermissionSettings {
        PermissionSettings {
            allow: self.allow.unwrap_or_default(),
            ask: self.ask.unwrap_or_default(),
            deny: self.deny.unwrap_or_default(),
            default_mode: self.default_mode,
            additional_directories: self.additional_directories.unwrap_or_default(),
            bypass_disabled: self.disable_bypass_permissions_mode.as_deref() == Some("disable"),
            auto_disabled: self.disable_auto_mode.as_deref() == Some("disable"),
            managed_rules_only: false,
            lines: Default::default(),
        }
    }
}

impl RawHooks {
    fn settings(&self) -> HookSettings {
        let mut hooks = self.hooks.as_ref().map(HookSettings::read).unwrap_or_default();
        hooks.disabled = self.disable_all_hooks == Some(true);
        hooks.managed_only = self.allow_managed_hooks_only == Some(true);
        (hooks.urls, hooks.variables) = (self.allowed_http_hook_urls.clone(), self.http_hook_allowed_env_vars.clone());
        hooks
    }
}

impl RawServers {
    fn settings(self) -> ServerSettings {
        let mcpjson = McpjsonSettings {
            all: self.enable_all_project_mcp_servers,
            enabled: self.enabled_mcpjson_servers.unwrap_or_default(),
            disabled: self.disabled_mcpjson_servers.unwrap_or_default(),
        };
        let lists = ServerListSettings {
            allowed: self.allowed_mcp_servers.as_ref().map(pattern::read),
            denied: self.denied_mcp_servers.as_ref().map(pattern::read),
            managed_only: self.allow_managed_mcp_servers_only == Some(true),
            provided: self.managed_mcp_servers.unwrap_or_default(),
        };
        ServerSettings { mcpjson, lists }
    }
}
