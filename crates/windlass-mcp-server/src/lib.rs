//! Tools and agents as an MCP server.
//!
//! [`McpServer`] is the server to which a client connects. Its tools come from [`McpService`]s: [`GatedTools`] are
//! tools behind the permission gate of a session, [`AgentTool`] is a whole agent as one tool, and a program can supply
//! its own. Resources and prompts come from [`McpLibrary`]s. A permission question becomes an elicitation, if the
//! client supports these; otherwise the call is denied with the reason.
//!
//! ```no_run
//! use windlass::{Permissions, coding_tools, session};
//! use windlass_mcp_server::{GatedTools, McpServer};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let builder = session().tools(coding_tools("/srv/project").only(&["Read", "Grep", "Bash"]));
//! let tools = GatedTools::open(builder, Permissions::new().allow(["Bash(git log *)"])).await?;
//! McpServer::new("project", "1.0").service(tools).serve_stdio().await?;
//! # Ok(())
//! # }
//! ```
//!
//! # Features
//! `http`: streamable HTTP, `McpServer::serve_http`.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod agent;
mod ask;
mod changes;
mod client;
mod content;
mod error;
mod gated;
mod handler;
#[cfg(feature = "http")]
mod http;
mod library;
mod parked;
mod question;
mod rounds;
mod server;
mod service;
mod tasks;

pub use agent::AgentTool;
pub use ask::{ClientAbility, ClientAnswer, Question};
pub use changes::ServedChanges;
pub use client::{Client, LogLevel};
pub use content::{audio_block, resource_block};
pub use error::ServeError;
pub use gated::GatedTools;
#[cfg(feature = "http")]
pub use http::{BearerToken, HttpOptions};
pub use library::{
    Completion, CompletionOf, LibraryError, McpLibrary, PromptCall, ServedArgument, ServedContents, ServedData,
    ServedMessage, ServedPrompt, ServedRead, ServedResource, ServedTemplate,
};
pub use server::McpServer;
pub use service::{McpService, ServedCall, ServedHints, ServedTool};
