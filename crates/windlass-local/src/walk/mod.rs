//! Walks over the files of this machine.

mod ignore_files;
mod scope;
#[cfg(all(test, unix))]
mod testing;
mod tree_reader;

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use async_trait::async_trait;
use ignore::{DirEntry, ParallelVisitor, ParallelVisitorBuilder, WalkBuilder, WalkState};
use windlass_tool::{
    FileVisitor, FileVisitors, FileWalk, VisitedContent, VisitedFile, WalkInterrupt, WalkReport, WalkScope,
    WorkspaceError, WorkspaceErrorKind,
};

use self::ignore_files::FolderRules;
use crate::drop_flag::DropFlag;
use crate::workspace::LocalWorkspace;
use crate::workspace::dir::{self, Dir};
use windlass_blocking::run_blocking;

pub(crate) use self::ignore_files::{WalkRules, fingerprint, texts};
pub(crate) use self::scope::{Scope, is_version_control};
pub use self::tree_reader::{TreeEntry, TreeReader};

#[async_trait]
impl FileWalk for LocalWorkspace {
    async fn walk(&self, scope: WalkScope, visitors: FileVisitors) -> Result<WalkReport, WorkspaceError> {
        let dropped = DropFlag::default();
        let is_dropped = dropped.flag();
        let work = move || {
            let interrupt = || match is_dropped.load(Ordering::Relaxed) {
                true => Some(WalkInterrupt::Cancelled),
                false => (scope.interrupt)(),
            };
            let allowed = |path: &Path| scope.allows(path);
            let WalkScope { root, workspace, include_ignored, max_depth, .. } = &scope;
            let (include_ignored, max_depth) = (*include_ignored, *max_depth);
            let scope = Scope { root, workspace, include_ignored, max_depth, allowed: &allowed, interrupt: &interrupt };
            walk(scope, &*visitors)
        };
        run_blocking(work).await.map_err(|error| WorkspaceError::new(WorkspaceErrorKind::Other, error.to_string()))
    }
}

/// Constructor of visitors; each thread of a walk has its own.
type Visitors<'a> = &'a (dyn Fn() -> Box<dyn FileVisitor> + Sync);

/// Walks `scope` on several threads.
fn walk(scope: Scope<'_>, visitors: Visitors<'_>) -> WalkReport {
    let tally = Tally::default();
    let ignores = (!scope.include_ignored).then(|| Arc::new(WalkRules::default()));
    let ignored_folders = Arc::new(AtomicUsize::new(0));
    let mut builder = WalkBuilder::new(scope.root);
    // The library opens no ignore files itself.
    builder.standard_filters(false).follow_links(false).threads(threads()).max_depth(scope.max_depth);
    if let Some(ignores) = ignores.clone() {
        let ignored_folders = Arc::clone(&ignored_folders);
        // Checked before the folder is listed. Files are checked where the rules of their folder are at hand.
        builder.filter_entry(move |entry| {
            let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            let is_ignored = is_folder && ignores.leave_out_folder(entry.path());
            if is_ignored && !is_version_control(entry.file_name()) {
                ignored_folders.fetch_add(1, Ordering::Relaxed);
            }
            !is_ignored
        });
    }
    builder.build_parallel().visit(&mut WalkThreads { scope, visitors, tally: &tally, ignores: ignores.as_deref() });
    let mut report = WalkReport::default();
    report.interrupted = tally.interrupted.get().copied();
    report.unreadable = tally.unreadable.into_inner();
    report.unusable_ignores = ignores.map_or(0, |ignores| ignores.unusable());
    report.ignored_files = tally.ignored_files.into_inner();
    report.ignored_folders = ignored_folders.load(Ordering::Relaxed);
    report
}

/// Number of threads: more than there are processors when there are few, because some wait for the disk.
fn threads() -> usize {
    std::thread::available_parallelism().map_or(4, usize::from).clamp(4, 12)
}

#[derive(Default)]
struct Tally {
    interrupted: OnceLock<WalkInterrupt>,
    unreadable: AtomicUsize,
    ignored_files: AtomicUsize,
}

struct WalkThreads<'s> {
    scope: Scope<'s>,
    visitors: Visitors<'s>,
    tally: &'s Tally,
    ignores: Option<&'s WalkRules>,
}

impl<'s> ParallelVisitorBuilder<'s> for WalkThreads<'s> {
    fn build(&mut self) -> Box<dyn ParallelVisitor + 's> {
        Box::new(WalkThread {
            scope: self.scope,
            visitor: (self.visitors)(),
            tally: self.tally,
            ignores: self.ignores,
            rules: FolderRules::default(),
            folder: None,
        })
    }
}

/// Thread of a walk, with its visitor.
struct WalkThread<'s> {
    scope: Scope<'s>,
    visitor: Box<dyn FileVisitor>,
    tally: &'s Tally,
    ignores: Option<&'s WalkRules>,
    rules: FolderRules,
    /// Folder of the last file whose time was looked up.
    folder: Option<(PathBuf, Dir)>,
}

impl WalkThread<'_> {
    fn stop(&self, reason: WalkInterrupt) -> WalkState {
        // The first reason is reported.
        let _first = self.tally.interrupted.set(reason);
        WalkState::Quit
    }

    /// `true` if a directory is entered.
    fn enter(&mut self, path: &Path, below_root: bool) -> bool {
        if below_root && !self.visitor.enter(path) || !(self.scope.allowed)(path) {
            return false;
        }
        if let Some(ignores) = self.ignores {
            ignores.enter(path, &self.scope);
        }
        true
    }
}

impl ParallelVisitor for WalkThread<'_> {
    fn visit(&mut self, entry: Result<DirEntry, ignore::Error>) -> WalkState {
        if let Some(reason) = (self.scope.interrupt)() {
            return self.stop(reason);
        }
        let Ok(entry) = entry else {
            self.tally.unreadable.fetch_add(1, Ordering::Relaxed);
            return WalkState::Continue;
        };
        let Some(kind) = entry.file_type() else {
            return WalkState::Continue;
        };
        let below_root = entry.depth() > 0;
        if below_root && is_version_control(entry.file_name()) {
            return WalkState::Skip;
        }
        let path = entry.path();
        if kind.is_dir() {
            return if self.enter(path, below_root) { WalkState::Continue } else { WalkState::Skip };
        }
        if !kind.is_file() && !kind.is_symlink() {
            return WalkState::Continue;
        }
        if let Some(ignores) = self.ignores.filter(|_| below_root)
            && self.rules.leave_out(path, ignores)
        {
            if self.visitor.wants(path) {
                self.tally.ignored_files.fetch_add(1, Ordering::Relaxed);
            }
            return WalkState::Continue;
        }
        let mut file = LocalVisit { path, is_root: !below_root, is_link: kind.is_symlink(), folder: &mut self.folder };
        match self.visitor.visit(&mut file) {
            Ok(()) => WalkState::Continue,
            Err(reason) => self.stop(reason),
        }
    }
}

/// A file of this machine on a walk.
struct LocalVisit<'v> {
    path: &'v Path,
    is_root: bool,
    is_link: bool,
    folder: &'v mut Option<(PathBuf, Dir)>,
}

impl VisitedFile for LocalVisit<'_> {
    fn path(&self) -> &Path {
        self.path
    }

    fn is_root(&self) -> bool {
        self.is_root
    }

    fn is_link(&self) -> bool {
        self.is_link
    }

    fn link_target(&self) -> Option<PathBuf> {
        std::fs::canonicalize(self.path).ok().filter(|target| target.is_file())
    }

    /// Looked up in the folder: for a whole tree that takes half the time of looking up the path.
    fn modified(&mut self) -> Option<SystemTime> {
        let (parent, name) = split_name(self.path)?;
        if self.folder.as_ref().is_none_or(|(cached, _)| cached.as_os_str() != parent.as_os_str()) {
            *self.folder = Some((parent.to_owned(), Dir::open_for_lookup(parent).ok()?));
        }
        let (_, dir) = self.folder.as_ref()?;
        dir.modified(name).ok()
    }

    fn open(&mut self) -> io::Result<Option<VisitedContent>> {
        let file = dir::open_file(self.path)?;
        let meta = file.metadata()?;
        let modified = meta.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        Ok(meta.is_file().then(|| VisitedContent::new(meta.len(), modified, Box::new(file))))
    }
}

/// Folder and name of a plain path.
#[cfg(unix)]
fn split_name(path: &Path) -> Option<(&Path, &OsStr)> {
    use std::os::unix::ffi::OsStrExt;
    let bytes = path.as_os_str().as_bytes();
    let (folder, name) = bytes.split_at_checked(bytes.iter().rposition(|byte| *byte == b'/')? + 1)?;
    Some((Path::new(OsStr::from_bytes(folder)), OsStr::from_bytes(name)))
}

#[cfg(not(unix))]
fn split_name(path: &Path) -> Option<(&Path, &OsStr)> {
    Some((path.parent()?, path.file_name()?))
}
