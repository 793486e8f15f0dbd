//! Tests of the kit itself, and of the structure of the workspace.

#![allow(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed, and helpers of tests fail by panicking"
)]

mod budgets;
mod circles;
mod diagram;
mod dialect;
mod edges;
mod fault;
mod known;
mod lints;
#[cfg(target_os = "linux")]
mod packages;
mod ports;
mod provider;
mod public_api;
mod published;
mod publishing;
mod skip;
mod store;
mod strace;
mod tool;
mod trait_examples;
mod walkthrough;
mod wire;
mod words;
mod workspace;
