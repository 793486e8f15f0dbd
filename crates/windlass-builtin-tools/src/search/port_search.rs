//! Searches in remote workspaces: files are listed and read through the port, and searched here.
//!
//! The result is the same as for a local walk, with two exceptions: ignore files above the searched folder are used
//! only if the call may read them, and files above [`LARGEST`] are left out, which the result reports.

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
const TOGETHER: usize = 8;
/// Maximum number of entries that one search lists.
const MOST_ENTRIES: usize = 100_000;
/// Maximum number of matches whose modification time is looked up; others are treated as old.
const MOST_DATED: usize = 2_000;
/// Maximum size in bytes of a searched file: [`TOGETHER`] of them are held in memory.
const LARGEST: usize = 8 * 1024 * 1024;

/// One search through the port.
pub(super) struct PortSearch<'a> {
    cx: &'a ToolCx,
    place: &'a Place,
    began: Instant,
    limit: Duration,
}

/// The files below a place.
#[derive(Default)]
struct PortFiles {
    files: Vec<(PathBuf, EntryKind)>,
    report: WalkReport,
}

/// A requested path: without links, and as the permit names it.
struct Asked {
    path: PathBuf,
    requested: PathBuf,
}

/// A folder to be listed.
struct Ahead {
    folder: PathBuf,
    depth: usize,
    rules: IgnoreRules,
}

/// Limits of a walk.
struct Bounds<'b> {
    ignored: bool,
    depth: Option<usize>,
    enters: &'b (dyn Fn(&Path) -> bool + Sync),
    /// `true` for files that the search looks for: others are not missed where they are ignored.
    wants: &'b (dyn Fn(&Path) -> bool + Sync),
}

impl<'a> PortSearch<'a> {
    #[expect(clippy::disallowed_methods, reason = "measures how long a search takes on a real machine")]
    pub(super) fn new(cx: &'a ToolCx, place: &'a Place, limit: Duration) -> Self {
        Self { cx, place, began: Instant::now(), limit }
    }

    /// Finds files by name.
    pub(super) async fn glob(
        &self,
        pattern: &GlobPattern,
        ignored: bool,
        most: usize,
    ) -> Result<GlobOutcome, ToolError> {
        let wants = |path: &Path| path.strip_prefix(&self.place.resolved).is_ok_and(|below| pattern.matches(below));
        let bounds = Bounds { ignored, depth: pattern.max_depth(), enters: &|_| true, wants: &wants };
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
        let mut newest = Newest::new(most);
        let undated = matches.split_off(matches.len().min(MOST_DATED));
        let mut rest = matches.into_iter();
        while report.interrupted.is_none() {
            let wave: Vec<PathBuf> = rest.by_ref().take(TOGETHER).collect();
            if wave.is_empty() {
                break;
            }
            for (path, found) in self.together(wave, |cx, asked| Box::pin(dated(cx, asked.requested))).await? {
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
                self.walk(&Bounds { ignored: false, depth: None, enters: &enters, wants: &|path| job.accepts(path) })
                    .await?
            }
        };
        let mut rest = files.into_iter().filter(|(_, kind)| *kind == EntryKind::File).map(|(path, _)| path);
        let mut too_large = 0;
        while report.interrupted.is_none() {
            let wave: Vec<PathBuf> = rest.by_ref().filter(|path| job.wants(path, is_file)).take(TOGETHER).collect();
            if wave.is_empty() {
                break;
            }
            for (path, read) in self.together(wave, |cx, asked| Box::pin(whole(cx, asked.requested, LARGEST))).await? {
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
        let above = if bounds.ignored { IgnoreRules::default() } else { self.above(&root, &ignores).await };
        let mut ahead = vec![Ahead { folder: root, depth: 0, rules: above }];
        let mut entries = 0_usize;
        while !ahead.is_empty() && listed.report.interrupted.is_none() {
            let wave = ahead.split_off(ahead.len().saturating_sub(TOGETHER));
            let folders = wave.iter().map(|ahead| ahead.folder.clone()).collect();
            let found = self.together(folders, |cx, asked| Box::pin(entries_of(cx, asked.path))).await?;
            for (mut next, (_, found)) in wave.into_iter().zip(found) {
                match found {
                    Ok(found) => {
                        entries = entries.saturating_add(found.len());
                        if !bounds.ignored {
                            next.rules = self.rules(&next.folder, &found, next.rules, &ignores).await;
                        }
                        self.sort_out(&next, found, bounds, &mut listed, &mut ahead);
                    }
                    Err(error) => self.unreadable(&error, &mut listed.report)?,
                }
            }
            listed.report.interrupted = match self.interrupt()? {
                None if entries > MOST_ENTRIES => Some(WalkInterrupt::TimedOut),
                other => other,
            };
        }
        listed.report.unusable_ignores = ignores.unusable();
        listed.files.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        Ok(listed)
    }

    fn sort_out(
        &self,
        at: &Ahead,
        entries: Vec<DirectoryEntry>,
        bounds: &Bounds<'_>,
        listed: &mut PortFiles,
        ahead: &mut Vec<Ahead>,
    ) {
        let depth = at.depth.saturating_add(1);
        for DirectoryEntry { name, kind, .. } in entries {
            if VERSION_CONTROL.iter().any(|known| name == *known) {
                continue;
            }
            let path = at.folder.join(name);
            let is_folder = kind == EntryKind::Directory;
            if at.rules.leave_out(&path, is_folder) {
                if is_folder || (bounds.wants)(&path) {
                    let report = &mut listed.report;
                    let count = if is_folder { &mut report.ignored_folders } else { &mut report.ignored_files };
                    *count = count.saturating_add(1);
                }
                continue;
            }
            match kind {
                EntryKind::Directory => {
                    let is_deep = bounds.depth.is_some_and(|most| depth >= most);
                    if !is_deep && (bounds.enters)(&path) && self.cx.permit().allows(&path) {
                        ahead.push(Ahead { folder: path, depth, rules: at.rules.clone() });
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
                && let Ok(entries) = self.cx.workspace().entries(folder, MOST_ENTRIES).await
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
        let most = usize::try_from(MAX_IGNORE_FILE).unwrap_or(usize::MAX);
        match whole(self.cx.clone(), self.requested(path), most).await {
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
    async fn together<T: Send + 'static>(
        &self,
        paths: Vec<PathBuf>,
        work: fn(ToolCx, Asked) -> BoxFuture<'static, T>,
    ) -> Result<Vec<(PathBuf, T)>, ToolError> {
        let mut tasks = JoinSet::new();
        for (at, path) in paths.into_iter().enumerate() {
            let asked = Asked { path: path.clone(), requested: self.requested(&path) };
            let asked = work(self.cx.clone(), asked);
            tasks.spawn(async move { (at, path, asked.await) });
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
        done.sort_unstable_by_key(|(at, _, _)| *at);
        Ok(done.into_iter().map(|(_, path, found)| (path, found)).collect())
    }

    fn interrupt(&self) -> Result<Option<WalkInterrupt>, ToolError> {
        if self.cx.cancel().is_cancelled() {
            return Err(ToolError::cancelled());
        }
        Ok((self.began.elapsed() > self.limit).then_some(WalkInterrupt::TimedOut))
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
    cx.workspace().entries(&folder, MOST_ENTRIES).await
}

/// Modification time of a file.
async fn dated(cx: ToolCx, path: PathBuf) -> Result<SystemTime, WorkspaceError> {
    let file = cx.workspace().open(cx.permit(), &path).await?;
    let since = file.info().modified.map_or(Duration::ZERO, |time| Duration::from_millis(time.millis()));
    Ok(UNIX_EPOCH.checked_add(since).unwrap_or(UNIX_EPOCH))
}

/// Whole content of a file, if it is within the limit, and its modification time.
async fn whole(cx: ToolCx, path: PathBuf, most: usize) -> Result<(Option<Vec<u8>>, SystemTime), WorkspaceError> {
    let mut file = cx.workspace().open(cx.permit(), &path).await?;
    let since = file.info().modified.map_or(Duration::ZERO, |time| Duration::from_millis(time.millis()));
    let modified = UNIX_EPOCH.checked_add(since).unwrap_or(UNIX_EPOCH);
    let mut content = Vec::new();
    loop {
        let part = file.read(most.saturating_add(1)).await?;
        if part.is_empty() {
            return Ok((Some(content), modified));
        }
        content.extend(part);
        if content.len() > most {
            return Ok((None, modified));
        }
    }
}
