//! The names in a memory's directory.

use super::{MemoryError, MemoryName};
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::Path;

/// Maximum number of memories of a directory. More are not read, and no more are written.
pub(super) const MOST_MEMORIES: usize = 10_000;
/// Maximum number of names that are read.
const MAX_NAMES: usize = 2 * MOST_MEMORIES;

/// Names in a memory directory.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// Names of the memories. Links are ignored.
    pub(super) names: BTreeSet<MemoryName>,
    /// `true` if there are more names than were read.
    pub(super) is_cut: bool,
}

impl Scan {
    /// Reads the names in a directory. A missing directory is empty.
    pub(super) fn of(directory: &Path) -> Result<Self, MemoryError> {
        let mut scan = Self::default();
        let entries = match std::fs::read_dir(directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(scan),
            Err(problem) => return Err(MemoryError::Io { path: directory.to_path_buf(), problem }),
        };
        for (index, entry) in entries.flatten().enumerate() {
            if index >= MAX_NAMES || scan.names.len() >= MOST_MEMORIES {
                scan.is_cut = true;
                break;
            }
            let file = entry.file_name();
            let Some(file) = file.to_str() else { continue };
            if let Some(name) = MemoryName::of_file(file)
                && entry.file_type().is_ok_and(|kind| kind.is_file())
            {
                scan.names.insert(name);
            }
        }
        Ok(scan)
    }

    /// Returns the total size of the memories in bytes, without one of them.
    pub(super) fn bytes_without(&self, directory: &Path, name: &MemoryName) -> u64 {
        let others = self.names.iter().filter(|other| *other != name);
        others.filter_map(|other| directory.join(other.file()).symlink_metadata().ok()).map(|file| file.len()).sum()
    }
}
