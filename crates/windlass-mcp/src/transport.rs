//! Ways to a server.

mod correlate;
mod host;
mod http;
mod intake;
mod lines;
mod sent;

pub(crate) use host::HostTransport;
pub(crate) use http::{http_transport, was_not_sent};
pub(crate) use lines::{Fault, Lines};
pub(crate) use sent::Sent;

use windlass_types::JsonError;

/// Why a message does not reach a server.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SendError {
    #[error("the connection is closed")]
    Closed,
    #[error("too many messages wait to be sent")]
    TooMany,
    #[error("the message cannot be written: {0}")]
    Write(#[from] std::io::Error),
    #[error("{0}")]
    Channel(#[from] crate::McpChannelError),
    #[error("the answer is not a message: {0}")]
    BadAnswer(String),
    #[error("the message is not JSON: {0}")]
    Json(#[from] JsonError),
}

/// A task that does not outlive its handle.
#[derive(Debug)]
pub(crate) struct AbortOnDrop(pub(crate) tokio::task::AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}
