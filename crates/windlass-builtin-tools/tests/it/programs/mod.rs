//! Programs as they really behave: real processes, real signals.

mod background;
mod bash;
#[cfg(target_os = "linux")]
mod locales;
#[path = "../../../../windlass-local/tests/it/programs/support.rs"]
mod processes;
mod snapshot;
pub(crate) mod support;
#[cfg(target_os = "linux")]
mod terminal;
