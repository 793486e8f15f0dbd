//! Surveys of a tree for checkpoints: names and stamps, folder by folder, on all processors.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use windlass_tool::ignore_rules::IgnoreRules;
use windlass_tool::{FolderSurvey, Surveyed, TreeSurvey};

use crate::walk::{Scope, WalkRules, fingerprint, is_version_control, texts};
use crate::workspace::Missing;
use crate::workspace::dir::Dir;
use crate::workspace::entry::Entry;

mod reported;
mod rule_files;
#[cfg_attr(not(target_os = "linux"), path = "survey/watch_portable.rs")]
mod watch;

use reported::Memo;
use rule_files::RULES;
use watch::{News, Watch};

/// Maximum number of threads of one survey. More threads would wait for each other.
const MAX_THREADS: usize = 8;

/// Maximum number of folders that one thread surveys alone.
const MAX_SINGLE_THREAD_FOLDERS: usize = 32;

/// Minimum number of entries of a tree that is watched. A smaller tree is surveyed within a few milliseconds.
const WORTH_WATCHING: usize = 5_000;

/// Request for a survey of a tree.
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'a> {
    /// Root of the survey: a path without links.
    pub(crate) root: &'a Path,
    /// Earlier survey of the same tree.
    pub(crate) before: Option<&'a TreeSurvey>,
    /// Maximum number of entries, after which the survey ends.
    pub(crate) most: usize,
    pub(crate) extent: Extent,
    /// Set when the requester no longer waits.
    pub(crate) cancelled: &'a AtomicBool,
}

/// Extent of a survey.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    Whole,
    /// Folders without reported changes since the earlier survey are taken over from it.
    Reported,
}

/// A folder that is still to be surveyed, and the rules of the folders above it.
struct PendingFolder {
    folder: PathBuf,
    rules: IgnoreRules,
}

/// Fingerprint of a folder's ignore files, and the resulting rules with those above it.
#[derive(Debug, Clone)]
struct RuledFolder {
    fingerprint: [u8; 32],
    rules: IgnoreRules,
}

/// One surveyed folder.
struct SurveyedFolder {
    folder: Arc<FolderSurvey>,
    /// `true` if a file in the folder has hard links, through which it can be changed from other folders.
    has_linked: bool,
    ruled: Option<RuledFolder>,
}

/// Result of a survey.
#[derive(Default)]
struct SurveyedTree {
    folders: HashMap<PathBuf, Arc<FolderSurvey>>,
    /// Folders with files that have several names.
    linked: HashSet<PathBuf>,
    /// Folders that may have rules.
    ruled: BTreeMap<PathBuf, RuledFolder>,
}

/// State shared by all threads of one survey.
struct Survey<'a> {
    scope: Scope<'a>,
    ignores: WalkRules,
    wanted: Wanted<'a>,
    watch: Option<&'a Watch>,
    /// Part of the tree that is taken over from the earlier survey.
    reused: SurveyedTree,
    entries: AtomicUsize,
    queue: Mutex<Queue>,
    queue_changed: Condvar,
}

#[derive(Default)]
struct Queue {
    ahead: Vec<PendingFolder>,
    /// Number of threads that survey a folder, and may find more.
    working: usize,
    /// Number of threads that wait for a folder.
    waiting: usize,
}

/// Surveys a tree.
///
/// # Errors
/// The root cannot be read, or the survey was cancelled.
pub(crate) fn survey(wanted: Wanted<'_>) -> io::Result<TreeSurvey> {
    survey_worth(wanted, WORTH_WATCHING)
}

/// Surveys a tree, and watches it from `worth` entries on.
fn survey_worth(wanted: Wanted<'_>, worth: usize) -> io::Result<TreeSurvey> {
    let Wanted { root, before, .. } = wanted;
    let root_dir = Dir::open(root, Missing::Refuse)?;
    let allowed = |_: &Path| true;
    let scope =
        Scope { root, workspace: &[], include_ignored: false, max_depth: None, allowed: &allowed, interrupt: &|| None };
    let ignores = WalkRules::default();
    let above = ignores.above(&scope);
    let memo = before.and_then(|before| before.memo()).and_then(|memo| memo.downcast_ref::<Memo>());
    let (watch, news) = reported::watch(before, memo, worth);
    let plan = match (wanted.extent, before, memo, &watch, &news) {
        (Extent::Reported, Some(before), Some(memo), Some(watch), Some(news)) if watch.is_at(root, &root_dir) => {
            reported::plan(before, memo, news, &above, &scope)
        }
        _ => None,
    };
    let is_whole = plan.is_none();
    let (reused, ahead) = plan.unwrap_or_else(|| {
        (SurveyedTree::default(), vec![PendingFolder { folder: root.to_owned(), rules: above.clone() }])
    });
    let is_short = !is_whole && ahead.len() <= MAX_SINGLE_THREAD_FOLDERS;
    let queue = Mutex::new(Queue { ahead, ..Queue::default() });
    let (entries, queue_changed) = (AtomicUsize::new(0), Condvar::new());
    let mut survey = Survey { scope, ignores, wanted, watch: watch.as_deref(), reused, entries, queue, queue_changed };
    let seen = survey.survey_all(if is_short { 1 } else { MAX_THREADS });
    if wanted.cancelled.load(Ordering::Relaxed) {
        return Err(io::ErrorKind::Interrupted.into());
    }
    let mut tree = std::mem::take(&mut survey.reused);
    tree.add_folders(seen);
    let mut found = TreeSurvey::default();
    found.is_cut = survey.entries.into_inner().max(tree.entries()) > wanted.most;
    if let Some(watch) = watch.as_ref().filter(|_| is_whole) {
        watch.keep(&tree.folders);
    }
    let above = above.digest();
    let memo = reported::memo(watch, memo, news.as_ref(), (above, &mut tree));
    found.folders = tree.folders;
    Ok(match memo {
        Some(memo) => found.with_memo(Arc::new(memo)),
        None => found,
    })
}

impl SurveyedTree {
    fn entries(&self) -> usize {
        self.folders.values().map(|folder| folder.entries.len()).sum()
    }

    fn add_folders(&mut self, seen: Vec<(PathBuf, Option<SurveyedFolder>)>) {
        for (path, seen) in seen {
            self.linked.remove(&path);
            self.ruled.remove(&path);
            let Some(SurveyedFolder { folder, has_linked, ruled }) = seen else {
                // The entries of an unreadable folder cannot be reached either.
                if self.folders.contains_key(&path) {
                    self.remove(&HashSet::from([path]));
                }
                continue;
            };
            if has_linked {
                self.linked.insert(path.clone());
            }
            if let Some(ruled) = ruled {
                self.ruled.insert(path.clone(), ruled);
            }
            self.folders.insert(path, folder);
        }
    }

    /// Removes folders with all their descendants.
    fn remove(&mut self, removed: &HashSet<PathBuf>) {
        if removed.is_empty() {
            return;
        }
        let is_kept = |path: &Path| !path.ancestors().any(|above| removed.contains(above));
        self.folders.retain(|path, _| is_kept(path));
        self.linked.retain(|path| is_kept(path));
        self.ruled.retain(|path, _| is_kept(path));
    }
}

impl Survey<'_> {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Surveys all folders, on at most `most` threads.
    fn survey_all(&self, max_threads: usize) -> Vec<(PathBuf, Option<SurveyedFolder>)> {
        let threads = if max_threads == 1 {
            1
        } else {
            std::thread::available_parallelism().map_or(2, usize::from).min(max_threads)
        };
        std::thread::scope(|scope| {
            // Without other threads this one does all the work.
            let other = |_| std::thread::Builder::new().spawn_scoped(scope, || self.survey_queue()).ok();
            let others: Vec<_> = (1..threads).filter_map(other).collect();
            let mut seen = self.survey_queue();
            for other in others {
                match other.join() {
                    Ok(found) => seen.extend(found),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            seen
        })
    }

    /// Surveys folders until the queue is empty. An unreadable folder has the result `None`.
    fn survey_queue(&self) -> Vec<(PathBuf, Option<SurveyedFolder>)> {
        let mut found = Vec::new();
        while let Some(next) = self.next() {
            let (seen, subfolders) = match self.survey_folder(&next) {
                Ok((seen, subfolders)) => (Some(seen), subfolders),
                // The folder above has its name, so it is known to be unreadable.
                Err(error) => {
                    tracing::debug!(folder = %next.folder.display(), %error, "a folder is not surveyed");
                    (None, Vec::new())
                }
            };
            found.push((next.folder, seen));
            let mut queue = self.lock();
            queue.ahead.extend(subfolders);
            queue.working -= 1;
            let has_waiting = queue.waiting > 0;
            drop(queue);
            if has_waiting {
                self.queue_changed.notify_all();
            }
        }
        found
    }

    fn next(&self) -> Option<PendingFolder> {
        let Wanted { cancelled, most, .. } = self.wanted;
        let mut queue = self.lock();
        loop {
            if cancelled.load(Ordering::Relaxed) || self.entries.load(Ordering::Relaxed) > most {
                return None;
            }
            if let Some(next) = queue.ahead.pop() {
                queue.working += 1;
                return Some(next);
            }
            if queue.working == 0 {
                return None;
            }
            queue.waiting += 1;
            queue = self.queue_changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
            queue.waiting -= 1;
        }
    }

    /// Surveys one folder: its entries, and the folders among them that are next.
    fn survey_folder(
        &self,
        PendingFolder { folder, rules }: &PendingFolder,
    ) -> io::Result<(SurveyedFolder, Vec<PendingFolder>)> {
        let dir = Dir::open(folder, Missing::Refuse)?;
        if let Some(watch) = self.watch {
            // Watched before it is listed, so that no later change is missed.
            watch.add(folder, &dir);
        }
        let names = dir.list(self.wanted.most.saturating_add(1))?;
        self.entries.fetch_add(names.len(), Ordering::Relaxed);
        let has_rules = names.iter().any(|(name, _)| RULES.iter().any(|known| name == *known));
        let ruled = has_rules.then(|| self.ruled(folder, rules));
        let rules = ruled.as_ref().map_or(rules, |ruled| &ruled.rules);
        let digest = rules.digest();
        let known = self.wanted.before.and_then(|before| before.folders.get(folder));
        let mut found = FolderEntries::new_after(known.map_or(&[], |known| &known.entries));
        let has_same_rules = known.is_some_and(|known| known.rules == digest);
        let (mut subfolders, mut has_linked) = (Vec::new(), false);
        for (name, entry) in names.iter() {
            if is_version_control(name) {
                continue;
            }
            let is_left_out = match found.next_known(name).filter(|_| has_same_rules) {
                Some(known) if was_judged(known, entry) => known == Surveyed::LeftOut,
                _ => !rules.is_empty() && rules.leave_out(&folder.join(name), entry == Entry::Directory),
            };
            let Some((surveyed, names)) = survey_entry(&dir, name, entry, is_left_out)? else { continue };
            has_linked |= names > 1;
            if surveyed == Surveyed::Folder {
                let folder = folder.join(name);
                if !self.reused.folders.contains_key(&folder) {
                    subfolders.push(PendingFolder { folder, rules: rules.clone() });
                }
            }
            found.push(name, surveyed);
        }
        let folder = found.survey(known.filter(|_| has_same_rules), digest);
        Ok((SurveyedFolder { folder, has_linked, ruled }, subfolders))
    }

    fn ruled(&self, folder: &Path, above: &IgnoreRules) -> RuledFolder {
        let texts = texts(folder, &self.scope);
        let fingerprint = fingerprint(&texts);
        RuledFolder { fingerprint, rules: self.ignores.of_texts(folder, above, texts) }
    }
}

/// Entries of a folder under survey. An unchanged folder lists them in the same order: they are copied only from the
/// first difference on.
struct FolderEntries<'a> {
    known: &'a [(OsString, Surveyed)],
    /// Number of identical entries at the beginning.
    unchanged: usize,
    entries: Option<Vec<(OsString, Surveyed)>>,
}

impl<'a> FolderEntries<'a> {
    fn new_after(known: &'a [(OsString, Surveyed)]) -> Self {
        Self { known, unchanged: 0, entries: None }
    }

    /// Known entry of this name, if it is at the same position.
    fn next_known(&self, name: &OsStr) -> Option<Surveyed> {
        let index = self.entries.as_ref().map_or(self.unchanged, Vec::len);
        self.known.get(index).filter(|(known, _)| known == name).map(|(_, what)| *what)
    }

    fn push(&mut self, name: &OsStr, what: Surveyed) {
        if self.entries.is_none() && self.next_known(name) == Some(what) {
            self.unchanged += 1;
            return;
        }
        let entries = self.entries.get_or_insert_with(|| self.known.get(..self.unchanged).unwrap_or_default().to_vec());
        entries.push((name.to_owned(), what));
    }

    /// Survey of the folder. An unchanged one returns the earlier survey: memory is shared, and comparing the two is
    /// quick.
    fn survey(self, before: Option<&Arc<FolderSurvey>>, rules: u64) -> Arc<FolderSurvey> {
        match (self.entries, before) {
            (None, Some(before)) if self.unchanged == self.known.len() => Arc::clone(before),
            (None, _) => {
                Arc::new(FolderSurvey::new(self.known.get(..self.unchanged).unwrap_or_default().to_vec(), rules))
            }
            (Some(entries), _) => Arc::new(FolderSurvey::new(entries, rules)),
        }
    }
}

/// `true` if the same rules have judged such an entry before: they distinguish folders from files.
fn was_judged(known: Surveyed, entry: Entry) -> bool {
    match known {
        Surveyed::Folder => entry == Entry::Directory,
        // A left-out entry may have been either.
        Surveyed::LeftOut => false,
        _ => entry != Entry::Directory,
    }
}

/// Surveyed kind of an entry, and the number of a file's names. `None` if it is gone already.
fn survey_entry(dir: &Dir, name: &OsStr, entry: Entry, left_out: bool) -> io::Result<Option<(Surveyed, u64)>> {
    if left_out {
        return Ok(Some((Surveyed::LeftOut, 1)));
    }
    Ok(match entry {
        Entry::Directory => Some((Surveyed::Folder, 1)),
        Entry::Special => Some((Surveyed::Special, 1)),
        Entry::File => dir.stamp(name)?.map(|(stamp, names)| (Surveyed::File(stamp), names)),
        Entry::Link => dir.stamp(name)?.map(|(stamp, _)| (Surveyed::Link(stamp), 1)),
    })
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
