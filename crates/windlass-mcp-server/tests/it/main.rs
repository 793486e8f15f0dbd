//! Server as clients see it.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::needless_pass_by_value,
    reason = "a test that cannot be set up has failed"
)]

mod agent;
mod gated;
mod http;
mod library;
mod rounds;
mod tasks;
mod world;
