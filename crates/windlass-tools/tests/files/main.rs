//! The file tools and the todo list as a session uses them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod edit;
mod fake;
mod local;
mod read;
mod todo;
mod write;
