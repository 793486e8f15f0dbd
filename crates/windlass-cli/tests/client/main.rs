//! The command as a child process of the Rust client.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot be set up has failed"
)]

#[cfg(unix)]
mod agents;
mod kept_out;
mod orphans;
#[allow(dead_code, reason = "the tests of the command use the rest of it")]
#[path = "../cli/place.rs"]
mod place;
mod turns;
