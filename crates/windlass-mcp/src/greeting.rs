//! How a server is greeted, and why it is not.

use crate::McpError;
use crate::listener::Listener;
use crate::text::{LONGEST_ERROR, chain, clipped};
use rmcp::model::{ErrorCode, ProtocolVersion};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, RoleClient, RunningService, serve_client_with_lifecycle,
};
use rmcp::transport::Transport;

/// The version of the first servers. Later versions include all its messages.
const FIRST_VERSION: &str = "2024-10-07";

/// Why a server was not greeted.
pub(crate) enum Greeting {
    /// It does not know the handshake.
    NoHandshake,
    NeedsAuth,
    Unsupported(&'static str),
    UnknownVersion(String),
    Failed(String),
    /// A program that was not greeted has ended.
    Ended {
        reason: String,
        /// What it wrote, with a leading semicolon.
        output: String,
    },
}

/// A version that neither the library knows nor the first servers speak.
pub(crate) fn unknown_version(version: &ProtocolVersion) -> Option<String> {
    let is_known = ProtocolVersion::KNOWN_VERSIONS.contains(version) || version.as_str() == FIRST_VERSION;
    (!is_known).then(|| clipped(version.as_str(), 40))
}

/// The versions that are known, for people.
fn known_versions() -> String {
    let known = ProtocolVersion::KNOWN_VERSIONS.iter().map(ProtocolVersion::as_str);
    [FIRST_VERSION].into_iter().chain(known).collect::<Vec<_>>().join(", ")
}

impl Greeting {
    pub(crate) fn into_error(self, name: &str) -> McpError {
        let name = name.to_owned();
        match self {
            Self::NeedsAuth => McpError::NeedsAuth { name },
            Self::Unsupported(transport) => McpError::Unsupported { name, transport },
            Self::UnknownVersion(version) => McpError::UnknownVersion { name, version, known: known_versions() },
            Self::NoHandshake => McpError::NotConnected {
                name,
                reason: "it does not speak a protocol version that is known here".to_owned(),
                output: String::new(),
            },
            Self::Failed(reason) => Self::Ended { reason, output: String::new() }.into_error(&name),
            Self::Ended { reason, output } => {
                let [reason, output] = [reason, output].map(|text| clipped(&text, 3 * LONGEST_ERROR));
                McpError::NotConnected { name, reason, output }
            }
        }
    }
}

pub(crate) async fn greet<T: Transport<RoleClient> + 'static>(
    listener: Listener,
    transport: T,
    lifecycle: ClientLifecycleMode,
) -> Result<RunningService<RoleClient, Listener>, Greeting> {
    serve_client_with_lifecycle(listener, transport, lifecycle).await.map_err(|error| match error {
        error if error.is_authorization_required() => Greeting::NeedsAuth,
        ClientInitializeError::JsonRpcError(error)
            if matches!(error.code, ErrorCode::METHOD_NOT_FOUND | ErrorCode::UNSUPPORTED_PROTOCOL_VERSION) =>
        {
            Greeting::NoHandshake
        }
        ClientInitializeError::JsonRpcError(error) => {
            Greeting::Failed(format!("it refused the greeting: {}", error.message))
        }
        ClientInitializeError::ConnectionClosed(_) => Greeting::Failed("it closed the connection".to_owned()),
        ClientInitializeError::TransportError { error, .. } => Greeting::Failed(chain(&*error.error)),
        // The texts of the other kinds show whole messages.
        _ => Greeting::Failed("its answer to the greeting is not understood".to_owned()),
    })
}
