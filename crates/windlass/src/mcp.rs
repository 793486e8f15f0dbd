//! MCP servers as tools.

#[cfg(feature = "project")]
pub use crate::project::servers::{
    AbsentServer, ProjectServers, ServerNotConnected, server_config, server_policy, server_refusal,
};
pub use windlass_mcp::{
    Elicitation, ElicitationAnswer, ElicitationKind, ElicitationRequest, McpChannel, McpChannelError, McpConfigError,
    McpError, McpOptions, McpResource, McpResourceAddress, McpServerConfig, McpServerState, McpServerStatus,
    McpServers, McpToolHints, McpToolPolicy, McpTransport, Sampling, SamplingAnswer, SamplingLimits, SamplingRequest,
    parse_config,
};
pub use windlass_types::mcp_name::is_usable as is_usable_name;

/// Logins to MCP servers.
pub mod auth {
    pub use windlass_mcp::auth::{
        AuthOptions, Browser, FileTokenStore, LoginKey, LoginPage, SavedLogin, StoreLock, TokenStore, TokenStoreError,
    };
}
