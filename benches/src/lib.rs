//! Parts that the benches share: the floor, which is the least program that does the same work, tool contexts, and
//! medians.

pub mod cx;
pub mod floor;
pub mod nothing;
pub mod stats;
