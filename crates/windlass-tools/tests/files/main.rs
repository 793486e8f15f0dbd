//! The file tools and the todo list as a session uses them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod edit;
mod local;
mod read;
mod session;
mod todo;
mod write;
