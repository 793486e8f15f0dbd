//! Model Context Protocol servers as tools.
//!
//! [`McpServers`] is a set of servers that are connected concurrently: programs that speak over their standard streams,
//! streamable HTTP endpoints, and servers inside the host that are reached through an [`McpChannel`]. Their tools are
//! named `mcp__server__tool` and are [`DynTool`](windlass_tool::DynTool)s like any other: their path access is unknown,
//! so each call needs a permission decision. All data from a server is untrusted: sizes and counts are bounded, hints
//! never let a call run, and a tool that a provider would refuse is left out.
//!
//! ```no_run
//! use windlass_mcp::{McpOptions, McpServerConfig, McpServers};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let servers = McpServers::new(McpOptions::new().with_env([("PATH", "/usr/local/bin:/usr/bin:/bin")]));
//! servers.add("files", McpServerConfig::stdio("mcp-files").arg("/srv/data"))?;
//! servers.settled(std::time::Duration::from_secs(5)).await;
//! for tool in servers.tools() {
//!     println!("{}", tool.spec().name);
//! }
//! servers.close().await;
//! # Ok(())
//! # }
//! ```
//!
//! # Features
//! `rustls-ring` (default), `rustls-aws-lc` and `rustls-no-provider` enable TLS with the cryptography of ring, of
//! AWS-LC, or of the provider that the program has installed for its process, which takes precedence over the other
//! two; `native-tls` enables TLS of the operating system if none of them is enabled. Without any of the four an https
//! address is refused with an error that names them.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod answers;
mod called;
mod calls;
mod channel;
mod completion;
mod config;
mod confine;
mod connection;
mod content;
mod elicit;
mod error;
mod expand;
mod greeting;
mod headers;
mod icon;
mod kept;
mod listener;
mod logins;
mod name;
mod open_elicitations;
mod options;
mod process;
mod program;
mod prompts;
mod resource_tools;
mod resources;
mod review;
mod round_limits;
mod sampling;
mod schema;
mod server;
mod servers;
mod status;
mod task;
mod text;
mod tool;
mod tools;
mod transport;
mod watched;

pub use called::McpPromptError;
pub use windlass_mcp_auth as auth;

pub use channel::{McpChannel, McpChannelError};
pub use completion::McpCompletionOf;
pub use config::{McpConfigError, McpServerConfig, McpToolPolicy, McpTransport, ServerPlace, parse_config};
pub use confine::{ConfinedProgram, ProgramConfinement};
pub use elicit::{Elicitation, ElicitationAnswer, ElicitationKind, ElicitationRequest};
pub use error::{McpError, McpVisit};
pub use expand::expand as expand_variables;
pub use icon::McpIcon;
pub use kept::McpToolCache;
pub use open_elicitations::{ElicitationNotOpen, OpenElicitation, OpenElicitations};
pub use options::McpOptions;
pub use prompts::{McpPrompt, McpPromptArgument};
pub use resources::{McpResource, McpResourceAddress};
pub use review::ElicitationReview;
pub use round_limits::RoundLimits;
pub use sampling::{Sampling, SamplingAnswer, SamplingLimits, SamplingMessage, SamplingRequest};
pub use servers::{McpChanges, McpServers};
pub use status::{
    McpInstructions, McpMissing, McpServerInfo, McpServerState, McpServerStatus, McpToolHints, McpToolInfo,
    McpToolLeftOut,
};
pub use watched::McpResourceChange;
