//! Programs as they really behave: real processes, real signals.

mod background;
mod bash;
mod cancelled;
mod faults;
mod host;
#[cfg(target_os = "linux")]
mod locales;
mod process;
mod snapshot;
pub(crate) mod support;
#[cfg(target_os = "linux")]
mod terminal;
