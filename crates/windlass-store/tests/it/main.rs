//! Logs and checkpoints on real disks.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed, and helpers of tests fail by panicking"
)]

mod agents;
mod answers;
mod branch;
mod changed;
#[cfg(unix)]
mod checkpoints;
mod conformance;
#[cfg(target_os = "linux")]
mod faults;
mod files;
mod kill;
mod race;
mod search;
#[cfg(unix)]
mod special;
