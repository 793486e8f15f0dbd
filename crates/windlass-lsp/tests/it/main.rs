//! Language servers in use, with a small test server.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed, and helpers of tests fail by panicking"
)]

#[cfg(target_os = "linux")]
mod faults;
#[cfg(unix)]
mod questions;
#[cfg(unix)]
mod support;
#[cfg(unix)]
mod tool;
