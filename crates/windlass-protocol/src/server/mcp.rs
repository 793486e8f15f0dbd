//! MCP servers: those of the host, and its control requests about all of them.

mod control;
mod host;

pub use control::{McpControl, McpControlError, McpServersChanged, McpStatus};
pub use host::{HostElicitation, HostElicitationAnswer, HostMcp, HostMcpError, HostMcpServer};
