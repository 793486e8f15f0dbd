//! Reading of logs from any position.

use crate::blocking::blocking;
use crate::{JsonlStore, disk, locate, open};
use async_trait::async_trait;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use windlass_session::{LogChunk, LogReader, SessionKey, StoreError};

#[async_trait]
impl LogReader for JsonlStore {
    async fn read(&self, key: &SessionKey, position: u64) -> Result<LogChunk, StoreError> {
        locate::check(key)?;
        let (roots, key) = (self.roots().clone(), key.clone());
        blocking(move || {
            let path = roots.find(&key)?.ok_or_else(|| StoreError::not_found(&key))?;
            let chunk = open::read(&path).and_then(|mut file| read_chunk(&mut file, position));
            chunk.map_err(|error| disk::error(&path, "read", &error))
        })
        .await
    }
}

/// Reads a chunk, or one line that is longer than a chunk.
fn read_chunk(file: &mut File, position: u64) -> io::Result<LogChunk> {
    file.seek(SeekFrom::Start(position))?;
    let mut bytes = Vec::new();
    loop {
        let read = file.by_ref().take(LogChunk::BYTES as u64).read_to_end(&mut bytes)?;
        let has_more = read == LogChunk::BYTES;
        if !has_more || bytes.contains(&b'\n') {
            return Ok(LogChunk::new(position, bytes, has_more));
        }
    }
}
