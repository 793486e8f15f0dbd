//! The first entries of a sequence that arrives in any order.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use super::line::{Line, LineKind};

/// Maximum memory for the kept lines of all files, in bytes.
const MAX_WEIGHT: usize = 32 * 1024 * 1024;

/// Keeps the files that come first by path, as many as the requested lines need.
#[derive(Debug)]
pub(super) struct Window {
    /// One more than requested, to detect a rest.
    need: usize,
    full: AtomicBool,
    state: Mutex<WindowState>,
}

#[derive(Debug, Default)]
struct WindowState {
    files: BTreeMap<PathBuf, FileEntry>,
    lines: usize,
    weight: usize,
    /// `true` if some lines are not kept.
    dropped: bool,
}

#[derive(Debug)]
enum FileEntry {
    Lines { lines: Vec<Line>, weight: usize },
    Count(u64),
}

impl FileEntry {
    fn lines(&self) -> usize {
        match self {
            Self::Lines { lines, .. } => lines.len(),
            Self::Count(_) => 1,
        }
    }

    fn weight(&self) -> usize {
        match self {
            Self::Lines { weight, .. } => *weight,
            Self::Count(_) => 0,
        }
    }
}

/// A part of the sequence of lines.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) files: Vec<(PathBuf, Vec<Line>)>,
    pub(super) more: bool,
    /// Number of files and lines altogether, when all were seen.
    pub(super) totals: Option<(usize, u64)>,
}

impl Window {
    pub(super) fn new(wanted: usize) -> Self {
        Self {
            // One more for the break that the very first group lacks.
            need: wanted.saturating_add(2),
            full: AtomicBool::new(false),
            state: Mutex::default(),
        }
    }

    /// Maximum number of lines of one file that can be in the result.
    pub(super) fn need(&self) -> usize {
        self.need
    }

    /// `true` if lines of this file, or of files below this directory, can still be in the result.
    pub(super) fn wants(&self, path: &Path) -> bool {
        if !self.full.load(Ordering::Relaxed) {
            return true;
        }
        let mut state = self.lock();
        let wanted = state.files.last_key_value().is_none_or(|(last, _)| path < last.as_path());
        if !wanted {
            state.dropped = true;
        }
        wanted
    }

    /// Adds the lines of one file; `cut`: it has more.
    pub(super) fn add_lines(&self, path: PathBuf, lines: Vec<Line>, weight: usize, cut: bool) {
        let mut state = self.lock();
        state.dropped |= cut;
        self.add(&mut state, path, FileEntry::Lines { lines, weight });
    }

    /// Adds the count of one file.
    pub(super) fn add_count(&self, path: PathBuf, count: u64) {
        let mut state = self.lock();
        self.add(&mut state, path, FileEntry::Count(count));
    }

    fn add(&self, state: &mut WindowState, path: PathBuf, entry: FileEntry) {
        state.lines += entry.lines();
        state.weight += entry.weight();
        state.files.insert(path, entry);
        while let Some(last) = state.files.last_entry() {
            let lines = state.lines - last.get().lines();
            let weight = state.weight - last.get().weight();
            if lines < self.need && weight < MAX_WEIGHT {
                break;
            }
            last.remove();
            state.lines = lines;
            state.weight = weight;
            state.dropped = true;
        }
        let full = state.lines >= self.need || state.weight >= MAX_WEIGHT;
        self.full.store(full, Ordering::Relaxed);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, WindowState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn take_counts(&self, offset: usize, limit: usize) -> Vec<(PathBuf, u64)> {
        std::mem::take(&mut *self.lock())
            .files
            .into_iter()
            .filter_map(|(path, entry)| match entry {
                FileEntry::Count(count) => Some((path, count)),
                FileEntry::Lines { .. } => None,
            })
            .skip(offset)
            .take(limit)
            .collect()
    }

    pub(super) fn take_lines(&self, offset: usize, limit: usize) -> Part {
        let state = std::mem::take(&mut *self.lock());
        let (mut skip, mut room) = (offset, limit);
        let (mut lines_seen, mut files_seen) = (0_u64, 0);
        let mut files = Vec::new();
        let mut more = state.dropped;
        for (path, entry) in state.files {
            let FileEntry::Lines { mut lines, .. } = entry else {
                continue;
            };
            if files_seen == 0 && lines.first().is_some_and(|line| line.kind == LineKind::Break) {
                lines.remove(0);
            }
            files_seen += 1;
            lines_seen += lines.len() as u64;
            let skipped = skip.min(lines.len());
            skip -= skipped;
            lines.drain(..skipped);
            more |= lines.len() > room;
            lines.truncate(room);
            room -= lines.len();
            if !lines.is_empty() {
                files.push((path, lines));
            }
        }
        Part { files, more, totals: (!state.dropped).then_some((files_seen, lines_seen)) }
    }
}
