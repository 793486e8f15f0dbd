//! The local ports and the built-in tools against the kits of their contracts.

#[cfg(target_os = "linux")]
mod process;
mod tools;
mod workspace;
