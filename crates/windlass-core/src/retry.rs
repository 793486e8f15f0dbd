//! What happens after a failed model call.

use crate::ModelFailure;
use std::time::Duration;
use windlass_types::{ErrorClass, ModelErrorKind};

/// The first wait; it doubles with each repeat.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// The longest wait that we choose ourselves.
const LONGEST_WAIT: Duration = Duration::from_secs(32);
/// The longest wait that a provider may ask for. A longer one ends the run: the
/// user should decide, not sit in front of it.
const LONGEST_SERVER_WAIT: Duration = Duration::from_secs(300);
/// Overloaded answers in a row before the fallback model takes over.
const OVERLOADED_BEFORE_FALLBACK: u32 = 3;

/// The failures of one model call so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Retry {
    pub(crate) attempts: u32,
    overloaded: u32,
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
    /// Give up.
    GiveUp,
}

impl Retry {
    /// Decides about a failure. `has_fallback` is false once it is in use.
    pub(crate) fn after(&mut self, failure: &ModelFailure, max_retries: u32, has_fallback: bool) -> Next {
        match failure.kind.class() {
            ErrorClass::Final => return Next::GiveUp,
            ErrorClass::TooLong => return Next::TooLong,
            ErrorClass::Transient => {}
        }
        self.overloaded = if failure.kind == ModelErrorKind::Overloaded { self.overloaded + 1 } else { 0 };
        if has_fallback && self.overloaded >= OVERLOADED_BEFORE_FALLBACK {
            *self = Self::default();
            return Next::Fallback;
        }
        if self.attempts >= max_retries {
            if has_fallback {
                *self = Self::default();
                return Next::Fallback;
            }
            return Next::GiveUp;
        }
        self.attempts += 1;
        match failure.retry_after {
            Some(wait) if wait > LONGEST_SERVER_WAIT => Next::GiveUp,
            Some(wait) => Next::Wait(wait),
            None => Next::Wait(backoff(self.attempts, failure.jitter).max(failure.kind.least_wait())),
        }
    }
}

/// What the user can do about a failure that ended a run, where its message does not say so by itself.
pub(crate) fn advice(kind: ModelErrorKind) -> Option<&'static str> {
    match kind {
        ModelErrorKind::RateLimited => Some("Wait a while, or ask for less at once."),
        ModelErrorKind::Overloaded => Some("Try again later, or set a fallback model."),
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
mod tests {
    use super::*;

    fn fail(kind: ModelErrorKind) -> ModelFailure {
        ModelFailure::new(kind, "x")
    }

    #[test]
    fn waits_double_up_to_a_limit_and_stay_within_jitter() {
        let mut retry = Retry::default();
        let mut last = Duration::ZERO;
        for attempt in 1..=10 {
            let mut failure = fail(ModelErrorKind::Server);
            failure.jitter = u32::MAX / 2;
            let Next::Wait(wait) = retry.after(&failure, 10, false) else { panic!("attempt {attempt}") };
            assert!(wait >= last && wait <= Duration::from_secs(40));
            last = wait;
        }
        assert_eq!(retry.after(&fail(ModelErrorKind::Server), 10, false), Next::GiveUp);
    }

    #[test]
    fn the_server_is_obeyed_within_reason() {
        let mut asked = fail(ModelErrorKind::RateLimited);
        asked.retry_after = Some(Duration::from_secs(7));
        assert_eq!(Retry::default().after(&asked, 10, false), Next::Wait(Duration::from_secs(7)));
        asked.retry_after = Some(Duration::from_secs(3_000));
        assert_eq!(Retry::default().after(&asked, 10, false), Next::GiveUp);
    }

    #[test]
    fn three_overloaded_answers_in_a_row_bring_the_fallback() {
        let mut retry = Retry::default();
        let overloaded = fail(ModelErrorKind::Overloaded);
        assert!(matches!(retry.after(&overloaded, 10, true), Next::Wait(_)));
        assert!(matches!(retry.after(&fail(ModelErrorKind::Cut), 10, true), Next::Wait(_)));
        assert!(matches!(retry.after(&overloaded, 10, true), Next::Wait(_)));
        assert!(matches!(retry.after(&overloaded, 10, true), Next::Wait(_)));
        assert_eq!(retry.after(&overloaded, 10, true), Next::Fallback);
        assert_eq!(Retry::default().after(&fail(ModelErrorKind::Authentication), 10, true), Next::GiveUp);
        assert_eq!(Retry::default().after(&fail(ModelErrorKind::PromptTooLong), 10, true), Next::TooLong);
    }
}
