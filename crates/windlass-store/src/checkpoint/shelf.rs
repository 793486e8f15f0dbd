//! Storage port of contents and the index.

use super::history::History;
use std::fmt::Debug;
use std::fs::File;
use std::sync::Arc;
use windlass_session::CheckpointError;

/// A content, and the open file that it was read from if its blocks may be shared.
#[derive(Debug, Default)]
pub(crate) struct Content {
    pub(crate) bytes: Vec<u8>,
    pub(crate) file: Option<Arc<File>>,
}

impl Content {
    pub(crate) fn len(&self) -> u64 {
        self.bytes.len() as u64
    }
}

/// Storage of contents and the index. All methods may block.
pub(crate) trait Shelf: Debug + Send + Sync + 'static {
    /// Reads the index. `None` if there is none and `create` is `false`.
    fn open(&self, create: bool) -> Result<Option<History>, CheckpointError>;

    /// Stores a content, durably if `sync` is set.
    fn put(&self, hash: &blake3::Hash, content: &[u8], sync: bool) -> Result<(), CheckpointError>;

    /// Reads a content, without a comparison with its hash.
    fn get(&self, hash: &blake3::Hash) -> std::io::Result<Vec<u8>>;

    /// Removes contents. Those that cannot be removed are left.
    fn remove(&self, hashes: &[blake3::Hash]);

    /// Removes all contents of the baseline, which are used by this process only.
    fn clear_baseline(&self) -> Result<(), CheckpointError>;

    /// Adds contents to the baseline. Returns their offsets.
    fn add_to_baseline(&self, contents: &[Content]) -> Result<Vec<u64>, CheckpointError>;

    /// Reads a content of the baseline, without a comparison with its hash.
    fn baseline_content(&self, at: u64, size: u64) -> std::io::Result<Vec<u8>>;

    /// Appends lines to the index, all or none, and makes them durable if `sync` is set.
    fn append(&self, lines: &[u8], sync: bool) -> Result<(), AppendError>;
}

/// Error of an append: the lines are not in the index.
#[derive(Debug)]
pub(crate) struct AppendError {
    pub(crate) error: CheckpointError,
    /// `true` if the same lines may be tried again.
    pub(crate) again: bool,
}
