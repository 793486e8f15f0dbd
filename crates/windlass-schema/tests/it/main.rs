//! Comparison of the checker with the full implementation, and its answers on inputs.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed, and helpers of tests fail by panicking"
)]

mod checks;
mod reference;
