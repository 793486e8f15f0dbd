//! Logins against a network in memory, with correct servers and others.

#![allow(
    clippy::disallowed_methods,
    clippy::field_reassign_with_default,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed, and helpers of tests fail by panicking"
)]

mod automatic;
mod hostile;
mod login;
mod renewal;
mod store;
mod world;
