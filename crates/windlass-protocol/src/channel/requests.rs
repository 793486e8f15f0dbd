//! Outcomes of a control request to the other side.

use std::fmt;
use std::time::Duration;
use windlass_types::JsonText;

/// Reason for a missing answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AskError {
    /// The host is gone, or can no longer answer.
    Gone,
    /// The host answered with an error.
    Refused(ErrorResponse),
    /// The host did not answer in time.
    TimedOut(Duration),
    /// The run was stopped.
    #[cfg(feature = "server")]
    Withdrawn,
    /// The request is longer than the maximum line.
    TooLong,
}

impl fmt::Display for AskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gone => f.write_str("the host is gone"),
            Self::Refused(refusal) => refusal.fmt(f),
            Self::TimedOut(limit) => write!(f, "the host did not answer within {} s", limit.as_secs_f64()),
            #[cfg(feature = "server")]
            Self::Withdrawn => f.write_str("the run was stopped"),
            Self::TooLong => f.write_str("it is too long to be shown to the host"),
        }
    }
}

/// An error in place of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ErrorResponse {
    pub(crate) error: String,
    pub(crate) code: Option<String>,
}

impl fmt::Display for ErrorResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.error)
    }
}

impl From<String> for ErrorResponse {
    fn from(error: String) -> Self {
        Self { error, code: None }
    }
}

/// Answer of the host: its response, if there is one, or its error.
pub(crate) type HostResponse = Result<Option<JsonText>, ErrorResponse>;
