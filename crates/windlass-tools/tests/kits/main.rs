//! The local ports and the built-in tools against the kits of their contracts.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a failure here is a failed test")]

#[cfg(target_os = "linux")]
mod process;
mod tools;
mod workspace;
