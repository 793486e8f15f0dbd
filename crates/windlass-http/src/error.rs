use std::error::Error as StdError;

/// Why a request or its stream failed, apart from an answer of the server that
/// says so. Shows neither credentials nor the URL's query.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct HttpError {
    kind: HttpErrorKind,
    message: String,
    #[source]
    source: Option<Box<dyn StdError + Send + Sync>>,
}

/// The stage at which a request failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HttpErrorKind {
    /// The base URL, a header or the TLS set-up is unusable.
    Configuration,
    /// No connection, or it broke before the answer began.
    Connection,
    /// Nothing came for too long, or nothing but signs of life.
    Timeout,
    /// The connection broke inside the answer.
    Cut,
    /// The answer breaks the protocol or a limit.
    Protocol,
}

impl HttpError {
    /// The stage at which the request failed.
    #[must_use]
    pub fn kind(&self) -> HttpErrorKind {
        self.kind
    }

    pub(crate) fn new(kind: HttpErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    pub(crate) fn with_source(mut self, source: impl StdError + Send + Sync + 'static) -> Self {
        self.source = Some(Box::new(source));
        self
    }

    /// A failure before the head of the answer was here.
    pub(crate) fn sending(error: reqwest::Error, host: &str) -> Self {
        let error = error.without_url();
        if error.is_builder() {
            Self::new(HttpErrorKind::Configuration, "the request cannot be built".to_owned())
        } else if error.is_timeout() && !error.is_connect() {
            Self::new(HttpErrorKind::Timeout, format!("no answer from {host}"))
        } else if error.is_connect() {
            Self::new(HttpErrorKind::Connection, format!("cannot connect to {host}"))
        } else {
            Self::new(HttpErrorKind::Connection, format!("the connection to {host} broke"))
        }
        .with_source(error)
    }

    /// A failure inside the body.
    pub(crate) fn receiving(error: reqwest::Error) -> Self {
        let error = error.without_url();
        if error.is_timeout() {
            Self::new(HttpErrorKind::Timeout, "the answer fell silent")
        } else {
            Self::new(HttpErrorKind::Cut, "the connection broke inside the answer")
        }
        .with_source(error)
    }
}
