//! The look over a tree for checkpoints: names and stamps, folder by folder, on all processors.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use windlass_tool::{FolderSurvey, Surveyed, TreeSurvey};

use super::ignored::{IgnoreFiles, Rules};
use super::walk::{Scope, VERSION_CONTROL};
use crate::workspace::Missing;
use crate::workspace::dir::Dir;
use crate::workspace::entry::Entry;

/// Files whose presence makes it worth while to read the rules of a folder.
const RULES: [&str; 3] = [".ignore", ".gitignore", ".git"];

/// Most threads of one survey: more wait for each other.
const MOST_THREADS: usize = 8;

/// A folder that is still to be looked at, and the rules of the folders above it.
struct Ahead {
    folder: PathBuf,
    rules: Option<Arc<Rules>>,
}

/// What all threads of one survey share.
struct Survey<'a> {
    scope: Scope<'a>,
    ignores: IgnoreFiles,
    before: Option<&'a TreeSurvey>,
    most: usize,
    entries: AtomicUsize,
    cancelled: &'a AtomicBool,
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Default)]
struct Queue {
    ahead: Vec<Ahead>,
    /// How many threads look at a folder, and may find more.
    at_work: usize,
    /// How many threads wait for a folder.
    waiting: usize,
}

/// Surveys the tree below `root`, a path without links.
///
/// # Errors
/// The root cannot be read, or the survey was cancelled.
pub(crate) fn survey(
    root: &Path,
    before: Option<&TreeSurvey>,
    most: usize,
    cancelled: &AtomicBool,
) -> io::Result<TreeSurvey> {
    Dir::open(root, Missing::Refuse)?;
    let allowed = |_: &Path| true;
    let scope =
        Scope { root, workspace: &[], include_ignored: false, max_depth: None, allowed: &allowed, interrupt: &|| None };
    let ignores = IgnoreFiles::default();
    let first = Ahead { folder: root.to_owned(), rules: ignores.above(&scope) };
    let queue = Mutex::new(Queue { ahead: vec![first], ..Queue::default() });
    let (entries, changed) = (AtomicUsize::new(0), Condvar::new());
    let survey = Survey { scope, ignores, before, most, entries, cancelled, queue, changed };
    let threads = std::thread::available_parallelism().map_or(2, usize::from).min(MOST_THREADS);
    let folders = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(|| survey.work())).collect();
        let mut folders: HashMap<PathBuf, Arc<FolderSurvey>> = survey.work().into_iter().collect();
        for other in others {
            match other.join() {
                Ok(found) => folders.extend(found),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        folders
    });
    if cancelled.load(Ordering::Relaxed) {
        return Err(io::ErrorKind::Interrupted.into());
    }
    let mut found = TreeSurvey::default();
    found.folders = folders;
    found.is_cut = survey.entries.into_inner() > most;
    Ok(found)
}

impl Survey<'_> {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at folders until none is left.
    fn work(&self) -> Vec<(PathBuf, Arc<FolderSurvey>)> {
        let mut found = Vec::new();
        while let Some(next) = self.next() {
            let below = match self.look(&next) {
                Ok((survey, below)) => {
                    found.push((next.folder, survey));
                    below
                }
                // Its name stands in the folder above it: so it is known that it could not be read.
                Err(error) => {
                    tracing::debug!(folder = %next.folder.display(), %error, "a folder is not surveyed");
                    Vec::new()
                }
            };
            let mut queue = self.lock();
            queue.ahead.extend(below);
            queue.at_work -= 1;
            let has_waiting = queue.waiting > 0;
            drop(queue);
            if has_waiting {
                self.changed.notify_all();
            }
        }
        found
    }

    fn next(&self) -> Option<Ahead> {
        let mut queue = self.lock();
        loop {
            if self.cancelled.load(Ordering::Relaxed) || self.entries.load(Ordering::Relaxed) > self.most {
                return None;
            }
            if let Some(next) = queue.ahead.pop() {
                queue.at_work += 1;
                return Some(next);
            }
            if queue.at_work == 0 {
                return None;
            }
            queue.waiting += 1;
            queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
            queue.waiting -= 1;
        }
    }

    /// Looks at one folder: what is in it, and the folders in it that are next.
    fn look(&self, Ahead { folder, rules }: &Ahead) -> io::Result<(Arc<FolderSurvey>, Vec<Ahead>)> {
        let dir = Dir::open(folder, Missing::Refuse)?;
        let names = dir.list(self.most.saturating_add(1))?;
        self.entries.fetch_add(names.len(), Ordering::Relaxed);
        let rules = match names.iter().any(|(name, _)| RULES.iter().any(|known| name == *known)) {
            true => self.ignores.read_folder(folder, rules.clone(), &self.scope),
            false => rules.clone(),
        };
        let digest = rules.as_ref().map_or(0, |rules| rules.digest());
        let known = self.before.and_then(|before| before.folders.get(folder));
        let mut found = Found::beside(known.map_or(&[], |known| &known.entries));
        let has_judged = known.is_some_and(|known| known.rules == digest);
        let mut below = Vec::new();
        for (name, entry) in names.iter() {
            if VERSION_CONTROL.iter().any(|known| name == *known) {
                continue;
            }
            let left_out = match found.next_known(name).filter(|_| has_judged) {
                Some(known) if was_judged(known, entry) => known == Surveyed::LeftOut,
                _ => rules.as_ref().is_some_and(|rules| rules.leave_out(&folder.join(name), entry == Entry::Directory)),
            };
            let Some(what) = look_at(&dir, name, entry, left_out)? else { continue };
            if what == Surveyed::Folder {
                below.push(Ahead { folder: folder.join(name), rules: rules.clone() });
            }
            found.push(name, what);
        }
        Ok((found.survey(known.filter(|_| has_judged), digest), below))
    }
}

/// The entries of a folder that is looked at. A folder that has not changed gives them in the same order: they are copied only
/// from the first one on that differs.
struct Found<'a> {
    known: &'a [(OsString, Surveyed)],
    /// How many of the first ones are the same.
    same: usize,
    entries: Option<Vec<(OsString, Surveyed)>>,
}

impl<'a> Found<'a> {
    fn beside(known: &'a [(OsString, Surveyed)]) -> Self {
        Self { known, same: 0, entries: None }
    }

    /// What stood under this name, if it stood in the same place.
    fn next_known(&self, name: &OsStr) -> Option<Surveyed> {
        let at = self.entries.as_ref().map_or(self.same, Vec::len);
        self.known.get(at).filter(|(known, _)| known == name).map(|(_, what)| *what)
    }

    fn push(&mut self, name: &OsStr, what: Surveyed) {
        if self.entries.is_none() && self.next_known(name) == Some(what) {
            self.same += 1;
            return;
        }
        let entries = self.entries.get_or_insert_with(|| self.known.get(..self.same).unwrap_or_default().to_vec());
        entries.push((name.to_owned(), what));
    }

    /// The survey of the folder. Where it is the same, it is the earlier one: memory is shared, and comparing the two is quick.
    fn survey(self, before: Option<&Arc<FolderSurvey>>, rules: u64) -> Arc<FolderSurvey> {
        match (self.entries, before) {
            (None, Some(before)) if self.same == self.known.len() => Arc::clone(before),
            (None, _) => Arc::new(FolderSurvey::new(self.known.get(..self.same).unwrap_or_default().to_vec(), rules)),
            (Some(entries), _) => Arc::new(FolderSurvey::new(entries, rules)),
        }
    }
}

/// Whether the same rules have judged such an entry before: they tell folders from files.
fn was_judged(known: Surveyed, entry: Entry) -> bool {
    match known {
        Surveyed::Folder => entry == Entry::Directory,
        // It may have been either.
        Surveyed::LeftOut => false,
        _ => entry != Entry::Directory,
    }
}

/// What stands under a name. `None` if it is gone already.
fn look_at(dir: &Dir, name: &OsStr, entry: Entry, left_out: bool) -> io::Result<Option<Surveyed>> {
    if left_out {
        return Ok(Some(Surveyed::LeftOut));
    }
    Ok(match entry {
        Entry::Directory => Some(Surveyed::Folder),
        Entry::Special => Some(Surveyed::Special),
        Entry::File => dir.stamp(name)?.map(Surveyed::File),
        Entry::Link => dir.stamp(name)?.map(Surveyed::Link),
    })
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
