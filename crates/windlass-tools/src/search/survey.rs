//! The look over a tree for checkpoints: names and stamps, folder by folder, on all processors.

use std::collections::HashMap;
use std::ffi::OsStr;
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
    let queue = Mutex::new(Queue { ahead: vec![first], at_work: 0 });
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
            drop(queue);
            self.changed.notify_all();
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
            queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Looks at one folder: what is in it, and the folders in it that are next.
    fn look(&self, Ahead { folder, rules }: &Ahead) -> io::Result<(Arc<FolderSurvey>, Vec<Ahead>)> {
        let dir = Dir::open(folder, Missing::Refuse)?;
        let mut names = dir.entries(self.most.saturating_add(1))?;
        self.entries.fetch_add(names.len(), Ordering::Relaxed);
        let rules = match names.iter().any(|(name, _)| RULES.iter().any(|known| name == known)) {
            true => self.ignores.read_folder(folder, rules.clone(), &self.scope),
            false => rules.clone(),
        };
        names.retain(|(name, _)| !VERSION_CONTROL.iter().any(|known| name == known));
        let digest = rules.as_ref().map_or(0, |rules| rules.digest());
        let known = self.before.and_then(|before| before.folders.get(folder));
        let judged = known.filter(|known| known.rules == digest);
        let (mut entries, mut below) = (Vec::with_capacity(names.len()), Vec::new());
        for (at, (name, entry)) in names.into_iter().enumerate() {
            // A folder that has not changed gives its entries in the same order.
            let known = judged.and_then(|judged| judged.entries.get(at)).filter(|(known, _)| *known == name);
            let left_out = match known {
                Some((_, known)) if was_judged(*known, entry) => *known == Surveyed::LeftOut,
                _ => {
                    rules.as_ref().is_some_and(|rules| rules.leave_out(&folder.join(&name), entry == Entry::Directory))
                }
            };
            let Some(what) = look_at(&dir, &name, entry, left_out)? else { continue };
            if what == Surveyed::Folder {
                below.push(Ahead { folder: folder.join(&name), rules: rules.clone() });
            }
            entries.push((name, what));
        }
        let survey = FolderSurvey::new(entries, digest);
        // Memory is shared with the earlier survey, and comparing the two is quick.
        let survey = known.filter(|known| ***known == survey).map_or_else(|| Arc::new(survey), Arc::clone);
        Ok((survey, below))
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
