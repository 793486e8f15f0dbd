//! Searches in remote workspaces: files are listed and read through the port, and searched here.
//!
//! The result is the same as for a local walk, with two exceptions: ignore files above the searched folder are used
//! only if the call may read them, and files above [`MAX_FILE_BYTES`] are left out, which the result reports.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tokio::task::JoinSet;
use windlass_tool::ignore_rules::{IgnoreFiles, IgnoreRules, MAX_IGNORE_FILE};
use windlass_tool::{
    BoxFuture, DirectoryEntry, EntryKind, ToolCx, ToolError, VERSION_CONTROL, WalkInterrupt, WalkReport,
    WorkspaceError, WorkspaceErrorKind,
};

use super::glob::{GlobOutcome, GlobPattern};
use super::grep::{ContentVisitor, GrepError, GrepJob, GrepOutcome, GrepQuery};
use super::newest::Newest;
use super::place::Place;

/// Maximum number of concurrent requests.
const MAX_CONCURRENT: usize = 8;
/// Maximum number of entries that one search lists.
const MAX_ENTRIES: usize = 100_000;
/// Maximum number of matches whose modification time is looked up; others are treated as old.
const MAX_DATED: usize = 2_000;
/// Maximum size in bytes of a searched file: [`MAX_CONCURRENT`] of them are held in memory.
const MAX_FILE_BYTES: usize = 8 * 1024 * 1024;

/// One search through the port.
pub(super) struct PortSearch<'a> {
    cx: &'a ToolCx,
    place: &'a Place,
    started: Instant,
    limit: Duration,
}

/// The files below a place.
#[derive(Default)]
struct PortFiles {
    files: Vec<(PathBuf, EntryKind)>,
    report: WalkReport,
}

/// A requested path: without links, and as the permit names it.
struct RequestedPath {
    path: PathBuf,
    requested: PathBuf,
}

/// A folder to be listed.
struct PendingFolder {
    folder: PathBuf,
    depth: usize,
    rules: IgnoreRules,
}

/// Limits of a walk.
struct Bounds<'b> {
    include_ignored: bool,
    depth: Option<usize>,
    enters: &'b (dyn Fn(&Path) -> bool + Sync),
    /// `true` for files that the search looks for. Other ignored files are not counted in the report.
    wants: &'b (dyn Fn(&Path) -> bool + Sync),
}

impl<'a> PortSearch<'a> {
    #[expect(clippy::disallowed_methods, reason = "measures how long a search takes on a real machine")]
    pub(super) fn new(cx: &'a ToolCx, place: &'a Place, limit: Duration) -> Self {
        Self { cx, place, started: Instant::now(), limit }
    }

    /// Finds files by name.
    pub(super) async fn glob(
        &self,
        pattern: &GlobPattern,
        include_ignored: bool,
        limit: usize,
    ) -> Result<GlobOutcome, ToolError> {
        let wants = |path: &Path| path.strip_prefix(&self.place.resolved).is_ok_and(|below| pattern.matches(below));
        let bounds = Bounds { include_ignored, depth: pattern.max_depth(), enters: &|_| true, wants: &wants };
        let PortFiles { files, mut report } = self.walk(&bounds).await?;
        let mut matches = Vec::new();
        for (path, kind) in files {
            if wants(&path)
                && self.cx.permit().allows(&path)
                && (kind == EntryKind::File || self.stays_inside(&path).await)
            {
                matches.push(path);
            }
        }
        let mut newest = Newest::new(limit);
        let undated = matches.split_off(matches.len().min(MAX_DATED));
        let mut rest = matches.into_iter();
        while report.interrupted.is_none() {
            let batch: Vec<PathBuf> = rest.by_ref().take(MAX_CONCURRENT).collect();
            if batch.is_empty() {
                break;
            }
            for (path, found) in
                self.run_all(batch, |cx, request| Box::pin(modification_time(cx, request.requested))).await?
            {
                match found {
                    Ok(modified) => newest.offer(modified, &path),
                    Err(error) => self.unreadable(&error, &mut report)?,
                }
            }
            report.interrupted = self.interrupt()?;
        }
        // Files without a time are treated as old.
        for path in rest.chain(undated) {
            newest.offer(UNIX_EPOCH, &path);
        }
        Ok(GlobOutcome { total: newest.offered(), paths: newest.into_paths(), report })
    }

    /// Finds lines by regular expression.
    pub(super) async fn grep(&self, query: GrepQuery) -> Result<Result<GrepOutcome, GrepError>, ToolError> {
        let root = &self.place.resolved;
        let job = match GrepJob::new(query, root, self.cx.permit().filter()) {
            Ok(job) => Arc::new(job),
            Err(error) => return Ok(Err(error)),
        };
        let mut search = ContentVisitor::new(&job);
        let is_file = self.place.kind == EntryKind::File;
        let PortFiles { files, mut report } = match is_file {
            true => PortFiles { files: vec![(root.clone(), EntryKind::File)], report: WalkReport::default() },
            false => {
                let enters = |path: &Path| job.enters(path);
                self.walk(&Bounds {
                    include_ignored: false,
                    depth: None,
                    enters: &enters,
                    wants: &|path| job.accepts(path),
                })
                .await?
            }
        };
        let mut rest = files.into_iter().filter(|(_, kind)| *kind == EntryKind::File).map(|(path, _)| path);
        let mut too_large = 0;
        while report.interrupted.is_none() {
            let batch: Vec<PathBuf> =
                rest.by_ref().filter(|path| job.wants(path, is_file)).take(MAX_CONCURRENT).collect();
            if batch.is_empty() {
                break;
            }
            for (path, read) in
                self.run_all(batch, |cx, request| Box::pin(read_whole(cx, request.requested, MAX_FILE_BYTES))).await?
            {
                match read {
                    Ok((Some(content), modified)) => search.search_content(&path, modified, &content),
                    Ok((None, _)) => too_large += 1,
                    Err(error) => self.unreadable(&error, &mut report)?,
                }
            }
            report.interrupted = self.interrupt()?;
        }
        drop(search);
        let mut outcome = job.outcome(report);
        outcome.too_large += too_large;
        Ok(Ok(outcome))
    }

    /// Lists a tree, some folders at a time, in the order of their paths within a folder.
    async fn walk(&self, bounds: &Bounds<'_>) -> Result<PortFiles, ToolError> {
        let ignores = IgnoreFiles::default();
        let mut listed = PortFiles::default();
        let root = self.place.resolved.clone();
        let above = if bounds.include_ignored { IgnoreRules::default() } else { self.above(&root, &ignores).await };
        let mut pending = vec![PendingFolder { folder: root, depth: 0, rules: above }];
        let mut entries = 0_usize;
        while !pending.is_empty() && listed.report.interrupted.is_none() {
            let batch = pending.split_off(pending.len().saturating_sub(MAX_CONCURRENT));
            let folders = batch.iter().map(|pending| pending.folder.clone()).collect();
            let found = self.run_all(folders, |cx, request| Box::pin(entries_of(cx, request.path))).await?;
            for (mut next, (_, found)) in batch.into_iter().zip(found) {
                match found {
                    Ok(found) => {
                        entries = entries.saturating_add(found.len());
                        if !bounds.include_ignored {
                            next.rules = self.rules(&next.folder, &found, next.rules, &ignores).await;
                        }
                        self.sort_entries(&next, found, bounds, &mut listed, &mut pending);
                    }
                    Err(error) => self.unreadable(&error, &mut listed.report)?,
                }
            }
            listed.report.interrupted = match self.interrupt()? {
                None if entries > MAX_ENTRIES => Some(WalkInterrupt::TimedOut),
                other => other,
            };
        }
        listed.report.unusable_ignores = ignores.unusable();
        listed.files.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        Ok(listed)
    }

    fn sort_entries(
        &self,
        parent: &PendingFolder,
        entries: Vec<DirectoryEntry>,
        bounds: &Bounds<'_>,
        listed: &mut PortFiles,
        pending: &mut Vec<PendingFolder>,
    ) {
        let depth = parent.depth.saturating_add(1);
        for DirectoryEntry { name, kind, .. } in entries {
            if VERSION_CONTROL.iter().any(|known| name == *known) {
                continue;
            }
            let path = parent.folder.join(name);
            let is_folder = kind == EntryKind::Directory;
            if parent.rules.leave_out(&path, is_folder) {
                if is_folder || (bounds.wants)(&path) {
                    let report = &mut listed.report;
                    let count = if is_folder { &mut report.ignored_folders } else { &mut report.ignored_files };
                    *count = count.saturating_add(1);
                }
                continue;
            }
            match kind {
                EntryKind::Directory => {
                    let is_deep = bounds.depth.is_some_and(|max_depth| depth >= max_depth);
                    if !is_deep && (bounds.enters)(&path) && self.cx.permit().allows(&path) {
                        pending.push(PendingFolder { folder: path, depth, rules: parent.rules.clone() });
                    }
                }
                EntryKind::File | EntryKind::Link => listed.files.push((path, kind)),
                _ => {}
            }
        }
    }

    /// Rules of the folders above the root, as far as the call may read them.
    async fn above(&self, root: &Path, ignores: &IgnoreFiles) -> IgnoreRules {
        let mut rules = IgnoreRules::default();
        let folders: Vec<&Path> = root.ancestors().skip(1).collect();
        for folder in folders.into_iter().rev() {
            if self.cx.directories().iter().any(|directory| folder.starts_with(directory))
                && let Ok(entries) = self.cx.workspace().entries(folder, MAX_ENTRIES).await
            {
                rules = self.rules(folder, &entries, rules, ignores).await;
            }
        }
        rules
    }

    /// Rules of a folder with these entries, and of those above it.
    async fn rules(
        &self,
        folder: &Path,
        entries: &[DirectoryEntry],
        above: IgnoreRules,
        ignores: &IgnoreFiles,
    ) -> IgnoreRules {
        let has = |name: &str| entries.iter().any(|entry| entry.name == name && entry.kind != EntryKind::Special);
        let mut files = [Ok(None), Ok(None), Ok(None)];
        let names = [(".ignore", ".ignore"), (".gitignore", ".gitignore"), (".git", ".git/info/exclude")];
        for (file, (name, path)) in files.iter_mut().zip(names) {
            if has(name) {
                *file = self.ignore_file(&folder.join(path)).await;
            }
        }
        if files.iter().all(|file| matches!(file, Ok(None))) {
            return above;
        }
        ignores.rules(folder, &above, files)
    }

    async fn ignore_file(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        let limit = usize::try_from(MAX_IGNORE_FILE).unwrap_or(usize::MAX);
        match read_whole(self.cx.clone(), self.requested(path), limit).await {
            Ok((Some(text), _)) => Ok(Some(text)),
            Ok((None, _)) => Err(io::Error::other("it is too large")),
            Err(error) => match error.kind {
                WorkspaceErrorKind::NotFound | WorkspaceErrorKind::NotDirectory | WorkspaceErrorKind::NotPermitted => {
                    Ok(None)
                }
                _ => Err(io::Error::other(error.message)),
            },
        }
    }

    /// Found path as the permit names it.
    fn requested(&self, path: &Path) -> PathBuf {
        match path.strip_prefix(&self.place.resolved) {
            Ok(below) if below.as_os_str().is_empty() => self.place.requested.clone(),
            Ok(below) => self.place.requested.join(below),
            Err(_) => path.to_owned(),
        }
    }

    /// `true` if a link leads to a file that could itself be listed.
    async fn stays_inside(&self, link: &Path) -> bool {
        self.cx.workspace().resolve(link).await.is_ok_and(|target| {
            target.kind == EntryKind::File
                && target.path.starts_with(&self.place.resolved)
                && self.cx.permit().allows(&target.path)
        })
    }

    /// Runs the same request for all paths concurrently. Returns the answers in their order.
    async fn run_all<T: Send + 'static>(
        &self,
        paths: Vec<PathBuf>,
        work: fn(ToolCx, RequestedPath) -> BoxFuture<'static, T>,
    ) -> Result<Vec<(PathBuf, T)>, ToolError> {
        let mut tasks = JoinSet::new();
        for (index, path) in paths.into_iter().enumerate() {
            let request = RequestedPath { path: path.clone(), requested: self.requested(&path) };
            let request = work(self.cx.clone(), request);
            tasks.spawn(async move { (index, path, request.await) });
        }
        let mut done = Vec::with_capacity(tasks.len());
        loop {
            tokio::select! {
                biased;
                () = self.cx.cancel().cancelled() => return Err(ToolError::cancelled()),
                next = tasks.join_next() => match next {
                    None => break,
                    Some(Ok(found)) => done.push(found),
                    Some(Err(error)) => return Err(ToolError::rejected("The search broke off.").with_source(error)),
                },
            }
        }
        done.sort_unstable_by_key(|(index, _, _)| *index);
        Ok(done.into_iter().map(|(_, path, found)| (path, found)).collect())
    }

    fn interrupt(&self) -> Result<Option<WalkInterrupt>, ToolError> {
        if self.cx.cancel().is_cancelled() {
            return Err(ToolError::cancelled());
        }
        Ok((self.started.elapsed() > self.limit).then_some(WalkInterrupt::TimedOut))
    }

    /// Counts an unreadable entry. An entry removed meanwhile is ignored; a lost connection ends the search.
    fn unreadable(&self, error: &WorkspaceError, report: &mut WalkReport) -> Result<(), ToolError> {
        match error.kind {
            WorkspaceErrorKind::ConnectionLost => return Err(ToolError::rejected(error.message.clone())),
            WorkspaceErrorKind::AccessDenied | WorkspaceErrorKind::Other => report.unreadable += 1,
            _ => {}
        }
        Ok(())
    }
}

async fn entries_of(cx: ToolCx, folder: PathBuf) -> Result<Vec<DirectoryEntry>, WorkspaceError> {
    cx.workspace().entries(&folder, MAX_ENTRIES).await
}

/// Modification time of a file.
async fn modification_time(cx: ToolCx, path: PathBuf) -> Result<SystemTime, WorkspaceError> {
    let file = cx.workspace().open(cx.permit(), &path).await?;
    let since = file.info().modified.map_or(Duration::ZERO, |time| Duration::from_millis(time.millis()));
    Ok(UNIX_EPOCH.checked_add(since).unwrap_or(UNIX_EPOCH))
}

/// Whole content of a file, if it is within the limit, and its modification time.
async fn read_whole(cx: ToolCx, path: PathBuf, limit: usize) -> Result<(Option<Vec<u8>>, SystemTime), WorkspaceError> {
    let mut file = cx.workspace().open(cx.permit(), &path).await?;
    let since = file.info().modified.map_or(Duration::ZERO, |time| Duration::from_millis(time.millis()));
    let modified = UNIX_EPOCH.checked_add(since).unwrap_or(UNIX_EPOCH);
    let mut content = Vec::new();
    loop {
        let part = file.read(limit.saturating_add(1)).await?;
        if part.is_empty() {
            return Ok((Some(content), modified));
        }
        content.extend(part);
        if content.len() > limit {
            return Ok((None, modified));
        }
    }
}
