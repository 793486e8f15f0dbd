//! An MCP server as a file defines it, and the variables that it may use.

use crate::canonical::canonical;
use crate::expand::PLUGIN_ROOT;
use std::fmt;
use std::path::{Path, PathBuf};
use windlass_types::JsonText;

/// Variables with keys of model providers. No file of a project gets them.
const KEY_VARIABLES: [&str; 24] = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_CUSTOM_HEADERS",
    "AWS_BEARER_TOKEN_BEDROCK",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AZURE_OPENAI_AD_TOKEN",
    "AZURE_OPENAI_API_KEY",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "DASHSCOPE_API_KEY",
    "DEEPSEEK_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "GROQ_API_KEY",
    "LITELLM_API_KEY",
    "LITELLM_MASTER_KEY",
    "MISTRAL_API_KEY",
    "MOONSHOT_API_KEY",
    "OLLAMA_API_KEY",
    "OPENAI_API_KEY",
    "OPENROUTER_API_KEY",
    "TOGETHER_API_KEY",
    "XAI_API_KEY",
    "ZAI_API_KEY",
];

/// Scope that defines an MCP server. Ordered: of two servers with one name, the greater scope wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ServerScope {
    /// A plugin.
    Plugin,
    /// The project.
    Project,
    /// The user, for all projects.
    User,
    /// The user, for this project.
    Local,
    /// The administrator of the machine.
    Managed,
}

impl ServerScope {
    /// Returns the name on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Plugin => "plugin",
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
            Self::Managed => "managed",
        }
    }
}

impl fmt::Display for ServerScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An MCP server as a file defines it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerDefinition {
    /// Name of the server; `plugin:NAME:SERVER` for one of a plugin.
    pub name: String,
    /// Scope of the definition.
    pub scope: ServerScope,
    /// The file.
    pub path: PathBuf,
    /// Entry of the server, as it is written.
    pub config: JsonText,
    /// The directory of its plugin, if it has one.
    pub plugin_root: Option<PathBuf>,
}

impl ServerDefinition {
    pub(crate) fn new(name: impl Into<String>, scope: ServerScope, path: impl Into<PathBuf>, config: JsonText) -> Self {
        Self { name: name.into(), scope, path: path.into(), config, plugin_root: None }
    }

    pub(crate) fn of_plugin(mut self, root: &Path) -> Self {
        self.plugin_root = Some(root.to_path_buf());
        self
    }

    /// Returns `true` if another definition has the same scope and an equal entry. The layout of the JSON makes no
    /// difference.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        let scope_and_entry = |server: &Self| (server.scope, canonical(server.config.as_str()));
        (&self.name, &self.path, &self.plugin_root) == (&other.name, &other.path, &other.plugin_root)
            && scope_and_entry(self) == scope_and_entry(other)
    }

    /// Returns a configuration with this server alone: `{"mcpServers":{"NAME":{…}}}`.
    #[must_use]
    pub fn document(&self) -> String {
        format!("{{\"mcpServers\":{{{}:{}}}}}", serde_json::Value::from(self.name.as_str()), self.config.as_str())
    }

    /// Returns the value of a variable in the entry (`${NAME}`): `CLAUDE_PLUGIN_ROOT` is the directory of the plugin,
    /// others are the result of `environment`. A file of a project does not get the keys of the model provider.
    pub fn variable(&self, name: &str, environment: impl Fn(&str) -> Option<String>) -> Option<String> {
        match &self.plugin_root {
            Some(root) if name == PLUGIN_ROOT => Some(root.to_string_lossy().into_owned()),
            _ if self.scope == ServerScope::Project && KEY_VARIABLES.contains(&name) => None,
            _ => environment(name),
        }
    }

    /// Returns the variables of its program's environment in addition to those of its entry.
    pub fn environment(&self) -> impl Iterator<Item = (&'static str, String)> {
        let root = self.plugin_root.as_ref();
        root.map(|root| (PLUGIN_ROOT, root.to_string_lossy().into_owned())).into_iter()
    }
}

/// A server that is not started.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeftOutServer {
    /// The server.
    pub server: ServerDefinition,
    /// Reason, and the possible remedy.
    pub reason: String,
}

impl LeftOutServer {
    /// Creates a server with the reason.
    #[must_use]
    pub fn new(server: ServerDefinition, reason: impl Into<String>) -> Self {
        Self { server, reason: reason.into() }
    }
}
