//! Pace of frames.

use std::time::Duration;

/// Decides when a frame is due. Times are durations since any fixed moment; the caller has the clock.
///
/// Without a request there is no next time, so an idle program needs no timer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FramePacer {
    interval: Duration,
    last: Option<Duration>,
    /// Time of the earliest request that no frame answered.
    requested: Option<Duration>,
    /// Time before which no frame is due.
    held: Duration,
}

impl FramePacer {
    /// Shortest time between two frames by default.
    pub const INTERVAL: Duration = Duration::from_millis(33);

    /// A pacer of at most one frame for each `interval`.
    #[must_use]
    pub const fn new(interval: Duration) -> Self {
        Self { interval, last: None, requested: None, held: Duration::ZERO }
    }

    /// Asks for a frame at `at`, or as soon as one may follow the last. The earliest request holds.
    pub fn request(&mut self, at: Duration) {
        self.requested = Some(self.requested.map_or(at, |earlier| earlier.min(at)));
    }

    /// Holds frames back until `until`, such as while the size of the terminal changes.
    pub fn hold(&mut self, until: Duration) {
        self.held = until;
    }

    /// Time at which the next frame is due; `None` if none was asked for.
    #[must_use]
    pub fn due(&self) -> Option<Duration> {
        let earliest = self.last.map_or(Duration::ZERO, |last| last.saturating_add(self.interval));
        self.requested.map(|requested| requested.max(earliest).max(self.held))
    }

    /// Takes the request if its frame is due at `now`: then the caller draws.
    #[must_use]
    pub fn take(&mut self, now: Duration) -> bool {
        let is_due = self.due().is_some_and(|due| due <= now);
        if is_due {
            self.requested = None;
            self.last = Some(now);
        }
        is_due
    }
}

impl Default for FramePacer {
    fn default() -> Self {
        Self::new(Self::INTERVAL)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_requests_are_few_frames_and_none_is_no_timer() {
        let millis = Duration::from_millis;
        let mut pacer = FramePacer::default();
        assert_eq!(pacer.due(), None);
        let mut frames = Vec::new();
        for now in (0..1000).map(millis) {
            pacer.request(now);
            if pacer.take(now) {
                frames.push(now);
            }
        }
        assert_eq!(frames.len(), 31);
        assert!(frames.windows(2).all(|pair| pair[1] - pair[0] >= FramePacer::INTERVAL));
        assert!(pacer.take(millis(1100)));
        assert_eq!(pacer.due(), None);
        assert!(!pacer.take(millis(9000)));
        pacer.request(millis(9500));
        pacer.request(millis(9900));
        assert_eq!(pacer.due(), Some(millis(9500)));
        pacer.hold(millis(9600));
        assert!(!pacer.take(millis(9599)) && pacer.take(millis(9600)));
    }
}
