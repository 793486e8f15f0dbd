//! The server with the driver of conversations and a scripted model.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot continue has failed"
)]

mod broken;
mod buffers;
mod client_requests;
mod permission;
mod prompts;
mod sessions;
mod settings;
mod world;
