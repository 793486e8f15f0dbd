//! The mapper, the server and the client.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed, and helpers of tests fail by panicking"
)]

mod client;
mod corpus;
mod frames;
mod server;
