//! Begin of a connection: with a handshake, as in revisions up to 2025-11-25, or without one, as in later revisions.

use crate::McpTransport;
use crate::greeting::GreetingFailure;
use rmcp::model::ProtocolVersion;
use rmcp::service::ClientLifecycleMode;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Maximum time for a server to reject an unknown `server/discover`. Some servers leave unknown requests unanswered.
const DISCOVERY: Duration = Duration::from_secs(5);

/// Way in which a connection begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ConnectionLifecycle {
    /// Begins with the `initialize` handshake.
    Initialize,
    /// Begins with `server/discover`; each request carries the necessary context.
    Discover,
}

impl ConnectionLifecycle {
    /// Returns the lifecycle to try first, and the fallback: the one that the server knew last time comes first.
    /// Endpoints answer unknown requests, so they are asked for the newest revision first. Most programs were written
    /// for the handshake, and some of them end at a request that they do not know.
    pub(crate) fn order(transport: &McpTransport, known: Option<Self>) -> [Self; 2] {
        let is_endpoint = matches!(transport, McpTransport::Http { .. });
        match known.unwrap_or(if is_endpoint { Self::Discover } else { Self::Initialize }) {
            Self::Initialize => [Self::Initialize, Self::Discover],
            Self::Discover => [Self::Discover, Self::Initialize],
        }
    }

    pub(crate) fn mode(self) -> ClientLifecycleMode {
        match self {
            Self::Initialize => ClientLifecycleMode::Initialize,
            Self::Discover => ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::LATEST] },
        }
    }

    /// Returns the maximum duration of the greeting within the time `whole`: shorter if support of this lifecycle is
    /// only a guess.
    pub(crate) fn limit(self, is_guess: bool, whole: Duration) -> Duration {
        if is_guess && self == Self::Discover { DISCOVERY.min(whole / 4) } else { whole }
    }

    /// `true` if a server that failed this greeting may be greeted in the other way.
    pub(crate) fn may_be_other(self, failed: &GreetingFailure) -> bool {
        match failed {
            failed if failed.is_other_lifecycle() => true,
            // Endpoints, gateways before them and programs reject unknown requests in many ways.
            GreetingFailure::Failed(_) | GreetingFailure::Ended { .. } => self == Self::Discover,
            _ => false,
        }
    }

    /// Returns the failure that explains more: the first one, by this lifecycle, or the second one.
    pub(crate) fn better(self, first: GreetingFailure, second: GreetingFailure) -> GreetingFailure {
        match (&first, &second) {
            (_, GreetingFailure::NeedsAuth | GreetingFailure::UnknownVersion(_)) => second,
            (GreetingFailure::Refused(_), _) if self == Self::Initialize => first,
            _ => second,
        }
    }
}
