//! The log of a session: its writer, rewinds in it, and the directory that it restores.

pub(crate) mod directory;
mod lease;
pub(crate) mod opening;
pub(crate) mod rewind;
pub(crate) mod writer;
