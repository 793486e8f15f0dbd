//! Failures of model calls.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Kind of failure of a model call. The loop decides by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ModelErrorKind {
    /// No key, or a key that the provider does not accept (401).
    Authentication,
    /// The key may not do this (403).
    PermissionDenied,
    /// Credit or plan is exhausted (402, or 400/429 with a billing text).
    Billing,
    /// No such model or endpoint (404).
    NotFound,
    /// The request is malformed (400, 422).
    InvalidRequest,
    /// The prompt does not fit the context window.
    PromptTooLong,
    /// The request body is too large (413).
    RequestTooLarge,
    /// The provider refused replayed data of earlier messages (a signature, encrypted reasoning).
    ReplayRejected,
    /// Too many requests or tokens (429).
    RateLimited,
    /// The quota of a day, a month or a plan is used up. The error names the time of the reset, if the provider does.
    QuotaExhausted,
    /// The provider is overloaded (529, 503, `overloaded_error`).
    Overloaded,
    /// The provider failed (other 5xx, `api_error`).
    Server,
    /// No answer in time, or a stream that went silent.
    Timeout,
    /// No connection, or it broke before the answer began.
    Connection,
    /// The stream ended before the message was complete.
    Cut,
    /// The provider broke its own protocol.
    Protocol,
    /// A replayed cassette does not match the request, or a script has run out.
    Replay,
    /// The provider was set up wrongly.
    Configuration,
}

/// Reaction of the loop to a failed model call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "the loop must decide on every class")]
pub enum ErrorClass {
    /// The same request may work later: back off and repeat.
    Transient,
    /// The prompt must shrink first.
    TooLong,
    /// The replayed data of earlier messages must be dropped first.
    Replay,
    /// A failure that the loop cannot mend.
    Final,
}

impl ModelErrorKind {
    /// Returns the reaction of the loop to this kind.
    pub fn class(self) -> ErrorClass {
        match self {
            Self::RateLimited
            | Self::Overloaded
            | Self::Server
            | Self::Timeout
            | Self::Connection
            | Self::Cut
            | Self::Protocol => ErrorClass::Transient,
            Self::PromptTooLong => ErrorClass::TooLong,
            Self::ReplayRejected => ErrorClass::Replay,
            Self::Authentication
            | Self::PermissionDenied
            | Self::Billing
            | Self::QuotaExhausted
            | Self::NotFound
            | Self::InvalidRequest
            | Self::RequestTooLarge
            | Self::Replay
            | Self::Configuration => ErrorClass::Final,
        }
    }

    /// Returns the word for hosts and hooks, such as `rate_limit`; several kinds share a word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Authentication | Self::PermissionDenied => "authentication_failed",
            Self::Billing => "billing_error",
            Self::NotFound => "model_not_found",
            Self::InvalidRequest | Self::ReplayRejected | Self::PromptTooLong | Self::RequestTooLarge => {
                "invalid_request"
            }
            Self::RateLimited | Self::QuotaExhausted => "rate_limit",
            Self::Overloaded => "overloaded",
            Self::Server => "server_error",
            _ => "unknown",
        }
    }

    /// Returns the shortest sensible wait before a retry.
    pub fn least_wait(self) -> Duration {
        match self {
            Self::Cut | Self::Protocol | Self::Connection => Duration::ZERO,
            _ => Duration::from_millis(250),
        }
    }
}
