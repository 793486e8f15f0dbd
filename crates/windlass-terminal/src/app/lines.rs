//! State of a conversation in lines.

use std::time::Duration;

/// State of a conversation in lines.
#[derive(Debug, Default)]
pub(super) struct PlainInput {
    /// Bytes of a line that has no end yet.
    pub(super) bytes: Vec<u8>,
    /// Time of the dialogs, in which each key stands alone.
    pub(super) time: Duration,
    /// Rows of the question that were written last.
    pub(super) asked: Vec<String>,
}
