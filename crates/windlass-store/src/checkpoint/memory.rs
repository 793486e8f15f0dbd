//! Contents in memory.

use super::history::History;
use super::shelf::{AppendError, Content, Shelf};
use std::collections::HashMap;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use windlass_session::CheckpointError;

/// Contents in memory. The index is in the history itself.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    contents: Mutex<HashMap<blake3::Hash, Vec<u8>>>,
    baseline: Mutex<Vec<u8>>,
}

impl Memory {
    fn lock(&self) -> MutexGuard<'_, HashMap<blake3::Hash, Vec<u8>>> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn baseline(&self) -> MutexGuard<'_, Vec<u8>> {
        self.baseline.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shelf for Memory {
    fn open(&self, _: bool) -> Result<Option<History>, CheckpointError> {
        Ok(Some(History::default()))
    }

    fn put(&self, hash: &blake3::Hash, content: &[u8], _: bool) -> Result<(), CheckpointError> {
        self.lock().insert(*hash, content.to_vec());
        Ok(())
    }

    fn get(&self, hash: &blake3::Hash) -> io::Result<Vec<u8>> {
        self.lock().get(hash).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn remove(&self, hashes: &[blake3::Hash]) {
        self.lock().retain(|hash, _| !hashes.contains(hash));
    }

    fn clear_baseline(&self) -> Result<(), CheckpointError> {
        self.baseline().clear();
        Ok(())
    }

    fn add_to_baseline(&self, contents: &[Content]) -> Result<Vec<u64>, CheckpointError> {
        let mut all = self.baseline();
        let mut add = |content: &Content| {
            let at = all.len() as u64;
            all.extend_from_slice(&content.bytes);
            at
        };
        Ok(contents.iter().map(&mut add).collect())
    }

    fn baseline_content(&self, at: u64, size: u64) -> io::Result<Vec<u8>> {
        let begin = usize::try_from(at).unwrap_or(usize::MAX);
        let end = begin.saturating_add(usize::try_from(size).unwrap_or(usize::MAX));
        self.baseline().get(begin..end).map(<[u8]>::to_vec).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    fn append(&self, _: &[u8], _: bool) -> Result<(), AppendError> {
        Ok(())
    }
}
