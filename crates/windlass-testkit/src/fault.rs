//! Ports that fail on request of a test.
//!
//! [`FaultyWorkspace`] and [`FaultyStore`] wrap any implementation and pass all operations on, except those that the
//! test has planned for: the n-th operation of a kind fails, does its work and then fails, or waits at a
//! [`Gate`](crate::Gate). Operations of each kind are counted from 1. Faults may be planned at any time; clones share
//! the plan.

mod plan;
mod store;
mod workspace;

pub use store::{FaultyStore, StoreOperation};
pub use workspace::{FaultyWorkspace, FileOperation};
