//! Decisions after a failed model request.

use crate::{Limits, ModelFailure};
use std::time::Duration;
use windlass_types::{ErrorClass, ModelErrorKind};

/// First wait; doubled with each retry.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// Maximum wait without a request of the provider.
const MAX_WAIT: Duration = Duration::from_secs(32);
/// Maximum single wait at the provider's request. A longer one ends the run: the user should decide, not sit in front
/// of it.
const MAX_SERVER_WAIT: Duration = Duration::from_secs(300);
/// Number of consecutive overloaded answers before the fallback model takes over.
const OVERLOADED_BEFORE_FALLBACK: u32 = 3;

/// Failures of one model request so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Retry {
    pub(crate) attempts: u32,
    overloaded: u32,
    /// Total wait at the provider's request.
    server_wait: Duration,
    /// `true` if the replay data of earlier messages was dropped for this request.
    replay_dropped: bool,
}

/// Decision after a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Retry after a wait.
    Wait(Duration),
    /// Switch to the fallback model.
    Fallback,
    /// Shorten the prompt.
    TooLong,
    /// Retry at once, without the replay data of earlier messages.
    WithoutReplay,
    /// Give up.
    GiveUp,
    /// Give up: the requested wait is too long, alone or with those before it.
    OutOfPatience(Duration),
}

impl Retry {
    /// Decides about a failure. `has_fallback` is `false` once the fallback is in use.
    pub(crate) fn after(&mut self, failure: &ModelFailure, limits: &Limits, has_fallback: bool) -> Next {
        // The provider's retry decision takes precedence over the kind, but the same prompt stays too long.
        match (failure.kind.class(), failure.should_retry) {
            (ErrorClass::TooLong, _) => return Next::TooLong,
            // Only once: a second refusal has another reason.
            (ErrorClass::Replay, _) if self.replay_dropped => return Next::GiveUp,
            (ErrorClass::Replay, _) => {
                self.replay_dropped = true;
                return Next::WithoutReplay;
            }
            (ErrorClass::Final, None | Some(false)) if failure.kind == ModelErrorKind::QuotaExhausted => {
                return self.or_fall_back(has_fallback, Next::GiveUp);
            }
            (ErrorClass::Final, None | Some(false)) => return Next::GiveUp,
            (ErrorClass::Transient, Some(false)) => return self.or_fall_back(has_fallback, Next::GiveUp),
            (ErrorClass::Transient, None | Some(true)) | (ErrorClass::Final, Some(true)) => {}
        }
        self.overloaded = if failure.kind == ModelErrorKind::Overloaded { self.overloaded + 1 } else { 0 };
        let is_overloaded = self.overloaded >= OVERLOADED_BEFORE_FALLBACK;
        if (is_overloaded && has_fallback) || self.attempts >= limits.max_retries {
            return self.or_fall_back(has_fallback, Next::GiveUp);
        }
        self.attempts += 1;
        let own_wait = backoff(self.attempts, failure.jitter).max(failure.kind.least_wait());
        // A server that asks for no wait at all does not get all retries within a moment.
        let Some(requested_wait) = failure.retry_after.filter(|requested_wait| *requested_wait > own_wait) else {
            return Next::Wait(own_wait);
        };
        let server_wait = self.server_wait.saturating_add(requested_wait);
        if requested_wait > MAX_SERVER_WAIT || server_wait > limits.max_server_wait {
            return self.or_fall_back(has_fallback, Next::OutOfPatience(requested_wait));
        }
        self.server_wait = server_wait;
        Next::Wait(requested_wait)
    }

    fn or_fall_back(&mut self, has_fallback: bool, otherwise: Next) -> Next {
        if has_fallback {
            *self = Self::default();
            return Next::Fallback;
        }
        otherwise
    }
}

/// Returns the message of a failure whose requested wait is too long.
pub(crate) fn out_of_patience(failure: &ModelFailure, asked: Duration) -> String {
    let message = failure.message.trim_end_matches('.');
    let seconds = asked.as_secs_f64().ceil();
    if asked > MAX_SERVER_WAIT {
        let max_seconds = MAX_SERVER_WAIT.as_secs();
        format!(
            "{message}. The provider asks to wait {seconds} s before a repeat, and {max_seconds} s at most are waited \
             at once."
        )
    } else {
        format!("{message}. The provider asks to wait {seconds} s again, and has been waited for long enough.")
    }
}

/// Returns advice for the user after a failure that ended a run, for kinds whose message contains none.
pub(crate) fn advice(kind: ModelErrorKind) -> Option<&'static str> {
    match kind {
        ModelErrorKind::RateLimited => Some("Wait a while, or ask for less at once."),
        ModelErrorKind::Overloaded => Some("Try again later, or set a fallback model."),
        ModelErrorKind::QuotaExhausted => Some("Use another model or key meanwhile."),
        ModelErrorKind::Server | ModelErrorKind::Timeout | ModelErrorKind::Cut | ModelErrorKind::Protocol => {
            Some("Try again later.")
        }
        ModelErrorKind::Connection => Some("Check the network and the address of the provider."),
        ModelErrorKind::PromptTooLong => Some("Begin a new session, or send less."),
        ModelErrorKind::RequestTooLarge => Some("Send less at once: files, images and long outputs count."),
        _ => None,
    }
}

/// Returns the wait before a retry: doubled each time, with random jitter between three and five quarters.
fn backoff(attempt: u32, jitter: u32) -> Duration {
    let doubled = FIRST_WAIT.saturating_mul(2_u32.saturating_pow(attempt.saturating_sub(1).min(16)));
    let factor = 0.75 + 0.5 * f64::from(jitter) / f64::from(u32::MAX);
    doubled.min(MAX_WAIT).mul_f64(factor)
}

#[cfg(test)]
mod tests;
