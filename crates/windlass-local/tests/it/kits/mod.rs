//! The local ports against the kits of their contracts.

#[cfg(target_os = "linux")]
mod process;
mod workspace;
