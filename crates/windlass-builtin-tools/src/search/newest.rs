//! The newest files of a sequence, without keeping the others.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Order by age, then by path: the first is shown first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    modified: Reverse<SystemTime>,
    path: PathBuf,
}

/// The `capacity` newest of all offered paths, and the number of all of them.
#[derive(Debug, Default)]
pub(super) struct Newest {
    // The greatest element is the next one to drop.
    kept: BinaryHeap<Rank>,
    capacity: usize,
    offered: usize,
}

impl Newest {
    pub(super) fn new(capacity: usize) -> Self {
        Self { capacity, ..Self::default() }
    }

    pub(super) fn offer(&mut self, modified: SystemTime, path: &Path) {
        self.offered += 1;
        // Most paths of a large tree need not even be copied.
        let is_older = self.kept.len() >= self.capacity
            && self.kept.peek().is_none_or(|last| (last.modified, last.path.as_path()) <= (Reverse(modified), path));
        if !is_older {
            self.keep(Rank { modified: Reverse(modified), path: path.to_owned() });
        }
    }

    /// Adds the paths and the count of `other`.
    pub(super) fn absorb(&mut self, other: Self) {
        self.offered += other.offered;
        for rank in other.kept {
            self.keep(rank);
        }
    }

    fn keep(&mut self, rank: Rank) {
        if self.kept.len() < self.capacity {
            self.kept.push(rank);
        } else if let Some(mut last) = self.kept.peek_mut()
            && rank < *last
        {
            *last = rank;
        }
    }

    /// Number of offered paths.
    pub(super) fn offered(&self) -> usize {
        self.offered
    }

    /// Newest first; equally new ones by path.
    pub(super) fn into_paths(self) -> Vec<PathBuf> {
        self.kept.into_sorted_vec().into_iter().map(|rank| rank.path).collect()
    }
}
