//! Checksum of a batch of lines.

use std::collections::VecDeque;

/// Maximum number of lines that one checksum covers.
const MAX_LINES: usize = 65_536;

/// Capacity kept for the next batch, in lines.
const IDLE_CAPACITY: usize = 64;

/// Sum over the lines since the last checksum: the hash of the lines' own hashes, so that the last lines can be summed
/// without the earlier ones.
#[derive(Debug, Default)]
pub(crate) struct LineSum {
    hashes: VecDeque<[u8; 32]>,
}

impl LineSum {
    /// Adds a line, without its line break.
    pub(crate) fn add(&mut self, line: &[u8]) {
        self.add_hash(&blake3::hash(line));
    }

    /// Adds a line by its hash.
    pub(crate) fn add_hash(&mut self, hash: &blake3::Hash) {
        if self.hashes.len() == MAX_LINES {
            self.hashes.pop_front();
        }
        self.hashes.push_back(*hash.as_bytes());
    }

    /// Returns the number of lines that the sum can cover.
    pub(crate) fn lines(&self) -> usize {
        self.hashes.len()
    }

    /// Returns the sum of the last lines, in hexadecimal, if there are that many.
    pub(crate) fn of_last(&self, lines: usize) -> Option<String> {
        let earlier = self.hashes.len().checked_sub(lines)?;
        let mut hasher = blake3::Hasher::new();
        for hash in self.hashes.iter().skip(earlier) {
            hasher.update(hash);
        }
        Some(hasher.finalize().to_hex().chars().take(32).collect())
    }

    /// Starts a new sum.
    pub(crate) fn clear(&mut self) {
        self.hashes.clear();
        self.hashes.shrink_to(IDLE_CAPACITY);
    }
}
