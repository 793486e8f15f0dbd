//! Status of a server.

use crate::McpIcon;
use serde::{Deserialize, Serialize};
use std::fmt;

/// State of a server's connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum McpServerState {
    /// The server has not answered yet.
    Pending,
    /// The server has not been started: its tools are cached, and its first call starts it. `pending` on the wire.
    #[serde(rename = "pending")]
    Idle,
    /// The server answers.
    Connected,
    /// The server could not be started or reached, or was lost.
    Failed,
    /// The server requires a login.
    NeedsAuth,
    /// The server is switched off.
    Disabled,
}

impl McpServerState {
    /// Returns the name on the wire.
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

/// Status of a server. Serialized as in the host protocol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct McpServerStatus {
    /// Name of the server, as configured.
    pub name: String,
    /// State of the connection.
    #[serde(rename = "status")]
    pub state: McpServerState,
    /// Description of the server by itself, once it was connected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_info: Option<McpServerInfo>,
    /// Reason why the server is not connected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Source of the configuration.
    pub source: String,
    /// Tools of the server, by their own names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<McpToolInfo>,
    /// Tools of the server that cannot be used: a provider would refuse every request that holds one. At most 50.
    #[serde(rename = "toolsLeftOut", skip_serializing_if = "Vec::is_empty")]
    pub tools_left_out: Vec<McpToolLeftOut>,
    /// Own names of tools that are gone, or defined otherwise than when the server was last connected, as far as the
    /// [cache](crate::McpOptions::with_tool_cache) knows.
    #[serde(rename = "toolsChanged", skip_serializing_if = "Vec::is_empty")]
    pub tools_changed: Vec<String>,
}

/// Tool of a server that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[non_exhaustive]
pub struct McpToolLeftOut {
    /// Own name of the tool, bounded; empty if it has none.
    pub name: String,
    /// Reason, for people.
    pub reason: String,
}

/// Instructions of a server on the use of its tools. Untrusted.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct McpInstructions {
    /// Name of the server, as configured.
    pub server: String,
    /// Prefix of the names of its tools.
    pub prefix: String,
    /// Unchanged text, cut to 10,000 characters.
    pub text: String,
}

/// Server that should be connected and is not.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct McpMissing {
    /// Name of the server, as configured.
    pub server: String,
    /// Prefix of the names of its tools.
    pub prefix: String,
    /// Reason, for people. Names the server; may hold untrusted words of it.
    pub reason: String,
}

/// Description of a server by itself. Untrusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct McpServerInfo {
    /// Name of the server.
    pub name: String,
    /// Version of the server.
    pub version: String,
    /// Name for people, bounded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Icons, for people. Never fetched.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub icons: Vec<McpIcon>,
}

/// Tool of a server, as the server describes it. Untrusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct McpToolInfo {
    /// Own name of the tool.
    pub name: String,
    /// Name for people, bounded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Description of the tool, bounded.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Effects of the tool as claimed by the server.
    #[serde(default, skip_serializing_if = "McpToolHints::is_empty")]
    pub annotations: McpToolHints,
    /// Icons, for people. Never fetched.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub icons: Vec<McpIcon>,
}

/// Effects of a tool as claimed by its server. Never trusted to let a call run; for servers inside the host `read_only`
/// affects the order in which calls run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct McpToolHints {
    /// The tool only reads.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub read_only: bool,
    /// The tool may destroy data.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub destructive: bool,
    /// The tool reaches beyond the server.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub open_world: bool,
}

impl McpToolHints {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
