use std::io;

use crate::HttpError;

/// Reason why a credential proxy could not start. Shows no credential.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProxyError {
    /// There is no credential.
    #[error("no API key: set ANTHROPIC_API_KEY, or ANTHROPIC_AUTH_TOKEN for a gateway")]
    NoCredential,
    /// The base URL, the credential or a header is unusable.
    #[error("{0}")]
    Configuration(#[source] HttpError),
    /// Listening on a loopback address failed.
    #[error("cannot listen on a loopback address")]
    Bind(#[source] io::Error),
    /// The system gives no random numbers.
    #[error("the system gives no random numbers")]
    Randomness,
}
