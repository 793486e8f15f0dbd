//! The command as a process: its output, its exit codes, its files on disk.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot be set up has failed"
)]

mod acp;
mod agents;
mod audit;
#[cfg(target_os = "linux")]
mod below_session;
mod canary;
mod cassettes;
mod client;
mod command_setup;
mod config;
mod context;
mod debug_log;
mod debugging;
mod demo;
#[cfg(target_os = "linux")]
mod elsewhere;
mod errors;
mod exit_codes;
mod formats;
#[cfg(unix)]
mod hostile;
mod importing;
mod index;
mod kept_out;
mod keys;
#[cfg(unix)]
mod listings;
#[cfg(unix)]
mod live_servers;
#[cfg(unix)]
mod living;
#[cfg(unix)]
mod logins;
#[cfg(target_os = "linux")]
#[cfg(target_os = "linux")]
mod managed;
mod marks;
mod mcp;
mod mcp_serve;
mod memory;
mod models;
#[cfg(unix)]
mod open_runs;
mod own_programs;
mod pending;
mod place;
mod plugins;
#[cfg(target_os = "linux")]
mod private;
mod programs;
#[cfg(unix)]
mod proxy;
#[cfg(unix)]
mod replaced;
#[cfg(target_os = "linux")]
mod repositories;
mod rewind;
#[cfg(unix)]
mod same;
#[cfg(unix)]
mod sampling;
#[cfg(target_os = "linux")]
#[cfg(target_os = "linux")]
mod sandbox;
mod searching;
mod servers;
mod sessions;
mod settings;
mod signals;
mod sinks;
#[cfg(unix)]
mod stalled;
#[cfg(unix)]
mod terminal;
mod threads;
mod waiting_agents;
mod warnings;
mod web;
#[cfg(all(unix, feature = "postgres"))]
mod worker;
