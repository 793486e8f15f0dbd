//! Transports to a server.

mod answer_stream;
mod authorized;
mod correlate;
mod events;
mod execution;
mod host;
mod http;
mod intake;
mod lines;
mod salvage;
mod sent;
mod sse;

pub(crate) use authorized::lacks_rights;
pub(crate) use execution::supports_tasks;
pub(crate) use host::HostTransport;
pub(crate) use http::{Address, http_transport, was_not_sent};
pub(crate) use lines::{LineFault, LineTransport};
pub(crate) use salvage::{UNANSWERED, UNREADABLE};
pub(crate) use sent::Sent;
pub(crate) use sse::SseTransport;

use windlass_types::JsonError;

/// Reason why a message does not reach a server.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SendError {
    #[error("the server wants a login")]
    LacksRights,
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
    #[error("{0}")]
    Http(reqwest::Error),
    #[error("the server answered with the status {0}")]
    Status(String),
    #[error("the server did not answer in time")]
    NoStatus,
    #[error("the message is not JSON: {0}")]
    Json(#[from] JsonError),
}

/// Handle that aborts its task when it is dropped.
#[derive(Debug)]
pub(crate) struct AbortOnDrop(pub(crate) tokio::task::AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}
