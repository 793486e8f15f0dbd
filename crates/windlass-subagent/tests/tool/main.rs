//! The tool `Agent` over fake agents: what it takes, what it starts and what comes of it.

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
