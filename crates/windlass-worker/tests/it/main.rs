//! Workers as processes, on a real PostgreSQL that the suite starts.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot continue has failed"
)]

mod feeds;
mod load;
mod process;
mod relay;
mod rows;
#[path = "../../../windlass-postgres/tests/it/server.rs"]
#[allow(dead_code, reason = "the tests of the store use the rest")]
mod server;
mod takeover;
