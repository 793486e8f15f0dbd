//! The Agent Client Protocol: an editor or another client opens sessions, sends prompts and answers permission requests.
//!
//! [`AcpServer`] speaks JSON-RPC 2.0, one message a line, over any byte stream. Sessions come from an [`AcpAgent`], which
//! opens, lists and deletes them. Each session is a conversation of `windlass-conversation` in a task of its own, and this
//! crate its presenter: it translates, and decides nothing about calls.
//!
//! The version of the protocol is 1. All of its mapping is in one module, so that another version is another module.
//!
//! ```
//! use async_trait::async_trait;
//! use windlass_acp::{AcpAgent, AcpConversation, AcpError, AcpOptions, AcpServer, AcpSession};
//! use windlass_acp::{HistoryEntry, SessionPage, SessionQuery};
//!
//! struct NoSessions;
//!
//! #[async_trait]
//! impl AcpAgent for NoSessions {
//!     async fn begin(&self, session: AcpSession) -> Result<AcpConversation, AcpError> {
//!         Err(AcpError::not_found(format!("no session can be opened in {}", session.cwd.display())))
//!     }
//!     async fn history(&self, id: &str) -> Result<Vec<HistoryEntry>, AcpError> {
//!         Err(AcpError::not_found(format!("there is no session {id}")))
//!     }
//!     async fn list(&self, _: SessionQuery) -> Result<SessionPage, AcpError> {
//!         Ok(SessionPage::default())
//!     }
//!     async fn delete(&self, _: &str) -> Result<(), AcpError> {
//!         Ok(())
//!     }
//! }
//!
//! # async fn serve(ids: std::sync::Arc<dyn windlass_tool::Ids>) -> Result<(), windlass_acp::AcpServerError> {
//! let server = AcpServer::new(AcpOptions::new("my-agent", "1.0.0", ids), NoSessions);
//! server.serve(tokio::io::empty(), tokio::io::sink(), std::future::pending()).await?;
//! # Ok(())
//! # }
//! ```

#![cfg_attr(docsrs, feature(doc_cfg))]

mod agent;
mod conversation;
mod error;
mod line;
mod mcp_server;
mod options;
mod rpc;
mod server;
mod session;
mod v1;

pub use agent::{AcpAgent, AcpSession, AcpStart, HistoryEntry, ListedSession, SessionPage, SessionQuery};
pub use conversation::{AcpConversation, AcpModel};
pub use error::{AcpError, AcpErrorKind, AcpServerError};
pub use mcp_server::{AcpMcpServer, AcpMcpTransport};
pub use options::{AcpOptions, AuthMethod, AuthMethodKind};
pub use server::AcpServer;
