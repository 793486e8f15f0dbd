//! Reports of the proxy's decisions.

use std::fmt;
use std::net::SocketAddr;

/// Decision of the proxy on a request.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EgressEvent {
    /// Host and port, in their canonical form. `None` if the request named none that is readable, or showed no token.
    pub target: Option<String>,
    /// Address of the client. `None` on a Unix socket.
    pub from: Option<SocketAddr>,
    /// Outcome of the request.
    pub outcome: EgressOutcome,
}

/// Outcome of a request to the proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum EgressOutcome {
    /// The request was allowed by this entry, or by an answer if the text is empty.
    Allowed(String),
    /// The request was denied by the policy, for this reason.
    Denied(String),
    /// The policy has no entry for the target, and the request was refused: nobody was asked, or the answer was no.
    Undecided,
    /// The request was allowed but the target could not be reached, for this reason.
    Failed(String),
    /// The request is none that a proxy serves, for this reason.
    Malformed(String),
    /// The request showed no token, or a wrong one.
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
