//! The tool `Agent` with fake agents: its inputs, the agents that it starts and the results.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod background;
mod common;
mod description;
mod foreground;
mod rules;
