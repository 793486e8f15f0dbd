//! The index of real trees.
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests use real folders and clocks; one that cannot be set up has failed"
)]

#[cfg(unix)]
mod hostile;
mod project;
mod same;
mod tool;
mod tree;
