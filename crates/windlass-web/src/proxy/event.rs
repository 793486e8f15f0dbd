//! What is reported of each decision.

use std::fmt;
use std::net::SocketAddr;

/// What the proxy did with a request.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EgressEvent {
    /// Host and port, in their canonical form. `None` if the request named none that can be read, or showed no token.
    pub target: Option<String>,
    /// From where it came. `None` on a Unix socket.
    pub from: Option<SocketAddr>,
    /// What became of it.
    pub outcome: EgressOutcome,
}

/// What became of a request to the proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum EgressOutcome {
    /// It was let through. The entry that allows it, or empty if it was asked about.
    Allowed(String),
    /// It was refused by the policy, for this reason.
    Denied(String),
    /// The policy has no entry for it, and it was refused: it was not asked about, or the answer was no.
    Undecided,
    /// It was allowed but could not be reached, for this reason.
    Failed(String),
    /// The request is none that a proxy serves, for this reason.
    Malformed(String),
    /// It showed no token, or a wrong one.
    Unauthorized,
}

impl fmt::Display for EgressEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let target = self.target.as_deref().unwrap_or("a request");
        match &self.outcome {
            EgressOutcome::Allowed(entry) if entry.is_empty() => write!(f, "{target} was allowed when asked about"),
            EgressOutcome::Allowed(entry) => write!(f, "{target} is allowed by `{entry}`"),
            EgressOutcome::Denied(why) => write!(f, "refused: {why}"),
            EgressOutcome::Undecided => write!(f, "refused: {target} is not in the list of allowed hosts"),
            EgressOutcome::Failed(why) => write!(f, "{target} cannot be reached: {why}"),
            EgressOutcome::Malformed(why) => write!(f, "{target} cannot be served: {why}"),
            EgressOutcome::Unauthorized => write!(f, "a request without the token was refused"),
        }
    }
}
