//! The checker beside the full implementation, and what it says of inputs.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed, and helpers of tests fail by panicking"
)]

mod checks;
mod reference;
