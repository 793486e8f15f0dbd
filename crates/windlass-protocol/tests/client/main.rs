//! The client over in-memory pipes and over processes: peers that behave, and peers that do not.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

mod asked;
mod fake;
mod hostile;
#[cfg(unix)]
mod process;
mod served;
mod tools;
#[allow(dead_code, reason = "the tests of the server use the rest of it")]
#[path = "../server/world.rs"]
mod world;
