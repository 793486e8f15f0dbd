//! How a connection ends.

use crate::listener::Listener;
use crate::process::{LastWords, Process};
use rmcp::service::{QuitReason, RoleClient, RunningService, RunningServiceCancellationToken};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::timeout;

/// How long informing a server of the end may take.
const GOODBYE: Duration = Duration::from_millis(1000);
/// How long the end of a program may take, when it is waited for.
const END: Duration = Duration::from_millis(2500);
/// How long the last words of a program that was lost are waited for.
const LINGER: Duration = Duration::from_millis(200);

/// What ends a connection, and knows when that has happened.
pub(super) struct Ending {
    /// Taken when the connection should end.
    stop: Mutex<Option<RunningServiceCancellationToken>>,
    /// The server, if it is a program.
    process: Option<Process>,
    over: watch::Receiver<bool>,
}

/// The end of a connection: ready when it has ended by itself or by order.
pub(crate) struct Ended(RunningService<RoleClient, Listener>, watch::Sender<bool>);

impl Ended {
    pub(crate) async fn wait(self) {
        // Dropping the sender is the signal.
        let _over = self.1;
        if let Ok(QuitReason::JoinError(error)) | Err(error) = self.0.waiting().await {
            tracing::warn!(%error, "the connection to an MCP server failed");
        }
    }
}

impl Ending {
    /// Of a connection that runs as this service.
    pub(super) fn of(service: RunningService<RoleClient, Listener>, process: Option<Process>) -> (Self, Ended) {
        let (over_in, over) = watch::channel(false);
        let ending = Self { stop: Mutex::new(Some(service.cancellation_token())), process, over };
        (ending, Ended(service, over_in))
    }

    /// Whether the server is a program.
    pub(super) fn is_of_program(&self) -> bool {
        self.process.is_some()
    }

    /// The last words of a program.
    pub(super) fn last_words(&self) -> LastWords {
        self.process.as_ref().map(|process| process.words().clone()).unwrap_or_default()
    }

    /// Ends the connection, and waits a bounded time until the server is informed and no process of a program is left.
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

    /// Waits a moment for the last words of a program that was lost, or for the end of another connection.
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
