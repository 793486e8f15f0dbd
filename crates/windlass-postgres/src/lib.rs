//! Sessions in PostgreSQL, for many processes and machines.
//!
//! - [`PgStore`] is a [`SessionStore`](windlass_session::SessionStore) whose leases expire: another worker takes over a session
//!   whose owner is gone. It holds answers to permission requests, and reads logs from any position.
//! - Its inbox ([`PgStore::send`]) and its queue ([`PgStore::claim`]) are what a worker runs on.
//! - [`migrate()`] makes the tables.
//!
//! Only the database is shared. Workers' clocks do not matter, and no notifications are needed: everything is polled.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod answers;
mod config;
mod database;
mod error;
mod inbox;
mod migration;
mod questions;
mod queue;
mod reader;
mod renewal;
mod session;
mod store;
mod tls;

pub use config::PgConfig;
pub use error::ConnectError;
pub use inbox::{InboxKind, InboxMessage, InboxRow, NewSession, Sent, SessionLimits};
pub use migration::{Member, migrate};
pub use queue::{ClaimedSession, QueuedSession, SessionState, WorkerOffer};
pub use store::PgStore;

/// The time by which leases are measured here: that of the timers.
#[expect(clippy::disallowed_methods, reason = "a lease ends a term after it was asked for, on the clock of the timers")]
fn now() -> tokio::time::Instant {
    tokio::time::Instant::now()
}
