//! Fakes of time and ids.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use windlass_tool::{Clock, Ids};
use windlass_types::Timestamp;

/// A clock that stands still until it is moved. It starts at 2026-01-01T00:00:00Z.
///
/// ```
/// use std::time::Duration;
/// use windlass_testkit::fake::ManualClock;
/// use windlass_tool::Clock;
///
/// let clock = ManualClock::new();
/// let before = clock.now();
/// clock.advance(Duration::from_secs(90));
/// assert_eq!(clock.now().since(before), Duration::from_secs(90));
/// ```
#[derive(Debug, Clone)]
pub struct ManualClock(Arc<AtomicU64>);

impl ManualClock {
    /// Returns a clock at 2026-01-01T00:00:00Z.
    pub fn new() -> Self {
        Self::at(Timestamp::from_millis(1_767_225_600_000))
    }

    /// Returns a clock at a time.
    pub fn at(time: Timestamp) -> Self {
        Self(Arc::new(AtomicU64::new(time.millis())))
    }

    /// Moves the clock forward.
    pub fn advance(&self, by: Duration) {
        let millis = u64::try_from(by.as_millis()).unwrap_or(u64::MAX);
        self.0.fetch_add(millis, Ordering::SeqCst);
    }

    /// Sets the clock, also back, as can happen with real clocks.
    pub fn set(&self, time: Timestamp) {
        self.0.store(time.millis(), Ordering::SeqCst);
    }
}

impl Default for ManualClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst))
    }
}

/// Ids that count up instead of being random: 1, 2, 3 …
///
/// The ids are distinct, so that names made of them do not clash, and the same in every run. They are easy to guess:
/// use them in tests only.
#[derive(Debug, Clone)]
pub struct SequentialIds(Arc<AtomicU64>);

impl SequentialIds {
    /// Returns ids that count from 1.
    pub fn new() -> Self {
        Self::starting_at(1)
    }

    /// Returns ids that count from a number.
    pub fn starting_at(first: u64) -> Self {
        Self(Arc::new(AtomicU64::new(first)))
    }
}

impl Default for SequentialIds {
    fn default() -> Self {
        Self::new()
    }
}

impl Ids for SequentialIds {
    fn bits(&self) -> u128 {
        u128::from(self.0.fetch_add(1, Ordering::Relaxed))
    }
}
