//! Servers that behave, and servers that do not.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failure here is a failed test"
)]

mod broken_streams;
mod child;
#[cfg(target_os = "linux")]
mod faults;
mod hostile;
mod http;
mod inside;
mod lazy;
mod logins;
mod newest;
mod odd_answers;
mod prompts;
mod real;
mod resources;
mod restarts;
mod sse;
mod stdio;
mod tasks;
mod tools;
mod watched;
mod world;
