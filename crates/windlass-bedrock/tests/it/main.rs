//! Provider over real sockets. Tests whose names begin with `e2` to `e6` check the facts of the wire that break agents:
//! events, ids, cache points, limits, throttling, names of models.

#![allow(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::needless_pass_by_value,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed, helpers of tests fail by panicking, and are given `json!` literals"
)]

mod conformance;
mod errors;
mod frames;
mod history;
mod requests;
mod setup;
mod stream;
mod wire;
