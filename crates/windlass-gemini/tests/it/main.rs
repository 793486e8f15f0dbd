//! Provider over real sockets. Tests whose names begin with `d1` to `d8` check the facts of the wire that break agents:
//! signatures, ids, results, schemas, malformed calls, usage, waits, reasoning.

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
mod history;
mod requests;
mod setup;
mod stream;
mod web_search;
mod wire;
