//! Failed model requests.

use std::error::Error as StdError;
use std::num::NonZeroU64;
use std::time::Duration;
use windlass_types::{ErrorClass, ModelErrorKind, RateLimit, Timestamp};

/// A failed model request. Its text never contains credentials.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct ModelError {
    /// Kind of failure, by which the loop decides.
    pub kind: ModelErrorKind,
    /// Description and remedy, in a sentence.
    pub message: String,
    /// HTTP status, if the provider answered with one.
    pub status: Option<u16>,
    /// Wait requested by the provider before a retry.
    pub retry_after: Option<Duration>,
    /// Time when an exhausted quota is available again, if the provider names it.
    pub resets_at: Option<Timestamp>,
    /// Retry decision of the provider, if its answer contains one. Takes precedence over the kind.
    pub should_retry: Option<bool>,
    /// `true` if the provider certainly bills no tokens, because no model had the request. Otherwise a failure before
    /// the message began is booked with the input, unless its kind or status shows the same.
    pub unbilled: bool,
    /// Provider's id of the request, for its support.
    pub request_id: Option<String>,
    /// Rate limit of the subscription, if the answer reported it.
    pub rate_limit: Option<Box<RateLimit>>,
    context_window: Option<NonZeroU64>,
    /// `true` if the model accepts no images: the same request without them may be answered.
    pub refuses_images: bool,
    #[source]
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl ModelError {
    /// Returns a failure of a kind, with a message.
    pub fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            status: None,
            retry_after: None,
            resets_at: None,
            should_retry: None,
            unbilled: false,
            request_id: None,
            rate_limit: None,
            context_window: None,
            refuses_images: false,
            source: None,
        }
    }

    /// Sets the HTTP status.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }

    /// Sets the wait requested by the provider.
    #[must_use]
    pub fn with_retry_after(mut self, wait: Option<Duration>) -> Self {
        self.retry_after = wait;
        self
    }

    /// Sets the time when an exhausted quota is available again.
    #[must_use]
    pub fn with_resets_at(mut self, at: Option<Timestamp>) -> Self {
        self.resets_at = at;
        self
    }

    /// Sets the retry decision of the provider.
    #[must_use]
    pub fn with_should_retry(mut self, should_retry: Option<bool>) -> Self {
        self.should_retry = should_retry;
        self
    }

    /// Records that no model had the request, so that no tokens are billed.
    #[must_use]
    pub fn unbilled(mut self) -> Self {
        self.unbilled = true;
        self
    }

    /// Sets the provider's request id.
    #[must_use]
    pub fn with_request_id(mut self, id: Option<String>) -> Self {
        self.request_id = id;
        self
    }

    /// Sets the rate limit of the subscription, as reported by the provider.
    #[must_use]
    pub fn with_rate_limit(mut self, limit: Option<RateLimit>) -> Self {
        self.rate_limit = limit.map(Box::new);
        self
    }

    /// Sets the context window of the model, as named by a refusal as too long.
    #[must_use]
    pub fn with_context_window(mut self, tokens: Option<u64>) -> Self {
        self.context_window = tokens.and_then(NonZeroU64::new);
        self
    }

    /// Returns the context window of the model in tokens, if a refusal as too long names it.
    pub fn context_window(&self) -> Option<u64> {
        self.context_window.map(NonZeroU64::get)
    }

    /// Records whether the model accepts no images.
    #[must_use]
    pub fn with_refused_images(mut self, refuses_images: bool) -> Self {
        self.refuses_images = refuses_images;
        self
    }

    /// Sets the underlying error.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Returns the class of the error, which decides the reaction of the loop.
    pub fn class(&self) -> ErrorClass {
        self.kind.class()
    }
}
