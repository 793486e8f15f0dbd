//! When the host hears of a subscription's allowance.

use crate::Machine;
use windlass_types::{EventKind, RateLimit, Utilization};

/// The least step of a utilization that is told by itself, in hundredths.
const LEAST_STEP: f64 = 1.0;
/// Times closer than this, in seconds, are the same: providers round them differently from answer to answer.
const SAME_TIME: u64 = 60;

impl Machine {
    /// Takes what an answer said, and tells the host if it differs from what it knows: it is the first, or the
    /// status, the window, a time or anything about overage changed, or the utilization moved by a hundredth.
    /// What an answer does not say counts as unchanged. Nothing of it is kept in the log.
    pub(crate) fn note_rate_limit(&mut self, said: &RateLimit) {
        if self.rate_limit.as_ref().is_some_and(|known| !is_news(known, said)) {
            return;
        }
        self.rate_limit = Some(said.clone());
        self.event(EventKind::RateLimit(said.clone()), None);
    }
}

/// Whether an answer says something that is not known, measured against what was told last, so that small
/// steps in one direction are told when they add up.
fn is_news(known: &RateLimit, said: &RateLimit) -> bool {
    known.status != said.status
        || changed(known.kind.as_ref(), said.kind.as_ref(), |a, b| a != b)
        || changed(known.resets_at, said.resets_at, is_another_time)
        || changed(known.utilization, said.utilization, is_a_step)
        || changed(known.overage_status.as_ref(), said.overage_status.as_ref(), |a, b| a != b)
        || changed(known.overage_resets_at, said.overage_resets_at, is_another_time)
        || changed(known.overage_disabled_reason.as_ref(), said.overage_disabled_reason.as_ref(), |a, b| a != b)
        || changed(known.is_using_overage, said.is_using_overage, |a, b| a != b)
}

fn changed<T>(known: Option<T>, said: Option<T>, differ: impl Fn(T, T) -> bool) -> bool {
    match (known, said) {
        (_, None) => false,
        (None, Some(_)) => true,
        (Some(known), Some(said)) => differ(known, said),
    }
}

fn is_another_time(known: u64, said: u64) -> bool {
    known.abs_diff(said) >= SAME_TIME
}

fn is_a_step(known: Utilization, said: Utilization) -> bool {
    // In millionths of the whole, as 0.29 - 0.28 is a little less than 0.01.
    let step = ((said.get() - known.get()).abs() * 1e6).round() / 1e4;
    step >= LEAST_STEP
}

#[cfg(test)]
mod tests;
