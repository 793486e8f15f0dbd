//! The local ports, over real files and real programs.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed, and helpers of tests fail by panicking"
)]

mod kits;
#[cfg(target_os = "linux")]
mod programs;
#[cfg(unix)]
mod swaps;
