//! Medians and how they are shown.

use std::time::Duration;

/// The median; zero of nothing.
#[must_use]
pub fn median(mut samples: Vec<Duration>) -> Duration {
    samples.sort_unstable();
    samples.get(samples.len() / 2).copied().unwrap_or_default()
}

/// Microseconds, milliseconds or bytes in a form that can be compared by eye.
#[must_use]
pub fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}
