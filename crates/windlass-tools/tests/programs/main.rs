//! Programs as they really behave: real processes, real signals.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a failure here is a failed test")]

mod background;
mod bash;
mod faults;
mod host;
mod process;
mod support;
