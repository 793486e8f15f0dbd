//! Context that a prompt gets beside its words: attachments, and files that have changed.

pub(crate) mod attachments;
pub(crate) mod file_changes;
