//! Context sent with a prompt: attachments, and changed files.

pub(crate) mod attachments;
pub(crate) mod file_changes;
