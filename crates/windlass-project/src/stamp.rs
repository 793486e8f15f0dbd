//! Stamps of files, which detect changes without reading contents.

use std::fs::Metadata;
use std::path::Path;

/// Digest of names, sizes and times of files. Two equal stamps mean that no file was added, removed or changed.
#[derive(Debug, Clone)]
pub(crate) struct Stamp(blake3::Hasher);

impl Stamp {
    pub(crate) fn new() -> Self {
        Self(blake3::Hasher::new())
    }

    /// Adds a file, which may be missing, by its metadata.
    pub(crate) fn add(&mut self, path: &Path) {
        self.add_seen(path, path.metadata().ok().as_ref());
    }

    /// Adds a file whose metadata was read already: links followed, `None` if it is missing.
    pub(crate) fn add_seen(&mut self, path: &Path, file: Option<&Metadata>) {
        let name = path.as_os_str().as_encoded_bytes();
        self.0.update(&(name.len() as u64).to_le_bytes());
        self.0.update(name);
        let Some(file) = file else { return };
        let changed = file.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        self.0.update(&file.len().to_le_bytes());
        self.0.update(&changed.unwrap_or_default().as_nanos().to_le_bytes());
        self.add_identity(file);
    }

    /// Adds the identity of a file, because a replaced file may have the same size and time.
    #[cfg(unix)]
    fn add_identity(&mut self, file: &Metadata) {
        use std::os::unix::fs::MetadataExt;
        for number in
            [file.ino(), file.ctime().unsigned_abs(), file.ctime_nsec().unsigned_abs(), u64::from(file.mode())]
        {
            self.0.update(&number.to_le_bytes());
        }
    }

    #[cfg(not(unix))]
    fn add_identity(&mut self, _: &Metadata) {}

    pub(crate) fn digest(&self) -> blake3::Hash {
        self.0.finalize()
    }
}

impl PartialEq for Stamp {
    fn eq(&self, other: &Self) -> bool {
        self.digest() == other.digest()
    }
}
