//! MCP servers as tools.

#[cfg(feature = "project")]
pub use crate::project::{AbsentServer, ProjectServers, ServerNotConnected};
#[cfg(feature = "project")]
pub use crate::servers::{server_config, server_policy, server_refusal};
pub use windlass_mcp::*;
