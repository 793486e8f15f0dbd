//! What happens after a failed model call.

use crate::{Limits, ModelFailure};
use std::time::Duration;
use windlass_types::{ErrorClass, ModelErrorKind};

/// The first wait; it doubles with each repeat.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// The longest wait that we choose ourselves.
const LONGEST_WAIT: Duration = Duration::from_secs(32);
/// The longest wait that a provider may ask for at once. A longer one ends the run: the
/// user should decide, not sit in front of it.
const LONGEST_SERVER_WAIT: Duration = Duration::from_secs(300);
/// Overloaded answers in a row before the fallback model takes over.
const OVERLOADED_BEFORE_FALLBACK: u32 = 3;

/// The failures of one model call so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Retry {
    pub(crate) attempts: u32,
    overloaded: u32,
    /// How long it has waited because the provider asked for it.
    obeyed: Duration,
    /// Whether what is sent back of earlier messages was dropped for it.
    replay_dropped: bool,
}

/// What to do about a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Repeat after a wait.
    Wait(Duration),
    /// Let the fallback model take over.
    Fallback,
    /// The prompt must shrink.
    TooLong,
    /// Repeat at once, without what is sent back of earlier messages.
    WithoutReplay,
    /// Give up.
    GiveUp,
    /// Give up: the provider asks for a wait that is too long, alone or with those before it.
    OutOfPatience(Duration),
}

impl Retry {
    /// Decides about a failure. `has_fallback` is false once it is in use.
    pub(crate) fn after(&mut self, failure: &ModelFailure, limits: &Limits, has_fallback: bool) -> Next {
        // Whether the provider wants a repeat counts before the kind, but the same prompt stays too long.
        match (failure.kind.class(), failure.should_retry) {
            (ErrorClass::TooLong, _) => return Next::TooLong,
            // Once: what is refused without it is refused for another reason.
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
        let own = backoff(self.attempts, failure.jitter).max(failure.kind.least_wait());
        // A server that asks for no wait at all does not get all repeats within a moment.
        let Some(asked) = failure.retry_after.filter(|asked| *asked > own) else { return Next::Wait(own) };
        let obeyed = self.obeyed.saturating_add(asked);
        if asked > LONGEST_SERVER_WAIT || obeyed > limits.max_server_wait {
            return self.or_fall_back(has_fallback, Next::OutOfPatience(asked));
        }
        self.obeyed = obeyed;
        Next::Wait(asked)
    }

    fn or_fall_back(&mut self, has_fallback: bool, otherwise: Next) -> Next {
        if has_fallback {
            *self = Self::default();
            return Next::Fallback;
        }
        otherwise
    }
}

/// The message of a failure whose wait, as the provider wants it, is too long.
pub(crate) fn out_of_patience(failure: &ModelFailure, asked: Duration) -> String {
    let message = failure.message.trim_end_matches('.');
    let seconds = asked.as_secs_f64().ceil();
    if asked > LONGEST_SERVER_WAIT {
        let most = LONGEST_SERVER_WAIT.as_secs();
        format!(
            "{message}. The provider asks to wait {seconds} s before a repeat, and {most} s at most are waited at once."
        )
    } else {
        format!("{message}. The provider asks to wait {seconds} s again, and has been waited for long enough.")
    }
}

/// What the user can do about a failure that ended a run, for kinds whose message does not name it.
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

/// The wait before a repeat: doubled each time, between three and five quarters by chance.
fn backoff(attempt: u32, jitter: u32) -> Duration {
    let doubled = FIRST_WAIT.saturating_mul(2_u32.saturating_pow(attempt.saturating_sub(1).min(16)));
    let factor = 0.75 + 0.5 * f64::from(jitter) / f64::from(u32::MAX);
    doubled.min(LONGEST_WAIT).mul_f64(factor)
}

#[cfg(test)]
mod tests;
