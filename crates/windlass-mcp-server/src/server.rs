//! A server and its transports.

use crate::handler::{Handler, Offer};
use crate::{McpLibrary, McpService, ServeError, ServedChanges};
use rmcp::ServiceExt;
use std::fmt;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};

/// An MCP server: what it is called, and what it offers.
#[must_use = "no client is answered until the server serves"]
pub struct McpServer(Offer);

impl McpServer {
    /// A server that introduces itself with this name and version, and offers no tools yet.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self(Offer::new(name.into(), version.into()))
    }

    /// Sets what clients may say to their models on the use of the tools. Default: no text.
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.0.instructions = Some(text.into());
        self
    }

    /// Adds the tools of a service. Of two tools with one name that which was added first counts.
    pub fn service(self, service: impl McpService) -> Self {
        self.shared_service(Arc::new(service))
    }

    /// The same with a service that the program keeps, too.
    pub fn shared_service(mut self, service: Arc<dyn McpService>) -> Self {
        self.0.services.push(service);
        self
    }

    /// Adds resources and prompts. Of two with one address or name that which was added first counts.
    pub fn library(mut self, library: impl McpLibrary) -> Self {
        self.0.libraries.push(Arc::new(library));
        self
    }

    /// What informs clients of changes of what is offered. Once it was asked for, clients learn that changes are reported.
    #[must_use]
    pub fn changes(&mut self) -> ServedChanges {
        self.0.changes.get_or_insert_with(ServedChanges::new).clone()
    }

    /// Serves one client over the standard streams of the process, until it closes them. The program must not write anything
    /// else to its standard output meanwhile.
    ///
    /// # Errors
    /// The client did not greet, or a stream failed.
    pub async fn serve_stdio(self) -> Result<(), ServeError> {
        self.serve(tokio::io::stdin(), tokio::io::stdout()).await
    }

    /// Serves one client over two streams: a JSON-RPC message a line, of at most 16 MiB. Returns when the client has closed its
    /// side; calls that still run are dropped then, and so they are when this future is dropped.
    ///
    /// # Errors
    /// The client did not greet, or a stream failed.
    pub async fn serve(
        self,
        read: impl AsyncRead + Send + Unpin + 'static,
        write: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Result<(), ServeError> {
        let handler = Handler::new(Arc::new(self.0), ());
        let greeted = handler.serve((read, write)).await;
        let running = match greeted {
            Ok(running) => running,
            // A client that goes before it has said anything is no error of the program.
            Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(ServeError::Greeting(error.to_string())),
        };
        running.waiting().await.map_err(|error| ServeError::Greeting(error.to_string()))?;
        Ok(())
    }

    #[cfg(feature = "http")]
    pub(crate) fn into_offer(self) -> Offer {
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
