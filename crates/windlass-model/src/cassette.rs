//! Recording of model requests, and their replay without a network.
//!
//! [`Recorder`] wraps any provider and writes requests and answers to a *cassette*; [`Replayer`] is a provider that
//! answers from it, with the same items in the same order, as long as the requests are the same. Facts that requests
//! depend on are recorded and replayed: the date, the git status, ids, descriptions of models. [`Scrub`] names the
//! values that must not get into the file, and those that differ from machine to machine.

mod asked;
mod facts;
mod line;
mod record;
mod replay;
mod scrub;

pub use record::Recorder;
pub use replay::{CassetteError, Replayer};
pub use scrub::Scrub;

/// Version of written cassettes. Version 1, which contains no facts, can be read as well.
const VERSION: u64 = 2;

#[cfg(test)]
mod tests;
