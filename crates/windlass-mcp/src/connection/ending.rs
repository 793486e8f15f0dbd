//! End of a connection.

use crate::listener::ServerListener;
use crate::process::{LastWords, ServerProcess};
use rmcp::service::{QuitReason, RoleClient, RunningService, RunningServiceCancellationToken};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::timeout;

/// Maximum time to inform a server of the end.
const GOODBYE: Duration = Duration::from_millis(1000);
/// Maximum time to wait for the end of a program.
const END: Duration = Duration::from_millis(2500);
/// Maximum time to wait for the last output of a lost program.
const LINGER: Duration = Duration::from_millis(200);

/// Handle that ends a connection, and knows when it has ended.
pub(super) struct ConnectionCloser {
    /// Cancellation token of the service; taken when the connection is to end.
    stop: Mutex<Option<RunningServiceCancellationToken>>,
    /// Process of the server, if it is a program.
    process: Option<ServerProcess>,
    over: watch::Receiver<bool>,
}

/// End of a connection: ready when the connection has ended, by itself or on request.
pub(crate) struct ConnectionEnd(RunningService<RoleClient, ServerListener>, watch::Sender<bool>);

impl ConnectionEnd {
    pub(crate) async fn wait(self) {
        // Dropping the sender is the signal.
        let _over = self.1;
        if let Ok(QuitReason::JoinError(error)) | Err(error) = self.0.waiting().await {
            tracing::warn!(%error, "the connection to an MCP server failed");
        }
    }
}

impl ConnectionCloser {
    /// Creates the handle of a connection that runs as this service.
    pub(super) fn of(
        service: RunningService<RoleClient, ServerListener>,
        process: Option<ServerProcess>,
    ) -> (Self, ConnectionEnd) {
        let (over_in, over) = watch::channel(false);
        let ending = Self { stop: Mutex::new(Some(service.cancellation_token())), process, over };
        (ending, ConnectionEnd(service, over_in))
    }

    /// `true` if the server is a program.
    pub(super) fn is_of_program(&self) -> bool {
        self.process.is_some()
    }

    /// Returns the last output of a program.
    pub(super) fn last_words(&self) -> LastWords {
        self.process.as_ref().map(|process| process.words().clone()).unwrap_or_default()
    }

    /// Closes the connection, and waits a bounded time until the server is informed and no process of a program is
    /// left.
    pub(super) async fn close(&self) {
        self.stop();
        let _ = timeout(GOODBYE, self.over.clone().wait_for(|over| *over)).await;
        if let Some(process) = &self.process {
            let _ = timeout(END, process.ended()).await;
        }
    }

    pub(super) fn stop(&self) {
        if let Some(stop) = self.stop.lock().unwrap_or_else(PoisonError::into_inner).take() {
            stop.cancel();
        }
        if let Some(process) = &self.process {
            process.stop();
        }
    }

    /// Waits a bounded time for the last output of a lost program, or for the end of another connection.
    pub(super) async fn linger(&self) {
        if let Some(process) = &self.process {
            process.stop();
            let _ = timeout(LINGER, process.ended()).await;
        } else {
            let _ = timeout(LINGER, self.over.clone().wait_for(|over| *over)).await;
        }
    }

    /// `true` once the connection has ended.
    pub(super) fn is_over(&self) -> bool {
        // The sender is dropped at the end.
        *self.over.borrow() || self.over.has_changed().is_err()
    }
}
