//! Servers inside the host.

use async_trait::async_trait;
use std::sync::Arc;
use windlass_schema::ToolServer;
use windlass_tool::{SystemClock, SystemIds, ToolSet};
use windlass_types::JsonText;

/// Channel to a server that takes one message at a time.
///
/// The host protocol implements it for the in-process servers of its hosts; a Rust host can implement it for a server
/// of its own.
///
/// ```
/// use std::sync::Arc;
/// use windlass_mcp::{McpChannel, McpChannelError, McpServerConfig};
/// use windlass_types::JsonText;
///
/// /// Answers each request with an empty result.
/// struct Quiet;
///
/// #[async_trait::async_trait]
/// impl McpChannel for Quiet {
///     async fn send(&self, message: JsonText) -> Result<Option<JsonText>, McpChannelError> {
///         let unreadable = |error: windlass_types::JsonError| McpChannelError::new(error.to_string());
///         let request: serde_json::Value = message.to().map_err(unreadable)?;
///         // A notification has no id and gets no answer.
///         let Some(id) = request.get("id") else { return Ok(None) };
///         Ok(JsonText::of(&serde_json::json!({ "jsonrpc": "2.0", "id": id, "result": {} })).ok())
///     }
/// }
///
/// let server = McpServerConfig::in_process(Arc::new(Quiet));
/// assert!(server.is_in_process());
/// ```
#[async_trait]
pub trait McpChannel: Send + Sync + 'static {
    /// Hands over one JSON-RPC message. The answer to a request is its
    /// response; the answer to a notification or a response is
    /// ignored.
    ///
    /// Dropping the future withdraws the message as far as that is possible.
    ///
    /// # Errors
    /// Fails if the server cannot be reached, or refused the message as a whole.
    async fn send(&self, message: JsonText) -> Result<Option<JsonText>, McpChannelError>;

    /// Waits for a message that the server sends on its own; `None` when none will come any more. Default: never
    /// returns.
    async fn receive(&self) -> Option<JsonText> {
        std::future::pending().await
    }
}

/// Channel to tools of the host, which act as a server.
pub(crate) struct ToolChannel(ToolServer);

impl ToolChannel {
    pub(crate) fn new(name: String, tools: ToolSet) -> Self {
        let (clock, ids) = (Arc::new(SystemClock::default()), Arc::new(SystemIds::default()));
        Self(ToolServer::new(name, tools, clock, ids, Arc::default()))
    }
}

#[async_trait]
impl McpChannel for ToolChannel {
    async fn send(&self, message: JsonText) -> Result<Option<JsonText>, McpChannelError> {
        self.0.answer(&message).await.map(Some).map_err(|error| McpChannelError::new(error.to_string()))
    }
}

/// Reason why a message could not be handed over.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct McpChannelError(String);

impl McpChannelError {
    /// Creates an error with the reason, for people.
    pub fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}
