//! Programs as they really behave: real processes, real signals.

mod cancelled;
mod faults;
mod host;
mod process;
pub(crate) mod support;
