//! The owner of the sessions behind a server.

use crate::client::AcpClient;
use crate::conversation::AcpConversation;
use crate::error::AcpError;
use crate::mcp_server::AcpMcpServer;
use async_trait::async_trait;
use std::path::PathBuf;
use windlass_types::{ContentBlock, JsonText, Timestamp, ToolResult};

/// Owner of the sessions behind an [`AcpServer`](crate::AcpServer).
///
/// The methods run beside each other, one call for each request.
///
/// ```
/// use async_trait::async_trait;
/// use windlass_acp::{AcpAgent, AcpConversation, AcpError, AcpOptions, AcpServer, AcpSession};
/// use windlass_acp::{HistoryEntry, SessionPage, SessionQuery};
///
/// struct NoSessions;
///
/// #[async_trait]
/// impl AcpAgent for NoSessions {
///     async fn begin(&self, session: AcpSession) -> Result<AcpConversation, AcpError> {
///         Err(AcpError::not_found(format!("no session can be opened in {}", session.cwd.display())))
///     }
///     async fn history(&self, id: &str) -> Result<Vec<HistoryEntry>, AcpError> {
///         Err(AcpError::not_found(format!("there is no session {id}")))
///     }
///     async fn list(&self, _: SessionQuery) -> Result<SessionPage, AcpError> {
///         Ok(SessionPage::default())
///     }
///     async fn delete(&self, _: &str) -> Result<(), AcpError> {
///         Ok(())
///     }
/// }
///
/// # async fn serve(ids: std::sync::Arc<dyn windlass_tool::Ids>) -> Result<(), windlass_acp::AcpServerError> {
/// let server = AcpServer::new(AcpOptions::new("my-agent", "1.0.0", ids), NoSessions);
/// server.serve(tokio::io::empty(), tokio::io::sink(), std::future::pending()).await?;
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait AcpAgent: Send + Sync + 'static {
    /// Begins a conversation in a new session, or one that continues a stored session. The session itself is opened by
    /// the first prompt.
    ///
    /// # Errors
    /// The session is unknown, or its configuration is unusable.
    async fn begin(&self, session: AcpSession) -> Result<AcpConversation, AcpError>;

    /// The whole history of a stored session, in order, with all that was said before compactions.
    ///
    /// # Errors
    /// The session is unknown, or its log cannot be read.
    async fn history(&self, id: &str) -> Result<Vec<HistoryEntry>, AcpError>;

    /// A page of the stored sessions, the latest first.
    ///
    /// # Errors
    /// The cursor is unusable, or the sessions cannot be listed.
    async fn list(&self, query: SessionQuery) -> Result<SessionPage, AcpError>;

    /// Deletes a stored session. An unknown one is no error.
    ///
    /// # Errors
    /// The session cannot be deleted.
    async fn delete(&self, id: &str) -> Result<(), AcpError>;

    /// Logs in by the method with this id, one of [`AcpOptions::auth_methods`](crate::AcpOptions::auth_methods).
    /// Default: nothing is to be done.
    ///
    /// # Errors
    /// The login failed.
    async fn authenticate(&self, method: &str) -> Result<(), AcpError> {
        let _ = method;
        Ok(())
    }
}

/// Session that a client wants.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AcpSession {
    /// Id of the session: a fresh one for a new session, which it is to get.
    pub id: String,
    /// Beginning of the session.
    pub start: AcpStart,
    /// Working directory, absolute.
    pub cwd: PathBuf,
    /// Directories beside the working directory that tools may work in, absolute.
    pub additional_directories: Vec<PathBuf>,
    /// MCP servers that the client brings. Unlike a server of the user's own settings, none of them is trusted.
    pub mcp_servers: Vec<AcpMcpServer>,
    /// Client of the session, for questions of MCP servers and for buffers.
    pub client: AcpClient,
}

/// Beginning of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AcpStart {
    /// A new session.
    New,
    /// A stored session, whose history the client is shown.
    Load,
    /// A stored session, whose history the client knows.
    Resume,
}

/// Entry of the history of a session.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum HistoryEntry {
    /// A prompt of the person.
    Prompt(Vec<ContentBlock>),
    /// A message of the model, with its tool calls.
    Message(Vec<ContentBlock>),
    /// The result of a tool call.
    Result(ToolResult),
    /// The todo list, a JSON array.
    Todos(JsonText),
    /// The title of the session.
    Title(String),
}

/// Query of stored sessions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct SessionQuery {
    /// Directory of the sessions. Default: all directories.
    pub cwd: Option<PathBuf>,
    /// [`SessionPage::next_cursor`] of the page before.
    pub cursor: Option<String>,
}

/// Page of stored sessions.
#[derive(Debug, Clone, PartialEq, Default)]
#[expect(clippy::exhaustive_structs, reason = "agents make it")]
pub struct SessionPage {
    /// Sessions, the latest first.
    pub sessions: Vec<ListedSession>,
    /// Cursor of the next page, if there is one.
    pub next_cursor: Option<String>,
}

/// Stored session in a list.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "agents make it")]
pub struct ListedSession {
    /// Id of the session.
    pub id: String,
    /// Working directory, absolute.
    pub cwd: PathBuf,
    /// Title, or the beginning of the first prompt.
    pub title: Option<String>,
    /// Time of the last change.
    pub updated_at: Option<Timestamp>,
}
