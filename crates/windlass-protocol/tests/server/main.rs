//! The server over in-memory pipes: a host that behaves, and hosts that do not.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

mod agents;
mod attacks;
mod background;
mod behaved;
mod broken;
mod commands;
mod control;
mod host;
mod joining;
mod mcp;
mod messages;
mod plugins;
mod rewind;
mod storms;
mod world;
