//! Web access of agents, over local servers and test names.

#![allow(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed, and helpers of tests fail by panicking"
)]

mod common;
mod fetch;
mod proxy;
mod proxy_attacks;
mod rebinding;
mod search;
