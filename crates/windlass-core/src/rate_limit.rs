//! Changes of a subscription's rate limit that are reported to the host.

use windlass_types::{RateLimit, Utilization};

/// Minimum change of a utilization that is reported by itself, in hundredths.
const MIN_REPORTED_CHANGE: f64 = 1.0;
/// Minimum change of a time that is reported, in seconds: providers round times differently from answer to answer.
const MIN_TIME_CHANGE_SECS: u64 = 60;

/// `true` if an answer reports a change: of the status, the window, a time or anything about overage, or a utilization
/// step of a hundredth. Missing values are treated as unchanged. The comparison is with the last report, so that small
/// steps in one direction are reported when they add up.
pub(crate) fn is_news(known: &RateLimit, reported: &RateLimit) -> bool {
    known.status != reported.status
        || changed(known.kind.as_ref(), reported.kind.as_ref(), |a, b| a != b)
        || changed(known.resets_at, reported.resets_at, is_another_time)
        || changed(known.utilization, reported.utilization, is_a_step)
        || changed(known.overage_status.as_ref(), reported.overage_status.as_ref(), |a, b| a != b)
        || changed(known.overage_resets_at, reported.overage_resets_at, is_another_time)
        || changed(known.overage_disabled_reason.as_ref(), reported.overage_disabled_reason.as_ref(), |a, b| a != b)
        || changed(known.is_using_overage, reported.is_using_overage, |a, b| a != b)
}

fn changed<T>(known: Option<T>, reported: Option<T>, differ: impl Fn(T, T) -> bool) -> bool {
    match (known, reported) {
        (_, None) => false,
        (None, Some(_)) => true,
        (Some(known), Some(reported)) => differ(known, reported),
    }
}

fn is_another_time(known: u64, reported: u64) -> bool {
    known.abs_diff(reported) >= MIN_TIME_CHANGE_SECS
}

fn is_a_step(known: Utilization, reported: Utilization) -> bool {
    // In millionths of the whole, as 0.29 - 0.28 is a little less than 0.01.
    let step = ((reported.get() - known.get()).abs() * 1e6).round() / 1e4;
    step >= MIN_REPORTED_CHANGE
}

#[cfg(test)]
mod tests;
