use std::error::Error as StdError;
use std::net::IpAddr;

use crate::cause;

/// Failure of a request or its stream. An error answer of the server is no such failure. Shows neither credentials nor
/// the URL's query.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct HttpError {
    kind: HttpErrorKind,
    message: String,
    unsent: bool,
    refused_here: bool,
    #[source]
    source: Option<Box<dyn StdError + Send + Sync>>,
}

/// Stage at which a request failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HttpErrorKind {
    /// The base URL, a header or the TLS setup is unusable.
    Configuration,
    /// There was no connection, or it broke before the answer began.
    Connection,
    /// There was no trustworthy connection: no retry will change that.
    Tls,
    /// No bytes came for too long, or none that advanced the answer.
    Timeout,
    /// The connection broke inside the answer.
    Cut,
    /// The answer breaks the protocol or a limit.
    Protocol,
}

impl HttpError {
    /// Returns the stage at which the request failed.
    #[must_use]
    pub fn kind(&self) -> HttpErrorKind {
        self.kind
    }

    /// `true` if the request has certainly not been sent: there was no connection for it.
    #[must_use]
    pub fn is_unsent(&self) -> bool {
        self.unsent
    }

    /// `true` if nothing listens at an address of this machine: no retry will help before its server is started.
    #[must_use]
    pub fn is_refused_here(&self) -> bool {
        self.refused_here
    }

    /// Creates an error of a transport. The message is shown to users: it holds neither headers nor the URL. The kinds
    /// `Configuration` and `Tls` mean that the request has not been sent.
    #[must_use]
    pub fn new(kind: HttpErrorKind, message: impl Into<String>) -> Self {
        let unsent = matches!(kind, HttpErrorKind::Configuration | HttpErrorKind::Tls);
        Self { kind, message: message.into(), unsent, refused_here: false, source: None }
    }

    /// Marks the request as certainly not sent, such as without a connection for it.
    #[must_use]
    pub fn unsent(self) -> Self {
        Self { unsent: true, ..self }
    }

    /// Adds the cause. The restrictions of the message apply to its text.
    #[must_use]
    pub fn with_source(mut self, source: impl StdError + Send + Sync + 'static) -> Self {
        self.source = Some(Box::new(source));
        self
    }

    /// Creates the error of a failure before the head of the answer arrived. `proxy` is on the way to the host.
    pub(crate) fn sending(error: reqwest::Error, host: &str, proxy: Option<&str>) -> Self {
        let error = error.without_url();
        let through = proxy.map(|proxy| format!(" through the proxy {proxy}")).unwrap_or_default();
        if proxy.is_some() && cause::is_refused_by_proxy(&error) {
            let what = format!(
                "the proxy {} wants a user and a password that it accepts: set them in its URL",
                proxy.unwrap_or_default()
            );
            return Self::new(HttpErrorKind::Configuration, what).with_source(error);
        }
        let (kind, what) = if error.is_builder() {
            (HttpErrorKind::Configuration, "the request cannot be built".to_owned())
        } else if let Some(advice) = cause::final_tls_failure(&error) {
            let what = format!("cannot connect securely to {host}{through}: {}; {advice}", cause::text(&error));
            return Self::new(HttpErrorKind::Tls, what).with_source(error);
        } else if error.is_timeout() && !error.is_connect() {
            (HttpErrorKind::Timeout, format!("no answer from {host}"))
        } else if error.is_connect() {
            (HttpErrorKind::Connection, format!("cannot connect to {host}{through}"))
        } else {
            (HttpErrorKind::Connection, format!("the connection to {host} broke"))
        };
        let unsent = error.is_connect() || error.is_builder();
        let refused_here = proxy.is_none() && is_this_machine(host) && cause::is_refused(&error);
        Self { unsent, refused_here, ..Self::because(kind, what, error) }
    }

    /// Creates the error of a failure inside the body.
    pub(crate) fn receiving(error: reqwest::Error) -> Self {
        let error = error.without_url();
        if error.is_timeout() {
            Self::because(HttpErrorKind::Timeout, "the answer fell silent".to_owned(), error)
        } else {
            Self::because(HttpErrorKind::Cut, "the connection broke inside the answer".to_owned(), error)
        }
    }

    /// Creates an error with its causes in the message.
    pub(crate) fn because(kind: HttpErrorKind, what: String, error: reqwest::Error) -> Self {
        let message = match cause::text(&error) {
            cause if cause.is_empty() => what,
            cause => format!("{what}: {cause}"),
        };
        Self::new(kind, message).with_source(error)
    }
}

/// `true` if a host, with its port or without, is this machine.
fn is_this_machine(host: &str) -> bool {
    let bare = host.rsplit_once(':').filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
    let name = bare.map_or(host, |(name, _)| name).trim_matches(['[', ']']);
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}
