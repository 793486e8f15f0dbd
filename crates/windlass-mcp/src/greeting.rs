//! Greeting of a server, and reasons why it fails.

use crate::McpError;
use crate::listener::ServerListener;
use crate::text::{LONGEST_ERROR, chain, clipped};
use crate::transport::was_not_sent;
use rmcp::model::{ErrorCode, ProtocolVersion};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, RoleClient, RunningService, serve_client_with_lifecycle,
};
use rmcp::transport::Transport;

/// Version of the first servers. Later versions include all its messages.
const FIRST_VERSION: &str = "2024-10-07";

/// Reason why a greeting failed.
pub(crate) enum GreetingFailure {
    /// The server does not know the lifecycle with which the connection was to begin.
    NoSuchLifecycle,
    /// The server answered with another error, which has this message.
    Refused(String),
    /// The server has certainly not received anything.
    Unreached(String),
    NeedsAuth,
    UnknownVersion(String),
    Failed(String),
    /// A program has ended before it was greeted.
    Ended {
        reason: String,
        /// Output of the program, with a leading semicolon.
        output: String,
    },
}

/// Returns a version that neither the library knows nor the first servers speak.
pub(crate) fn unknown_version(version: &ProtocolVersion) -> Option<String> {
    let is_known = ProtocolVersion::KNOWN_VERSIONS.contains(version) || version.as_str() == FIRST_VERSION;
    (!is_known).then(|| clipped(version.as_str(), 40))
}

/// Returns the failure of a server that supports none of the versions without a handshake.
fn incompatible(supported: &[ProtocolVersion]) -> GreetingFailure {
    let has_handshake = |version: &ProtocolVersion| unknown_version(version).is_none() && version.has_initialize();
    if supported.is_empty() || supported.iter().any(has_handshake) {
        return GreetingFailure::NoSuchLifecycle;
    }
    let versions: Vec<&str> = supported.iter().take(10).map(ProtocolVersion::as_str).collect();
    GreetingFailure::UnknownVersion(clipped(&versions.join(", "), 200))
}

/// Returns the known versions, for people.
fn known_versions() -> String {
    let known = ProtocolVersion::KNOWN_VERSIONS.iter().map(ProtocolVersion::as_str);
    [FIRST_VERSION].into_iter().chain(known).collect::<Vec<_>>().join(", ")
}

impl GreetingFailure {
    /// `true` if the server answered, and may be greeted with the other lifecycle.
    pub(crate) fn is_other_lifecycle(&self) -> bool {
        matches!(self, Self::NoSuchLifecycle | Self::Refused(_))
    }

    pub(crate) fn into_error(self, name: &str) -> McpError {
        let name = name.to_owned();
        match self {
            Self::NeedsAuth => McpError::NeedsAuth { name, advice: String::new() },
            Self::UnknownVersion(version) => McpError::UnknownVersion { name, version, known: known_versions() },
            Self::NoSuchLifecycle => McpError::NotConnected {
                name,
                reason: "it does not speak a protocol version that is known here".to_owned(),
                output: String::new(),
            },
            Self::Refused(message) => Self::Failed(format!("it refused the greeting: {message}")).into_error(&name),
            Self::Failed(reason) | Self::Unreached(reason) => {
                Self::Ended { reason, output: String::new() }.into_error(&name)
            }
            Self::Ended { reason, output } => {
                let [reason, output] = [reason, output].map(|text| clipped(&text, 3 * LONGEST_ERROR));
                McpError::NotConnected { name, reason, output }
            }
        }
    }
}

pub(crate) async fn greet<T: Transport<RoleClient> + 'static>(
    listener: ServerListener,
    transport: T,
    lifecycle: ClientLifecycleMode,
) -> Result<RunningService<RoleClient, ServerListener>, GreetingFailure> {
    serve_client_with_lifecycle(listener, transport, lifecycle).await.map_err(|error| match error {
        error if error.is_authorization_required() => GreetingFailure::NeedsAuth,
        ClientInitializeError::JsonRpcError(error)
            if matches!(error.code, ErrorCode::METHOD_NOT_FOUND | ErrorCode::UNSUPPORTED_PROTOCOL_VERSION) =>
        {
            GreetingFailure::NoSuchLifecycle
        }
        ClientInitializeError::JsonRpcError(error) => GreetingFailure::Refused(error.message.into_owned()),
        ClientInitializeError::NoCompatibleProtocolVersion { server_supported, .. } => incompatible(&server_supported),
        ClientInitializeError::ConnectionClosed(_) => GreetingFailure::Failed("it closed the connection".to_owned()),
        ClientInitializeError::TransportError { error, .. } if was_not_sent(&*error.error) => {
            GreetingFailure::Unreached(chain(&*error.error))
        }
        ClientInitializeError::TransportError { error, .. } => GreetingFailure::Failed(chain(&*error.error)),
        // The texts of the other kinds show whole messages.
        _ => GreetingFailure::Failed("its answer to the greeting is not understood".to_owned()),
    })
}
