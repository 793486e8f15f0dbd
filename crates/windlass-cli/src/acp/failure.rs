//! Errors of the library for a client of the protocol.

use windlass_acp::AcpError;

/// Error of the library, in the form that a client receives.
pub(super) fn failed(error: &windlass::Error) -> AcpError {
    use windlass::session::OpenError;
    match error {
        windlass::Error::Model(model) if model.kind == windlass::provider::ModelErrorKind::Authentication => {
            AcpError::auth_required(error.to_string())
        }
        windlass::Error::Open(OpenError::NotFound { .. }) | windlass::Error::NoTitle { .. } => {
            AcpError::not_found(error.to_string())
        }
        _ => AcpError::internal(error.to_string()),
    }
}
