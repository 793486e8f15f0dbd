//! Conversations over sessions of the runtime: a scripted model, tools in memory, no disk.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot continue has failed"
)]

mod live;
mod world;
