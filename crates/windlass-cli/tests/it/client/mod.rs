//! The command as a child process of the Rust client.

#[cfg(unix)]
mod agents;
mod kept_out;
mod orphans;
pub(crate) mod turns;
