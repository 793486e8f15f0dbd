//! What can go wrong on the way to another process.

use crate::channel::requests::AskError;
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;
use windlass_hook::HooksError;
use windlass_types::JsonError;

/// Why a client cannot do what it was asked to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// There is no such program.
    #[error("there is no program {}", .program.display())]
    NotFound {
        /// The program.
        program: PathBuf,
    },
    /// The program is there, but cannot be run.
    #[error("{} cannot be run: {source}", .program.display())]
    NotExecutable {
        /// The program.
        program: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The directory that the program should start in is not there.
    #[error("there is no directory {} to start in", .directory.display())]
    NoDirectory {
        /// The directory.
        directory: PathBuf,
    },
    /// The program could not be started for another reason.
    #[error("{} could not be started: {source}", .program.display())]
    Spawn {
        /// The program.
        program: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The program ended by itself with a failure, or had to be ended.
    #[error("the program ended ({status}){}", last_words(.stderr))]
    Exited {
        /// How it ended.
        status: ExitStatus,
        /// The last of what it wrote to standard error.
        stderr: String,
    },
    /// A line that came is not of the host protocol.
    #[error("what came is not a message of the host protocol: {problem}: {start}")]
    Malformed {
        /// What is wrong.
        problem: String,
        /// How the line begins.
        start: String,
    },
    /// A line that came is too long.
    #[error("a line that came is longer than {limit} bytes")]
    TooLong {
        /// The limit.
        limit: usize,
    },
    /// A message to be sent is too long for a line.
    #[error("what should be sent is longer than {limit} bytes")]
    RequestTooLong {
        /// The limit.
        limit: usize,
    },
    /// A message to be sent cannot be written as JSON.
    #[error("what should be sent is not acceptable: {0}")]
    Unacceptable(#[from] JsonError),
    /// The other side refused an order.
    #[error("{error}")]
    Refused {
        /// Its reason.
        error: String,
        /// A word for programs, such as `unsupported_request`, if it gave one.
        code: Option<String>,
    },
    /// The other side did not answer an order in time.
    #[error("{order} was not answered within {} s", .limit.as_secs_f64())]
    TimedOut {
        /// The order, such as `initialize`.
        order: String,
        /// How long was waited.
        limit: Duration,
    },
    /// The other side lacks a feature that this client needs to be safe.
    /// A hook would never be asked about something that it listens to.
    #[error(transparent)]
    Hooks(#[from] HooksError),
    /// The other side lacks something that this client needs to be safe.
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
