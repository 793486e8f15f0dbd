//! What the host may order of MCP servers.

use super::host::HostMcp;
use async_trait::async_trait;
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;
use windlass_types::JsonText;

/// MCP servers, as the host may see and order them.
#[async_trait]
pub trait McpControl: fmt::Debug + Send + Sync + 'static {
    /// Gives the way to the host's in-process servers. Called once, before all other methods.
    fn attach(&self, host: HostMcp);

    /// The host has these in-process servers, some with settings: objects with
    /// `timeout` and `tools`. May be called again.
    fn announce(&self, servers: &BTreeMap<String, Option<JsonText>>);

    /// The host gives these servers with `initialize` instead of on its command
    /// line: an object of configurations by name. Whether they were taken,
    /// which does not mean that each can be reached. Default: they are not.
    fn configure(&self, servers: &JsonText) -> bool {
        let _ = servers;
        false
    }

    /// What is known of each server.
    fn status(&self) -> Vec<McpStatus>;

    /// Ends the connection to a server and makes a new one.
    ///
    /// # Errors
    /// There is no such server, or it cannot be reached.
    async fn reconnect(&self, server: &str) -> Result<(), McpControlError>;

    /// Switches a server on or off.
    ///
    /// # Errors
    /// There is no such server, or it cannot be reached.
    async fn toggle(&self, server: &str, enabled: bool) -> Result<(), McpControlError>;

    /// Replaces the servers that the host added by such an order before: an
    /// object of configurations by name.
    ///
    /// # Errors
    /// The object cannot be read. What is wrong with one server is in the answer.
    async fn set_servers(&self, servers: JsonText) -> Result<McpServersChanged, McpControlError>;

    /// Calls a tool by its whole name (`mcp__server__tool`), for the host
    /// itself: an MCP result, an object.
    ///
    /// # Errors
    /// There is no such tool, or the call failed.
    async fn call(&self, tool: &str, arguments: JsonText, limit: Option<Duration>)
    -> Result<JsonText, McpControlError>;

    /// Reads a resource: `{"contents":[…]}`.
    ///
    /// # Errors
    /// There is no such server or resource.
    async fn read_resource(&self, server: &str, uri: &str) -> Result<JsonText, McpControlError>;

    /// Begins to log in to a server. Returns the address of the page that the user has to visit, or `None` if the program
    /// has logged in itself. The login continues: when the user has returned from the page, the server is connected anew.
    /// A login that was begun before is ended. Default: refused.
    ///
    /// # Errors
    /// There is no such server, or it takes no logins.
    async fn authenticate(&self, server: &str) -> Result<Option<String>, McpControlError> {
        Err(no_logins(server))
    }

    /// Finishes a login with the whole address to which the browser returned, for hosts whose browser is on another
    /// machine. Waits until the server is connected. Default: refused.
    ///
    /// # Errors
    /// No login was begun, or it did not succeed.
    async fn finish_login(&self, server: &str, address: &str) -> Result<(), McpControlError> {
        let _ = address;
        Err(no_logins(server))
    }

    /// Forgets the login to a server. Default: refused.
    ///
    /// # Errors
    /// There is no such server, or its login is still kept.
    async fn forget_login(&self, server: &str) -> Result<(), McpControlError> {
        Err(no_logins(server))
    }
}

fn no_logins(server: &str) -> McpControlError {
    McpControlError(format!("logins to MCP servers are not supported here: {server}"))
}

/// What is known of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct McpStatus {
    /// Its name.
    pub name: String,
    /// `connected`, `failed`, `needs-auth`, `pending` or `disabled`.
    pub status: String,
    /// Who configured it.
    pub source: String,
    /// The whole entry of the answer to `mcp_status`, an object.
    pub entry: JsonText,
}

impl McpStatus {
    /// What is known of a server.
    pub fn new(name: impl Into<String>, status: impl Into<String>, source: impl Into<String>, entry: JsonText) -> Self {
        Self { name: name.into(), status: status.into(), source: source.into(), entry }
    }
}

/// What an order has changed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct McpServersChanged {
    /// Servers that were added.
    pub added: Vec<String>,
    /// Servers that were removed.
    pub removed: Vec<String>,
    /// What is wrong with others, by name.
    pub errors: BTreeMap<String, String>,
}

/// Why an order was not carried out, for the host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct McpControlError(String);

impl McpControlError {
    /// With the reason, for people.
    pub fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }

    /// There is no such server.
    pub fn unknown_server(name: &str) -> Self {
        Self(format!("Server not found: {name}"))
    }
}
