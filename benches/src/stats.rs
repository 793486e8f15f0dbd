//! Medians and their display.

use std::time::Duration;

/// Returns the median, or zero if there are no samples.
#[must_use]
pub fn median(mut samples: Vec<Duration>) -> Duration {
    samples.sort_unstable();
    samples.get(samples.len() / 2).copied().unwrap_or_default()
}

/// Returns microseconds, milliseconds or bytes in a form that can be compared by eye.
#[must_use]
pub fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}
