//! A folder to index, and a manual clock.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;
use windlass_index::{IndexConfig, Overview, ProjectIndex};
use windlass_tool::Clock;
use windlass_types::Timestamp;

/// A clock that stands still until it is set.
#[derive(Debug, Default)]
pub(crate) struct Held(AtomicU64);

impl Held {
    pub(crate) fn set(&self, millis: u64) {
        self.0.store(millis, Ordering::Relaxed);
    }
}

impl Clock for Held {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::Relaxed))
    }
}

/// A temporary folder, its path free of links, and a place for a cache beside it.
pub(crate) struct Tree {
    folder: tempfile::TempDir,
    pub(crate) root: PathBuf,
    pub(crate) clock: Arc<Held>,
}

impl Tree {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("w");
        fs::create_dir(&root).unwrap();
        let tree = Self { folder, root, clock: Arc::default() };
        tree.settle();
        tree
    }

    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let tree = Self::new();
        for (path, content) in files {
            tree.write(path, content);
        }
        tree
    }

    pub(crate) fn write(&self, path: &str, content: &str) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// Lets a minute pass: the present state is no longer a recent change.
    pub(crate) fn settle(&self) {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        self.clock.set(u64::try_from(now.as_millis()).unwrap() + 60_000);
    }

    pub(crate) fn cache(&self) -> PathBuf {
        self.folder.path().join("cache")
    }

    pub(crate) fn config(&self) -> IndexConfig {
        IndexConfig::new(&self.root).clock(self.clock.clone())
    }

    /// An index with the cache of the tree.
    pub(crate) fn cached(&self) -> ProjectIndex {
        ProjectIndex::new(self.config().cached_in(self.cache()))
    }

    /// An index without a cache.
    pub(crate) fn fresh(&self) -> ProjectIndex {
        ProjectIndex::new(self.config())
    }

    pub(crate) fn overview(&self) -> Overview {
        self.fresh().overview(&|| false).unwrap()
    }
}

/// Paths that a search finds, in order.
pub(crate) fn paths(index: &ProjectIndex, query: &str) -> Vec<String> {
    let found = index.search(query, 100, &|| false).unwrap();
    found.hits.into_iter().map(|hit| hit.path).collect()
}

/// Complete result of a search for one word in each of the names, in one order.
pub(crate) fn all(index: &ProjectIndex, query: &str) -> Vec<(String, Vec<(u32, String)>)> {
    let found = index.search(query, 10_000, &|| false).unwrap();
    let mut all: Vec<_> = found
        .hits
        .into_iter()
        .map(|hit| (hit.path, hit.symbols.into_iter().map(|symbol| (symbol.line, symbol.name)).collect()))
        .collect();
    all.sort();
    all
}

pub(crate) fn names(folder: &Path) -> usize {
    fs::read_dir(folder).map(Iterator::count).unwrap_or_default()
}
