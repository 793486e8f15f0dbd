//! Errors of clients.

use crate::channel::requests::AskError;
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;
use windlass_hook::HooksError;
use windlass_types::JsonError;

/// Error of a client.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The program does not exist.
    #[error("there is no program {}", .program.display())]
    NotFound {
        /// Path of the program.
        program: PathBuf,
    },
    /// The program exists, but cannot be run.
    #[error("{} cannot be run: {source}", .program.display())]
    NotExecutable {
        /// Path of the program.
        program: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// The start directory of the program does not exist.
    #[error("there is no directory {} to start in", .directory.display())]
    NoDirectory {
        /// Path of the directory.
        directory: PathBuf,
    },
    /// The program could not be started for another reason.
    #[error("{} could not be started: {source}", .program.display())]
    Spawn {
        /// Path of the program.
        program: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// The program ended by itself with a failure, or had to be killed.
    #[error("the program ended ({status}){}", last_words(.stderr))]
    Exited {
        /// Exit status of the program.
        status: ExitStatus,
        /// Last output on standard error.
        stderr: String,
    },
    /// A received line violates the host protocol.
    #[error("what came is not a message of the host protocol: {problem}: {start}")]
    Malformed {
        /// Problem with the line.
        problem: String,
        /// Beginning of the line.
        start: String,
    },
    /// A received line is too long.
    #[error("a line that came is longer than {limit} bytes")]
    TooLong {
        /// Maximum number of bytes of a line.
        limit: usize,
    },
    /// A message is too long for a line.
    #[error("what should be sent is longer than {limit} bytes")]
    RequestTooLong {
        /// Maximum number of bytes of a line.
        limit: usize,
    },
    /// A message cannot be written as JSON.
    #[error("what should be sent is not acceptable: {0}")]
    Unacceptable(#[from] JsonError),
    /// The other side refused a control request.
    #[error("{error}")]
    Refused {
        /// Reason of the refusal.
        error: String,
        /// Code for programs, such as `unsupported_request`, if there is one.
        code: Option<String>,
    },
    /// The other side did not answer a control request in time.
    #[error("{order} was not answered within {} s", .limit.as_secs_f64())]
    TimedOut {
        /// Subtype of the request, such as `initialize`.
        order: String,
        /// Time limit of the answer.
        limit: Duration,
    },
    /// A hook could never be called for an event that it listens to.
    #[error(transparent)]
    Hooks(#[from] HooksError),
    /// The other side lacks a feature that this client needs to be safe.
    #[error("the other side does not support {0}")]
    Unsupported(String),
    /// The other side can no longer be reached. [`Client::next`](crate::client::Client::next) returns the reason.
    #[error("the other side can no longer be reached")]
    Closed,
    /// The stream failed.
    #[error("the stream failed: {0}")]
    Io(#[source] io::Error),
}

impl ClientError {
    pub(super) fn of_order(order: &str, error: AskError, max_line: usize) -> Self {
        match error {
            AskError::Refused(refusal) => Self::Refused { error: refusal.error, code: refusal.code },
            AskError::TimedOut(limit) => Self::TimedOut { order: order.to_owned(), limit },
            AskError::TooLong => Self::RequestTooLong { limit: max_line },
            AskError::Gone | AskError::Withdrawn => Self::Closed,
        }
    }
}

fn last_words(stderr: &str) -> String {
    let stderr = stderr.trim();
    if stderr.is_empty() { String::new() } else { format!(": {stderr}") }
}
