//! Recording of model calls, and their replay without a network.
//!
//! [`Recorder`] wraps any provider and writes what is asked and answered to a
//! *cassette*; [`Replayer`] is a provider that answers from it, the same items
//! in the same order, as long as it is asked the same. Facts that requests depend on
//! are recorded and given again: the date, the git status, ids, descriptions of models.
//! [`Scrub`] names what must not get into the file, and what differs from machine to machine.

mod asked;
mod facts;
mod line;
mod record;
mod replay;
mod scrub;

pub use record::Recorder;
pub use replay::{CassetteError, Replayer};
pub use scrub::Scrub;

/// The version that is written. Version 1, which holds no facts, is read as well.
const VERSION: u64 = 2;

#[cfg(test)]
mod tests;
