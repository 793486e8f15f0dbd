//! Provider over real sockets.

#![allow(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed, and helpers of tests fail by panicking"
)]

#[cfg(feature = "bedrock")]
mod bedrock;
mod conformance;
mod errors;
mod requests;
mod stream;
mod strict;
mod vertex;
mod web_search;
