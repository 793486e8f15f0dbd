//! Control of MCP servers by the host.

use super::host::HostMcp;
use async_trait::async_trait;
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;
use windlass_types::JsonText;

/// MCP servers, as a port for the host's control requests.
#[async_trait]
pub trait McpControl: fmt::Debug + Send + Sync + 'static {
    /// Passes the connection to the host's in-process servers. Called once, before all other methods.
    fn attach(&self, host: HostMcp);

    /// Announces the in-process servers of the host, some with settings: objects with `timeout` and `tools`. May be
    /// called again.
    fn announce(&self, servers: &BTreeMap<String, Option<JsonText>>);

    /// Adds the servers that the host gives with `initialize` instead of on its command line: an object of
    /// configurations by name. Returns `true` if they were taken, which does not mean that each can be reached.
    /// Default: `false`.
    fn configure(&self, servers: &JsonText) -> bool {
        let _ = servers;
        false
    }

    /// Returns the status of each server.
    fn status(&self) -> Vec<McpStatus>;

    /// Reconnects a server.
    ///
    /// # Errors
    /// The server does not exist, or cannot be reached.
    async fn reconnect(&self, server: &str) -> Result<(), McpControlError>;

    /// Enables or disables a server.
    ///
    /// # Errors
    /// The server does not exist, or cannot be reached.
    async fn toggle(&self, server: &str, enabled: bool) -> Result<(), McpControlError>;

    /// Replaces the servers that the host added by an earlier call: an object of configurations by name.
    ///
    /// # Errors
    /// The object cannot be read. Problems of single servers are in the answer.
    async fn set_servers(&self, servers: JsonText) -> Result<McpServersChanged, McpControlError>;

    /// Calls a tool by its full name (`mcp__server__tool`), for the host itself. Returns an MCP result, an object.
    ///
    /// # Errors
    /// The tool does not exist, or the call failed.
    async fn call(&self, tool: &str, arguments: JsonText, limit: Option<Duration>)
    -> Result<JsonText, McpControlError>;

    /// Reads a resource: `{"contents":[…]}`.
    ///
    /// # Errors
    /// The server or resource does not exist.
    async fn read_resource(&self, server: &str, uri: &str) -> Result<JsonText, McpControlError>;

    /// Begins to log in to a server. Returns the address of the page that the user has to visit, or `None` if the
    /// program has logged in itself. The login continues: when the user has returned from the page, the server is
    /// connected anew. An earlier login is ended. Default: refused.
    ///
    /// # Errors
    /// The server does not exist, or takes no logins.
    async fn authenticate(&self, server: &str) -> Result<Option<String>, McpControlError> {
        Err(no_logins(server))
    }

    /// Finishes a login with the whole address to which the browser returned, for hosts whose browser is on another
    /// machine. Waits until the server is connected. Default: refused.
    ///
    /// # Errors
    /// No login was begun, or it failed.
    async fn finish_login(&self, server: &str, address: &str) -> Result<(), McpControlError> {
        let _ = address;
        Err(no_logins(server))
    }

    /// Forgets the login to a server. Default: refused.
    ///
    /// # Errors
    /// The server does not exist, or its login is still stored.
    async fn forget_login(&self, server: &str) -> Result<(), McpControlError> {
        Err(no_logins(server))
    }
}

fn no_logins(server: &str) -> McpControlError {
    McpControlError(format!("logins to MCP servers are not supported here: {server}"))
}

/// Status of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct McpStatus {
    /// Name of the server.
    pub name: String,
    /// `connected`, `failed`, `needs-auth`, `pending` or `disabled`.
    pub status: String,
    /// Source of its configuration.
    pub source: String,
    /// Whole entry of the answer to `mcp_status`, an object.
    pub entry: JsonText,
}

impl McpStatus {
    /// Creates the status of a server.
    pub fn new(name: impl Into<String>, status: impl Into<String>, source: impl Into<String>, entry: JsonText) -> Self {
        Self { name: name.into(), status: status.into(), source: source.into(), entry }
    }
}

/// Outcome of replacing servers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct McpServersChanged {
    /// Added servers.
    pub added: Vec<String>,
    /// Removed servers.
    pub removed: Vec<String>,
    /// Errors of other servers, by name.
    pub errors: BTreeMap<String, String>,
}

/// Reason why a control request failed, for the host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct McpControlError(String);

impl McpControlError {
    /// Creates an error with the reason, for people.
    pub fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }

    /// Error for an unknown server.
    pub fn unknown_server(name: &str) -> Self {
        Self(format!("Server not found: {name}"))
    }
}
