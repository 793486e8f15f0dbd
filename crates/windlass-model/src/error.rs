//! Failed model calls.

use std::error::Error as StdError;
use std::num::NonZeroU64;
use std::time::Duration;
use windlass_types::{ErrorClass, ModelErrorKind, RateLimit, Timestamp};

/// A model call that failed. Its text never holds credentials.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct ModelError {
    /// What kind of failure; the loop decides by it.
    pub kind: ModelErrorKind,
    /// What happened and what to do about it, in a sentence.
    pub message: String,
    /// The HTTP status, if the provider answered with one.
    pub status: Option<u16>,
    /// How long the provider asks to wait before a repeat.
    pub retry_after: Option<Duration>,
    /// When a quota that is used up is available again, if the provider names the time.
    pub resets_at: Option<Timestamp>,
    /// Whether the provider wants the request repeated, if its answer tells. The loop heeds it before the kind.
    pub should_retry: Option<bool>,
    /// Whether it is certain that the provider bills no tokens, because no model had the request. Otherwise a failure
    /// before the message began is booked with the input, unless its kind or status shows the same.
    pub unbilled: bool,
    /// The provider's id of the request, for its support.
    pub request_id: Option<String>,
    /// The subscription's allowance, if the answer reported it.
    pub rate_limit: Option<Box<RateLimit>>,
    context_window: Option<NonZeroU64>,
    /// `true` if the model takes no images: the same request without them may be answered.
    pub refuses_images: bool,
    #[source]
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl ModelError {
    /// A failure of a kind, in words.
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

    /// Adds the HTTP status.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }

    /// Adds the wait that the provider asks for.
    #[must_use]
    pub fn with_retry_after(mut self, wait: Option<Duration>) -> Self {
        self.retry_after = wait;
        self
    }

    /// Adds when a quota that is used up is available again.
    #[must_use]
    pub fn with_resets_at(mut self, at: Option<Timestamp>) -> Self {
        self.resets_at = at;
        self
    }

    /// Adds whether the provider wants a repeat.
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

    /// Adds the provider's request id.
    #[must_use]
    pub fn with_request_id(mut self, id: Option<String>) -> Self {
        self.request_id = id;
        self
    }

    /// Adds the subscription's allowance, as the provider reported it.
    #[must_use]
    pub fn with_rate_limit(mut self, limit: Option<RateLimit>) -> Self {
        self.rate_limit = limit.map(Box::new);
        self
    }

    /// Adds the context window of the model, as a refusal as too long names it.
    #[must_use]
    pub fn with_context_window(mut self, tokens: Option<u64>) -> Self {
        self.context_window = tokens.and_then(NonZeroU64::new);
        self
    }

    /// The context window of the model in tokens, if a refusal as too long names it.
    pub fn context_window(&self) -> Option<u64> {
        self.context_window.map(NonZeroU64::get)
    }

    /// Records that the model takes no images.
    #[must_use]
    pub fn with_refused_images(mut self, refuses_images: bool) -> Self {
        self.refuses_images = refuses_images;
        self
    }

    /// Adds what caused it.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// What the loop does about it.
    pub fn class(&self) -> ErrorClass {
        self.kind.class()
    }
}
