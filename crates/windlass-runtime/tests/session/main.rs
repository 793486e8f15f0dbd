//! Whole sessions on tokio: a scripted model, imagined tools, a store in memory.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot continue has failed"
)]

mod agents;
mod answers;
mod background;
mod changes;
mod edits;
mod failures;
mod faults;
mod following;
mod foreign;
mod host;
mod leases;
mod limits;
mod mentions;
mod money;
mod observed;
mod panics;
mod pending;
mod questions;
mod stops;
mod store;
mod stored_feed;
mod streaming;
mod waiting_agents;
mod watching;
mod world;
