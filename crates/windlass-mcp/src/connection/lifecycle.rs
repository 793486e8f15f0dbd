//! How a connection begins: by a handshake, as in revisions up to 2025-11-25, or without one, as in those after it.

use crate::McpTransport;
use crate::greeting::Greeting;
use rmcp::model::ProtocolVersion;
use rmcp::service::ClientLifecycleMode;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How long a server that may know no `server/discover` may take to say so. Some leave unknown requests unanswered.
const DISCOVERY: Duration = Duration::from_secs(5);

/// How a connection begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Lifecycle {
    /// By the `initialize` handshake.
    Initialize,
    /// By `server/discover`; each request carries what it needs.
    Discover,
}

impl Lifecycle {
    /// The one to begin with, and the one to fall back on: what the server knew the last time comes first. A request
    /// that an endpoint does not know is answered, so endpoints are asked for the newest revision first. Programs were
    /// all written for the handshake until lately, and some of them end at a request that they do not know.
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

    /// How long the greeting may take, of the time that there is for it: not long if it is only a guess that the server
    /// knows this way.
    pub(crate) fn limit(self, is_guess: bool, whole: Duration) -> Duration {
        if is_guess && self == Self::Discover { DISCOVERY.min(whole / 4) } else { whole }
    }

    /// Whether a server that was not greeted like this may be greeted in the other way.
    pub(crate) fn may_be_other(self, failed: &Greeting) -> bool {
        match failed {
            failed if failed.is_other_lifecycle() => true,
            // Endpoints, gateways before them and programs answer what they do not know in many ways.
            Greeting::Failed(_) | Greeting::Ended { .. } => self == Self::Discover,
            _ => false,
        }
    }

    /// Which of the two failures explains more: the first one, by this way, or the second one.
    pub(crate) fn better(self, first: Greeting, second: Greeting) -> Greeting {
        match (&first, &second) {
            (_, Greeting::NeedsAuth | Greeting::UnknownVersion(_)) => second,
            (Greeting::Refused(_), _) if self == Self::Initialize => first,
            _ => second,
        }
    }
}
