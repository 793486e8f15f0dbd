//! Configured hooks with real programs.
#![cfg(unix)]
#![allow(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed, and helpers of tests fail by panicking"
)]

mod background;
mod failures;
mod occasions;
mod place;
mod programs;
