//! What is known of a server.

use crate::McpIcon;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The state of a server's connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum McpServerState {
    /// It has not answered yet.
    Pending,
    /// It has not been started: what it offers is known, and its first call starts it. `pending` on the wire.
    #[serde(rename = "pending")]
    Idle,
    /// It answers.
    Connected,
    /// It could not be started or reached, or was lost.
    Failed,
    /// It wants the client to log in.
    NeedsAuth,
    /// It is switched off.
    Disabled,
}

impl McpServerState {
    /// Its name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending | Self::Idle => "pending",
            Self::Connected => "connected",
            Self::Failed => "failed",
            Self::NeedsAuth => "needs-auth",
            Self::Disabled => "disabled",
        }
    }
}

impl fmt::Display for McpServerState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What is known of a server. Written as the host protocol shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct McpServerStatus {
    /// Its name, as it was configured.
    pub name: String,
    /// The state of its connection.
    #[serde(rename = "status")]
    pub state: McpServerState,
    /// How it describes itself, once it was connected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_info: Option<McpServerInfo>,
    /// Why it is not connected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Who configured it.
    pub source: String,
    /// Its tools, by their own names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<McpToolInfo>,
    /// Tools that it offers and that cannot be used: a provider would refuse every request that holds one. At most 50.
    #[serde(rename = "toolsLeftOut", skip_serializing_if = "Vec::is_empty")]
    pub tools_left_out: Vec<McpToolLeftOut>,
    /// Tools, by their own names, that are gone or defined otherwise than when the server was last connected, as far as the
    /// [cache](crate::McpOptions::with_tool_cache) knows.
    #[serde(rename = "toolsChanged", skip_serializing_if = "Vec::is_empty")]
    pub tools_changed: Vec<String>,
}

/// A tool of a server that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[non_exhaustive]
pub struct McpToolLeftOut {
    /// Its own name, bounded; empty if it has none.
    pub name: String,
    /// Why, for people.
    pub reason: String,
}

/// A server's instructions on the use of its tools. Untrusted.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct McpInstructions {
    /// The server's name, as it was configured.
    pub server: String,
    /// How the names of its tools begin.
    pub prefix: String,
    /// The text as it came, cut to 10,000 characters.
    pub text: String,
}

/// A server that was to be connected and is not.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct McpMissing {
    /// Its name, as it was configured.
    pub server: String,
    /// How the names of its tools begin.
    pub prefix: String,
    /// Why, for people. Names the server; untrusted words of it may be in there.
    pub reason: String,
}

/// How a server describes itself. Untrusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct McpServerInfo {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its name for people, bounded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its icons, for people. Never fetched.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub icons: Vec<McpIcon>,
}

/// A tool of a server, as the server describes it. Untrusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct McpToolInfo {
    /// Its own name.
    pub name: String,
    /// Its name for people, bounded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it does, bounded.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// What the server claims of its effects.
    #[serde(default, skip_serializing_if = "McpToolHints::is_empty")]
    pub annotations: McpToolHints,
    /// Its icons, for people. Never fetched.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub icons: Vec<McpIcon>,
}

/// What a server claims of a tool's effects. Never believed where it would let a call run; of servers inside the host
/// `read_only` counts for the order in which calls run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct McpToolHints {
    /// It only reads.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub read_only: bool,
    /// It may destroy.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub destructive: bool,
    /// It reaches beyond the server.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub open_world: bool,
}

impl McpToolHints {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
