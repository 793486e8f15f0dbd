//! MCP servers: those of the host, and what the host may order of all of them.

mod control;
mod host;

pub use control::{McpControl, McpControlError, McpServersChanged, McpStatus};
pub use host::{HostElicitation, HostElicitationAnswer, HostMcp, HostMcpError, HostMcpServer};
