//! Server and its transports.

use crate::handler::{ClientHandler, ServerOffer};
use crate::{McpLibrary, McpService, ServeError, ServedChanges};
use rmcp::ServiceExt;
use std::fmt;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};

/// MCP server: its name, and its tools, prompts and resources.
#[must_use = "no client is answered until the server serves"]
pub struct McpServer(ServerOffer);

impl McpServer {
    /// Creates a server with this name and version, and without tools.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self(ServerOffer::new(name.into(), version.into()))
    }

    /// Sets the instructions on the use of the tools, for the models of clients. Default: no text.
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.0.instructions = Some(text.into());
        self
    }

    /// Adds the tools of a service. Of two tools with one name the first one added is used.
    pub fn service(self, service: impl McpService) -> Self {
        self.shared_service(Arc::new(service))
    }

    /// Adds the tools of a service that the program keeps, too.
    pub fn shared_service(mut self, service: Arc<dyn McpService>) -> Self {
        self.0.services.push(service);
        self
    }

    /// Adds resources and prompts. Of two with one address or name the first one added is used.
    pub fn library(mut self, library: impl McpLibrary) -> Self {
        self.0.libraries.push(Arc::new(library));
        self
    }

    /// Returns the sender of changes. Once it was requested, the server announces that it reports changes.
    #[must_use]
    pub fn changes(&mut self) -> ServedChanges {
        self.0.changes.get_or_insert_with(ServedChanges::new).clone()
    }

    /// Serves one client over the standard streams of the process, until the client closes them. The program must not
    /// write anything else to its standard output meanwhile.
    ///
    /// # Errors
    /// Fails if the client did not greet, or a stream failed.
    pub async fn serve_stdio(self) -> Result<(), ServeError> {
        self.serve(tokio::io::stdin(), tokio::io::stdout()).await
    }

    /// Serves one client over two streams: one JSON-RPC message per line, of at most 16 MiB. Returns when the client
    /// has closed its side; running calls are dropped then, and also when this future is dropped.
    ///
    /// # Errors
    /// Fails if the client did not greet, or a stream failed.
    pub async fn serve(
        self,
        read: impl AsyncRead + Send + Unpin + 'static,
        write: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Result<(), ServeError> {
        let handler = ClientHandler::new(Arc::new(self.0), ());
        let greeted = handler.serve((read, write)).await;
        let running = match greeted {
            Ok(running) => running,
            // A client that disconnects before its first message is no error of the program.
            Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(ServeError::Greeting(error.to_string())),
        };
        running.waiting().await.map_err(|error| ServeError::Greeting(error.to_string()))?;
        Ok(())
    }

    #[cfg(feature = "http")]
    pub(crate) fn into_offer(self) -> ServerOffer {
        self.0
    }
}

impl fmt::Debug for McpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpServer")
            .field("name", &self.0.name)
            .field("version", &self.0.version)
            .field("services", &self.0.services.len())
            .finish_non_exhaustive()
    }
}
