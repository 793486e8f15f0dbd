//! Logs of sessions: their repair, their copies, and the store in memory.

#![allow(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed, and helpers of tests fail by panicking"
)]

mod agents;
mod branch;
mod common;
mod damage;
mod memory;
mod repair;
mod rewound;
