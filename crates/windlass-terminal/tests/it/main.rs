//! The terminal from outside.

#![allow(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed, and helpers of tests fail by panicking"
)]

mod emulator;
mod presenter;
#[cfg(unix)]
mod raw;
mod screen;
mod surface;
mod text;
mod tmux;
mod tmux_resize;
mod world;
