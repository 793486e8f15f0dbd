//! Where contents and the index are.

use super::history::History;
use std::fmt::Debug;
use std::fs::File;
use std::sync::Arc;
use windlass_session::CheckpointError;

/// A content, and the open file that it was read from where its blocks may be shared.
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

/// Where contents and the index are. All methods may block.
pub(crate) trait Shelf: Debug + Send + Sync + 'static {
    /// Reads the index. `None` if there is none and none is to be made.
    fn open(&self, create: bool) -> Result<Option<History>, CheckpointError>;

    /// Stores a content, durably if `sync` is set.
    fn put(&self, hash: &blake3::Hash, content: &[u8], sync: bool) -> Result<(), CheckpointError>;

    /// Reads a content, without comparing it with its hash.
    fn get(&self, hash: &blake3::Hash) -> std::io::Result<Vec<u8>>;

    /// Forgets contents. What cannot be removed is left.
    fn remove(&self, hashes: &[blake3::Hash]);

    /// Forgets all contents of the baseline, which are of use to this process only.
    fn clear_baseline(&self) -> Result<(), CheckpointError>;

    /// Adds contents to the baseline. Returns where each of them begins.
    fn add_to_baseline(&self, contents: &[Content]) -> Result<Vec<u64>, CheckpointError>;

    /// Reads a content of the baseline, without comparing it with its hash.
    fn baseline_content(&self, at: u64, size: u64) -> std::io::Result<Vec<u8>>;

    /// Appends lines to the index, all or none, and makes what is there durable.
    fn append(&self, lines: &[u8], sync: bool) -> Result<(), AppendError>;
}

/// Lines that are not in the index.
#[derive(Debug)]
pub(crate) struct AppendError {
    pub(crate) error: CheckpointError,
    /// Whether the same lines may be tried again.
    pub(crate) again: bool,
}
