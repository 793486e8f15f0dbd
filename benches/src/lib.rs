//! What the benches share: the floor, which is the least program that does the
//! same work, and medians.

pub mod floor;
pub mod stats;
