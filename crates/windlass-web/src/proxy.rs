//! Egress proxy on a loopback address, or on a Unix socket, through which sandboxed programs reach permitted hosts.
//!
//! ```no_run
//! use windlass_permission::network::NetworkPolicy;
//! use windlass_web::proxy::{EgressOptions, EgressProxy};
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let policy = NetworkPolicy::default().allow("crates.io")?.allow("*.crates.io")?;
//! let proxy = EgressProxy::start(policy, EgressOptions::default()).await?;
//! let mut child = std::process::Command::new("cargo");
//! child.arg("fetch").envs(proxy.environment());
//! # Ok(())
//! # }
//! ```
//!
//! The proxy speaks HTTP: `CONNECT` for all encrypted traffic, and requests with an absolute `http://` address. Each is
//! judged by the [`NetworkPolicy`](windlass_permission::network::NetworkPolicy) before its name is looked up. The name
//! is looked up once, all its addresses must pass, and one of them is dialled: the name cannot change its meaning
//! between the check and the connection. Only clients with the token are served. Every decision is reported.
//!
//! The content of a tunnel is not inspected: a program can hide in it that it speaks to another server behind the same
//! host.

mod auth;
mod event;
mod forward;
mod gate;
mod head;
mod listener;
mod options;
mod traffic;

pub use event::{EgressEvent, EgressOutcome};
pub use listener::{EgressError, EgressProxy};
pub use options::{AskTarget, EgressOptions};
