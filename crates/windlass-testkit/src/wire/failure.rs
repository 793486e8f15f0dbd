//! Failures of a vendor, independent of a dialect.

use std::time::Duration;

/// A failure of a vendor, for a [`Dialect`](super::Dialect) to write.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failure {
    /// Kind of the failure.
    pub kind: FailureKind,
    /// Message to use instead of the vendor's.
    pub message: Option<String>,
    /// Time that the client should wait, if the dialect can express it.
    pub wait: Option<Duration>,
}

/// Kind of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailureKind {
    /// The request breaks a rule.
    Invalid,
    /// The key is wrong.
    Authentication,
    /// The prompt is longer than the context window.
    Overflow,
    /// Too many requests or tokens in a short time.
    RateLimited,
    /// The allowance of the account is used up; waiting a moment does not help.
    Quota,
    /// The vendor has no capacity at the moment.
    Overloaded,
    /// A bug at the vendor.
    Server,
}

impl From<FailureKind> for Failure {
    fn from(kind: FailureKind) -> Self {
        Self { kind, message: None, wait: None }
    }
}

impl Failure {
    /// Returns the failure of a request that breaks this rule.
    #[must_use]
    pub fn invalid(message: impl Into<String>) -> Self {
        Self { kind: FailureKind::Invalid, message: Some(message.into()), wait: None }
    }

    /// Asks the client to wait.
    #[must_use]
    pub fn wait(mut self, wait: Duration) -> Self {
        self.wait = Some(wait);
        self
    }

    pub(super) fn words(&self, vendors: &str) -> String {
        self.message.clone().unwrap_or_else(|| vendors.to_owned())
    }
}
