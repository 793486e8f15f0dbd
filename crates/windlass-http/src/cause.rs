//! Causes of a failure of the HTTP stack.

use std::error::Error as StdError;
use std::io;

#[cfg(feature = "rustls-no-provider")]
use rustls::{AlertDescription, CertificateError, Error as TlsError};

/// Maximum number of characters of the causes in a message.
const MAX_TEXT: usize = 300;

type ErrorCause = dyn StdError + 'static;

/// Returns an error and its sources, outermost first.
fn causes(error: &ErrorCause) -> impl Iterator<Item = &ErrorCause> {
    std::iter::successors(Some(error), |error| next_cause(*error))
}

fn next_cause(error: &ErrorCause) -> Option<&ErrorCause> {
    match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        // The source of such an error is not the wrapped error, but the source of that one.
        Some(wrapped) => Some(wrapped),
        None => error.source(),
    }
}

/// Joins the messages of the errors behind a failure on one line.
pub(crate) fn text(error: &ErrorCause) -> String {
    let mut messages: Vec<String> = Vec::new();
    for cause in causes(error).skip(1) {
        let text = cause.to_string();
        let is_known = messages.iter().any(|known| known.contains(&text));
        // The outer message names the failed operation; this one names the reason.
        if !is_known && !text.starts_with("client error (") {
            messages.push(text);
        }
    }
    let line = messages.join(": ");
    line.chars().map(|char| if char.is_control() { ' ' } else { char }).take(MAX_TEXT).collect()
}

/// `true` if nothing listens at the address.
pub(crate) fn is_refused(error: &reqwest::Error) -> bool {
    let is_refused = |cause: &ErrorCause| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
    };
    error.is_connect() && causes(error).any(is_refused)
}

/// `true` if the server closed the connection before a byte of its answer.
pub(crate) fn is_closed_by_server(error: &reqwest::Error) -> bool {
    if error.is_connect() || error.is_timeout() || error.is_builder() {
        return false;
    }
    let is_closed = |cause: &ErrorCause| match cause.downcast_ref::<io::Error>() {
        Some(error) => matches!(
            error.kind(),
            io::ErrorKind::ConnectionReset
                | io::ErrorKind::ConnectionAborted
                | io::ErrorKind::BrokenPipe
                | io::ErrorKind::UnexpectedEof
                | io::ErrorKind::NotConnected
        ),
        None => cause.to_string() == "connection closed before message completed",
    };
    causes(error).any(is_closed)
}

/// `true` if a proxy requires other credentials than the sent ones, if any.
pub(crate) fn is_refused_by_proxy(error: &ErrorCause) -> bool {
    causes(error).any(|cause| cause.to_string() == "tunnel error: proxy authorization required")
}

/// Returns advice for the user if no retry can make the connection secure; `None` for other failures.
#[cfg(not(any(feature = "rustls-no-provider", feature = "native-tls")))]
pub(crate) fn final_tls_failure(_error: &ErrorCause) -> Option<&'static str> {
    None
}

/// Returns advice for the user if no retry can make the connection secure; `None` for other failures.
#[cfg(feature = "rustls-no-provider")]
pub(crate) fn final_tls_failure(error: &ErrorCause) -> Option<&'static str> {
    let tls = causes(error).find_map(|cause| cause.downcast_ref::<TlsError>())?;
    match tls {
        TlsError::InvalidCertificate(certificate) => Some(match certificate {
            CertificateError::Expired
            | CertificateError::ExpiredContext { .. }
            | CertificateError::NotValidYet
            | CertificateError::NotValidYetContext { .. } => "check the clock of this machine",
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => "check the base URL",
            _ => TRUST,
        }),
        // The other side may be busy, or the sent data was damaged on its way.
        TlsError::AlertReceived(
            AlertDescription::InternalError | AlertDescription::CloseNotify | AlertDescription::UserCanceled,
        )
        | TlsError::DecryptError => None,
        _ => Some("check that the base URL names a server that speaks TLS 1.2 or 1.3"),
    }
}

/// Returns advice for the user if no retry can make the connection secure; `None` for other failures.
///
/// The system's TLS has no kinds of errors. A network failure has an I/O error as its source.
#[cfg(all(feature = "native-tls", not(feature = "rustls-no-provider")))]
pub(crate) fn final_tls_failure(error: &ErrorCause) -> Option<&'static str> {
    let tls = causes(error).find(|cause| cause.is::<native_tls::Error>())?;
    if causes(tls).any(|cause| cause.is::<io::Error>()) {
        return None;
    }
    let text = tls.to_string().to_lowercase();
    // OpenSSL: "certificate verify failed: (certificate has expired)", "(hostname mismatch)".
    Some(match text.contains("certificate") {
        true if text.contains("expired") || text.contains("not yet valid") => "check the clock of this machine",
        true if text.contains("mismatch") => "check the base URL",
        true => TRUST,
        false => "check that the base URL names a server that speaks TLS 1.2 or 1.3",
    })
}

/// Advice on making a certificate trusted.
#[cfg(any(feature = "rustls-no-provider", feature = "native-tls"))]
const TRUST: &str = "if you trust the authority that issued its certificate, let NODE_EXTRA_CA_CERTS name a PEM file with it \
                     (or SSL_CERT_FILE one with all that you trust), give it to the provider with `root_certificate_pem`, \
                     or add it to the trust store of this machine";
