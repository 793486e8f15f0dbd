//! The Agent Client Protocol: an editor or another client opens sessions, sends prompts and answers permission requests.
//!
//! [`AcpServer`] speaks JSON-RPC 2.0, one message a line, over any byte stream. Sessions come from an [`AcpAgent`], which
//! opens, lists and deletes them. Each session is a conversation of `windlass-conversation` in a task of its own, and this
//! crate its presenter: it translates, and decides nothing about calls.
//!
//! The version of the protocol is 1. All of its mapping is in one module, so that another version is another module.
//!
//! [`AcpAgent`] has an example.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod agent;
mod buffers;
mod client;
mod client_request;
mod conversation;
mod elicitation;
mod error;
mod line;
mod mcp_server;
mod options;
mod rpc;
mod server;
mod session;
mod v1;

pub use agent::{AcpAgent, AcpSession, AcpStart, HistoryEntry, ListedSession, SessionPage, SessionQuery};
pub use client::AcpClient;
pub use conversation::{AcpConversation, AcpModel};
pub use elicitation::{AcpElicitation, AcpElicitationAnswer, AcpElicitationKind};
pub use error::{AcpError, AcpErrorKind, AcpServerError};
pub use mcp_server::{AcpMcpServer, AcpMcpTransport};
pub use options::{AcpOptions, AuthMethod, AuthMethodKind};
pub use server::AcpServer;
