//! The index of one project.

use crate::cache::{Cache, Part};
use crate::manifest::ManifestKind;
use crate::manifests::{self, Read};
use crate::overview::{Known, Overview};
use crate::search::{Found, Searchable};
use crate::symbols::Symbols;
use crate::tree::{Folder, Tree};
use crate::walk::{Bounds, Walk};
use crate::{Interrupted, MayRead};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::time::Duration;
use windlass_context::{FileInstructions, is_secret};
use windlass_local::TreeReader;
use windlass_tool::{Cancel, Clock, EntryKind, SystemClock};

/// Interval between two checks while a thread waits for another one.
const POLL_INTERVAL: Duration = Duration::from_millis(2);
/// Maximum number of names of the root that are read for a first request without a cache.
const MAX_ROOT_NAMES: usize = 2_000;
/// Maximum number of manifests of the root that are read for it, and of bytes of each.
const MAX_ROOT_MANIFESTS: usize = 12;
const MAX_ROOT_MANIFEST_BYTES: u64 = 64 * 1024;

/// Configuration of an index.
#[derive(Clone)]
#[must_use]
pub struct IndexConfig {
    root: PathBuf,
    cache: Option<PathBuf>,
    may_read: MayRead,
    clock: Arc<dyn Clock>,
}

impl IndexConfig {
    /// An index of all files below `root`, an absolute path without links. Default: without a cache, and with the clock
    /// of this machine.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), cache: None, may_read: Arc::new(|_| true), clock: Arc::new(SystemClock::default()) }
    }

    /// Caches results in private files of a directory, which is created on demand. Indexes of many projects can share
    /// it; the oldest files are removed.
    pub fn cached_in(mut self, directory: impl Into<PathBuf>) -> Self {
        self.cache = Some(directory.into());
        self
    }

    /// Judges which paths may be read. Folders for which it is false are not entered, and files are neither opened nor
    /// named in results. Default: all may be read.
    pub fn may_read(mut self, judge: impl Fn(&Path) -> bool + Send + Sync + 'static) -> Self {
        self.may_read = Arc::new(judge);
        self
    }

    /// Sets the clock. Changes within the last two seconds before a refresh are checked again the next time.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }
}

impl fmt::Debug for IndexConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IndexConfig").field("root", &self.root).field("cache", &self.cache).finish_non_exhaustive()
    }
}

/// The index of one project. Work in the background ends soon after this is dropped.
#[derive(Debug)]
pub struct ProjectIndex {
    work: Arc<Work>,
    ended: Cancel,
}

impl Drop for ProjectIndex {
    fn drop(&mut self) {
        self.ended.cancel();
    }
}

/// State shared by the background thread and the index.
#[derive(Debug)]
struct Work {
    config: IndexConfig,
    cache: Option<Cache>,
    state: Mutex<Option<State>>,
}

/// Results of the index.
#[derive(Debug, Default)]
struct State {
    kept: Kept,
    symbols: Option<Symbols>,
    /// Word search; `None` once the tree or the symbols have changed.
    searchable: Option<Searchable>,
}

/// Cached part of the results.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Kept {
    tree: Tree,
    manifests: Vec<Read>,
}

impl Kept {
    fn overview(&self) -> Overview {
        let manifests: Vec<&Known> = self.manifests.iter().map(|read| &read.known).collect();
        Overview::of(&self.tree, &manifests)
    }
}

impl ProjectIndex {
    /// Creates the index. Nothing is read yet.
    pub fn new(config: IndexConfig) -> Self {
        let cache = config.cache.as_deref().map(|directory| Cache::new(directory, &config.root));
        Self { work: Arc::new(Work { config, cache, state: Mutex::new(None) }), ended: Cancel::new() }
    }

    /// Root folder of the index.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.work.config.root
    }

    /// Overview for the model after the first prompt: from the cache, and without one from the manifests of the root
    /// alone. Takes a millisecond or less, whatever the size of the project. Blocks for as long as the disk takes.
    #[must_use]
    pub fn for_model(&self) -> Option<FileInstructions> {
        let work = &self.work;
        let cached = work.cache.as_ref().and_then(|cache| cache.read::<Overview>(Part::Overview));
        work.readable(cached.unwrap_or_else(|| work.overview_of_root())).for_model()
    }

    /// Updates the index and its cache on a thread of its own. Only the first call has an effect.
    pub fn refresh_in_background(&self) {
        let (work, ended) = (Arc::clone(&self.work), self.ended.clone());
        let refresh = move || {
            let stop = || ended.is_cancelled();
            let Ok(mut state) = work.lock(&stop) else { return };
            if state.is_none() && work.refresh(&mut state, &stop).is_err() {
                tracing::debug!(root = %work.config.root.display(), "the index was stopped");
            }
        };
        if let Err(error) = std::thread::Builder::new().name("windlass-index".to_owned()).spawn(refresh) {
            tracing::debug!(%error, "no thread for the index");
        }
    }

    /// Present overview of the project. `stop` is polled often. Blocks for as long as the disk takes.
    ///
    /// # Errors
    /// `stop` was true, or this is dropped.
    pub fn overview(&self, stop: &(dyn Fn() -> bool + Sync)) -> Result<Overview, Interrupted> {
        let stop = || stop() || self.ended.is_cancelled();
        let mut state = self.work.lock(&stop)?;
        let kept = &self.work.refresh(&mut state, &stop)?.kept;
        Ok(self.work.readable(kept.overview()))
    }

    /// At most `limit` files whose paths or symbols match a search best, in their present state. `stop` is polled
    /// often. Blocks for as long as the disk takes.
    ///
    /// # Errors
    /// `stop` was true, or this is dropped.
    pub fn search(&self, query: &str, limit: usize, stop: &(dyn Fn() -> bool + Sync)) -> Result<Found, Interrupted> {
        let work = &self.work;
        let stop = || stop() || self.ended.is_cancelled();
        let mut state = work.lock(&stop)?;
        let state = work.refresh(&mut state, &stop)?;
        work.refresh_symbols(state, &stop)?;
        let symbols = state.symbols.get_or_insert_default();
        let searchable = state.searchable.get_or_insert_with(|| Searchable::new(&state.kept.tree, symbols));
        let may_read = |path: &str| work.may_read(path);
        Ok(searchable.search(&state.kept.tree, symbols, query, limit, &may_read))
    }
}

impl Work {
    /// Locks the results once no other thread works on them. A slow disk may delay the other thread, so `stop` is
    /// polled meanwhile.
    fn lock(&self, stop: &dyn Fn() -> bool) -> Result<MutexGuard<'_, Option<State>>, Interrupted> {
        loop {
            match self.state.try_lock() {
                Ok(state) => return Ok(state),
                Err(TryLockError::Poisoned(state)) => return Ok(state.into_inner()),
                Err(TryLockError::WouldBlock) if stop() => return Err(Interrupted),
                Err(TryLockError::WouldBlock) => std::thread::park_timeout(POLL_INTERVAL),
            }
        }
    }

    fn may_read(&self, path: &str) -> bool {
        let full = self.config.root.join(path);
        !is_secret(Path::new(path)) && (self.config.may_read)(&full)
    }

    fn readable(&self, overview: Overview) -> Overview {
        overview.readable(|path| self.may_read(path))
    }

    /// Runs `work` with a walk.
    fn walk<T>(&self, stop: &(dyn Fn() -> bool + Sync), work: impl FnOnce(&Walk<'_>) -> T) -> T {
        let root = self.config.root.as_path();
        let allowed = |path: &Path| (self.config.may_read)(path);
        let workspace = [root.to_owned()];
        let reader = TreeReader::new(root, &workspace, &allowed);
        let now = self.config.clock.now();
        work(&Walk { reader: &reader, root, allowed: &allowed, bounds: Bounds::default(), now, stop })
    }

    /// Updates the tree and the manifests, and the cache if they have changed. After an interruption everything is
    /// checked again.
    fn refresh<'a>(
        &self,
        state: &'a mut Option<State>,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<&'a mut State, Interrupted> {
        let load_cached = || self.cache.as_ref().and_then(|cache| cache.read::<Kept>(Part::Tree));
        let previous =
            state.take().unwrap_or_else(|| State { kept: load_cached().unwrap_or_default(), ..State::default() });
        let (tree, manifests) = (previous.kept.tree, previous.kept.manifests);
        let (kept, differs) = self.walk(stop, |walk| {
            let (tree, tree_differs) = walk.run(Some(tree))?;
            let (manifests, manifests_differ) = manifests::refreshed(walk, &tree, manifests)?;
            Ok((Kept { tree, manifests }, tree_differs || manifests_differ))
        })?;
        if differs {
            self.write_cache(Part::Overview, &kept.overview());
            self.write_cache(Part::Tree, &kept);
        }
        let searchable = previous.searchable.filter(|_| !differs);
        Ok(state.insert(State { kept, symbols: previous.symbols, searchable }))
    }

    /// Updates the symbols, and their cache if they have changed.
    fn refresh_symbols(&self, state: &mut State, stop: &(dyn Fn() -> bool + Sync)) -> Result<(), Interrupted> {
        let load_cached = || self.cache.as_ref().and_then(|cache| cache.read::<Symbols>(Part::Symbols));
        let previous = state.symbols.take().or_else(load_cached).unwrap_or_default();
        let (symbols, differs) = self.walk(stop, |walk| previous.refreshed(walk, &state.kept.tree))?;
        if differs {
            self.write_cache(Part::Symbols, &symbols);
            state.searchable = None;
        }
        state.symbols = Some(symbols);
        Ok(())
    }

    fn write_cache(&self, part: Part, content: &impl Serialize) {
        if let Some(Err(error)) = self.cache.as_ref().map(|cache| cache.write(part, content)) {
            tracing::debug!(%error, "the index is not kept");
        }
    }

    /// Overview from the root alone.
    fn overview_of_root(&self) -> Overview {
        self.walk(&|| false, |walk| {
            let entries = walk.reader.entries(walk.root, MAX_ROOT_NAMES).unwrap_or_default();
            let files = entries.into_iter().filter(|entry| entry.kind == EntryKind::File);
            let mut names: Vec<String> = files.filter_map(|entry| entry.name.into_string().ok()).collect();
            names.sort_unstable();
            let kinds = names.iter().filter_map(|name| Some((name, ManifestKind::of(name)?)));
            let read_manifest = |(name, kind): (&String, ManifestKind)| {
                let full = walk.root.join(name);
                let head = walk.reader.head(&full, MAX_ROOT_MANIFEST_BYTES).ok().filter(|_| !is_secret(&full))?;
                let manifest = crate::manifest::read(kind, name, &String::from_utf8_lossy(&head));
                Some(Known { path: name.clone(), kind, manifest })
            };
            let manifests: Vec<Known> = kinds.take(MAX_ROOT_MANIFESTS).filter_map(read_manifest).collect();
            let tree = Tree { folders: vec![Folder::of_names(names)], is_complete: false };
            let overview = Overview::of(&tree, &manifests.iter().collect::<Vec<_>>());
            // The number of the root's files does not describe the project.
            Overview { files: 0, languages: Vec::new(), ..overview }
        })
    }
}
