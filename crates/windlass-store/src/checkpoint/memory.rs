//! Contents in memory.

use super::history::History;
use super::shelf::{AppendError, Shelf};
use std::collections::HashMap;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use windlass_session::CheckpointError;

/// Contents in memory. The index is in the history itself.
#[derive(Debug, Default)]
pub(crate) struct Memory(Mutex<HashMap<blake3::Hash, Vec<u8>>>);

impl Memory {
    fn lock(&self) -> MutexGuard<'_, HashMap<blake3::Hash, Vec<u8>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shelf for Memory {
    fn open(&self, _: bool) -> Result<Option<History>, CheckpointError> {
        Ok(Some(History::default()))
    }

    fn put(&self, hash: &blake3::Hash, content: &[u8]) -> Result<(), CheckpointError> {
        self.lock().insert(*hash, content.to_vec());
        Ok(())
    }

    fn get(&self, hash: &blake3::Hash) -> io::Result<Vec<u8>> {
        self.lock().get(hash).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn remove(&self, hashes: &[blake3::Hash]) {
        self.lock().retain(|hash, _| !hashes.contains(hash));
    }

    fn append(&self, _: &[u8], _: bool) -> Result<(), AppendError> {
        Ok(())
    }
}
