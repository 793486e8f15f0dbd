//! The log of a session: its writer, rewinds in it, the directory that it restores, and how others follow it.

pub(crate) mod directory;
mod lease;
pub(crate) mod opening;
pub(crate) mod rewind;
pub(crate) mod stored_feed;
pub(crate) mod writer;
