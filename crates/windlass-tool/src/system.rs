//! Ports to time and chance.

use std::fmt::Debug;
use windlass_types::Timestamp;

/// Tells the time.
pub trait Clock: Debug + Send + Sync + 'static {
    /// The time of day, in UTC.
    fn now(&self) -> Timestamp;
}

/// Makes identifiers nobody can guess.
pub trait Ids: Debug + Send + Sync + 'static {
    /// 128 fresh random bits.
    fn bits(&self) -> u128;
}
