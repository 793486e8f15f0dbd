//! Ports to time and random ids, and their implementations for this machine.

use std::fmt::Debug;
#[cfg(feature = "system")]
use std::time::{SystemTime, UNIX_EPOCH};
use windlass_types::Timestamp;

/// Port to the time.
///
/// ```
/// # mod windlass { pub mod tool { pub use windlass_tool::*; } pub mod event { pub use windlass_types::Timestamp; } }
/// use windlass::event::Timestamp;
/// use windlass::tool::Clock;
///
/// /// It is always the same time.
/// #[derive(Debug)]
/// struct Stopped(Timestamp);
///
/// impl Clock for Stopped {
///     fn now(&self) -> Timestamp {
///         self.0
///     }
/// }
/// ```
pub trait Clock: Debug + Send + Sync + 'static {
    /// Returns the time of day, in UTC.
    fn now(&self) -> Timestamp;
}

/// Generates ids that cannot be guessed.
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
/// # mod windlass { pub mod tool { pub use windlass_tool::*; } }
/// use windlass::tool::Ids;
///
/// /// For tests: anyone can guess these.
/// #[derive(Debug, Default)]
/// struct Counted(AtomicU64);
///
/// impl Ids for Counted {
///     fn bits(&self) -> u128 {
///         self.0.fetch_add(1, Ordering::Relaxed).into()
///     }
/// }
///
/// let ids = Counted::default();
/// assert_ne!(ids.bits(), ids.bits());
/// ```
pub trait Ids: Debug + Send + Sync + 'static {
    /// Returns 128 fresh random bits.
    fn bits(&self) -> u128;
}

/// Time of day of this machine. Needs the feature `system`.
#[cfg(feature = "system")]
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct SystemClock;

#[cfg(feature = "system")]
impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the adapter of the port")]
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }
}

/// The version and the variant of a UUID.
#[cfg(feature = "system")]
const UUID_MASK: u128 = 0xf << 76 | 0b11 << 62;
/// Version 4, of the usual variant.
#[cfg(feature = "system")]
const UUID_VERSION_4: u128 = 4 << 76 | 0b10 << 62;

/// Random bits of the operating system, with those six bits set that make them a version 4 UUID. Needs the feature
/// `system`.
#[cfg(feature = "system")]
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct SystemIds;

#[cfg(feature = "system")]
impl Ids for SystemIds {
    /// # Panics
    /// The operating system has no random bits. An id that can be guessed would be worse.
    #[expect(clippy::disallowed_methods, reason = "the adapter of the port")]
    #[expect(clippy::expect_used, reason = "no id is safe without random bits")]
    fn bits(&self) -> u128 {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).expect("the operating system gives random bits");
        u128::from_be_bytes(bytes) & !UUID_MASK | UUID_VERSION_4
    }
}

#[cfg(all(test, feature = "system"))]
mod tests {
    use super::*;

    #[test]
    fn ids_are_uuids_and_none_comes_twice() {
        let ids: std::collections::HashSet<u128> = (0..1000).map(|_| SystemIds::default().bits()).collect();
        assert_eq!(ids.len(), 1000);
        for id in ids {
            let text = format!("{id:032x}");
            assert_eq!(text.get(12..13), Some("4"), "{text}");
            assert!(text.get(16..17).is_some_and(|digit| "89ab".contains(digit)), "{text}");
        }
    }
}
