//! The walk that both searches share.

use std::ffi::OsStr;
use std::fs::FileType;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use ignore::{DirEntry, ParallelVisitor, ParallelVisitorBuilder, WalkBuilder, WalkState};

use super::ignored::{Here, IgnoreFiles};

/// Reason why a search ended before it was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interrupt {
    /// The caller no longer needs the result.
    Cancelled,
    /// The time limit has passed; the results so far are returned.
    TimedOut,
}

/// Scope of a search.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'a> {
    /// Start of the search: a path without links, as returned by `resolve`. May be a file.
    pub(crate) root: &'a Path,
    /// Directories of the workspace: ignore files that are links are followed if they lead there.
    pub(crate) workspace: &'a [PathBuf],
    /// `true` to include files that `.gitignore`, `.ignore` and `.git/info/exclude` leave out.
    pub(crate) include_ignored: bool,
    /// Maximum depth below the root; `None` for all.
    pub(crate) max_depth: Option<usize>,
    /// Directories for which this is false are not entered, files are not opened.
    pub(crate) allowed: &'a (dyn Fn(&Path) -> bool + Sync),
    /// Polled for every entry and during long files.
    pub(crate) interrupt: &'a (dyn Fn() -> Option<Interrupt> + Sync),
}

/// Report of a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct WalkReport {
    pub(crate) interrupted: Option<Interrupt>,
    /// Number of unreadable entries, mostly directories.
    pub(crate) unreadable: usize,
    /// Number of unusable ignore files: no regular files, too large, or links out of the workspace.
    pub(crate) unusable_ignores: usize,
    /// Files and folders that ignore files left out, as far as the search would have visited them.
    pub(crate) ignored: LeftOut,
}

/// Number of entries that a search left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct LeftOut {
    pub(crate) files: usize,
    pub(crate) folders: usize,
}

impl LeftOut {
    pub(crate) fn add(&mut self, is_folder: bool) {
        let count = if is_folder { &mut self.folders } else { &mut self.files };
        *count = count.saturating_add(1);
    }

    /// Counts in words, such as `1 ignored file and 2 ignored folders were`. `None` without any.
    pub(crate) fn phrase(self) -> Option<String> {
        let part = |count: usize, name: &str| match count {
            0 => None,
            1 => Some(format!("1 ignored {name}")),
            _ => Some(format!("{count} ignored {name}s")),
        };
        let parts: Vec<String> =
            [part(self.files, "file"), part(self.folders, "folder")].into_iter().flatten().collect();
        let verb = if self.files.saturating_add(self.folders) == 1 { "was" } else { "were" };
        (!parts.is_empty()).then(|| format!("{} {verb}", parts.join(" and ")))
    }
}

impl WalkReport {
    /// Notes for the reader of the result.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.unreadable > 0 {
            notes.push(format!("{} places could not be read.", self.unreadable));
        }
        if self.unusable_ignores > 0 {
            let count = self.unusable_ignores;
            notes.push(format!(
                "{count} ignore files did not count: no regular files, too large, or links out of the workspace."
            ));
        }
        notes
    }
}

/// One worker's part in a walk.
pub(crate) trait Worker: Send {
    /// `true` if anything in this directory can still matter.
    fn enter(&mut self, _directory: &Path) -> bool {
        true
    }

    /// `true` if the file would be visited but for ignore files.
    fn wants(&self, file: &Path) -> bool;

    /// Visits one regular file or link.
    fn visit(&mut self, entry: &DirEntry, kind: FileType) -> Result<(), Interrupt>;
}

/// Directories in which version control keeps its own data.
pub(super) const VERSION_CONTROL: [&str; 6] = [".git", ".hg", ".svn", ".bzr", ".jj", ".sl"];

fn is_version_control(name: &OsStr) -> bool {
    VERSION_CONTROL.iter().any(|known| name.as_encoded_bytes() == known.as_bytes())
}

/// Walks `scope` with as many workers as there are processors.
pub(crate) fn walk<'a, W: Worker>(scope: Scope<'a>, make: &'a (dyn Fn() -> W + Sync)) -> WalkReport {
    let tally = Tally::default();
    let ignores = (!scope.include_ignored).then(|| Arc::new(IgnoreFiles::default()));
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
    builder.build_parallel().visit(&mut Crew { scope, make, tally: &tally, ignores: ignores.as_deref() });
    WalkReport {
        interrupted: tally.interrupted.get().copied(),
        unreadable: tally.unreadable.into_inner(),
        unusable_ignores: ignores.map_or(0, |ignores| ignores.unusable()),
        ignored: LeftOut { files: tally.ignored_files.into_inner(), folders: ignored_folders.load(Ordering::Relaxed) },
    }
}

/// Number of threads: more than there are processors when there are few, because some wait for the disk.
fn threads() -> usize {
    std::thread::available_parallelism().map_or(4, usize::from).clamp(4, 12)
}

#[derive(Default)]
struct Tally {
    interrupted: OnceLock<Interrupt>,
    unreadable: AtomicUsize,
    ignored_files: AtomicUsize,
}

struct Crew<'a, 't, W> {
    scope: Scope<'a>,
    make: &'a (dyn Fn() -> W + Sync),
    tally: &'t Tally,
    ignores: Option<&'t IgnoreFiles>,
}

impl<'s, W: Worker + 's> ParallelVisitorBuilder<'s> for Crew<'s, 's, W> {
    fn build(&mut self) -> Box<dyn ParallelVisitor + 's> {
        Box::new(Member {
            scope: self.scope,
            worker: (self.make)(),
            tally: self.tally,
            ignores: self.ignores,
            here: Here::default(),
        })
    }
}

struct Member<'s, W> {
    scope: Scope<'s>,
    worker: W,
    tally: &'s Tally,
    ignores: Option<&'s IgnoreFiles>,
    here: Here,
}

impl<W: Worker> Member<'_, W> {
    fn stop(&self, why: Interrupt) -> WalkState {
        // The first reason is reported.
        let _first = self.tally.interrupted.set(why);
        WalkState::Quit
    }
}

impl<W: Worker> ParallelVisitor for Member<'_, W> {
    fn visit(&mut self, entry: Result<DirEntry, ignore::Error>) -> WalkState {
        if let Some(why) = (self.scope.interrupt)() {
            return self.stop(why);
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
            if below_root && !self.worker.enter(path) || !(self.scope.allowed)(path) {
                return WalkState::Skip;
            }
            if let Some(ignores) = self.ignores {
                ignores.enter(path, &self.scope);
            }
            return WalkState::Continue;
        }
        if !kind.is_file() && !kind.is_symlink() {
            return WalkState::Continue;
        }
        if let Some(ignores) = self.ignores.filter(|_| below_root)
            && self.here.leave_out(path, ignores)
        {
            if self.worker.wants(path) {
                self.tally.ignored_files.fetch_add(1, Ordering::Relaxed);
            }
            return WalkState::Continue;
        }
        match self.worker.visit(&entry, kind) {
            Ok(()) => WalkState::Continue,
            Err(why) => self.stop(why),
        }
    }
}
