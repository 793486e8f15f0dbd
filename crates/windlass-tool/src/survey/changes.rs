//! Differences between two surveys of a tree.

use super::{FolderSurvey, Surveyed, TreeSurvey};
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Two changes of a file that are less than this apart may leave the same times on it, in nanoseconds: the clock of a
/// file system stands still in between.
pub(super) const TICK: i64 = 50_000_000;

/// The same for a file system that writes whole seconds.
pub(super) const COARSE_TICK: i64 = 2_000_000_000;

/// A path at which two surveys differ, or may differ.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SurveyChange {
    /// Path of a file, link or special file.
    pub path: PathBuf,
    /// Earlier entry. `None` if there was no file; [`Surveyed::LeftOut`] if it was not looked at.
    pub before: Option<Surveyed>,
    /// Present entry, in the same form.
    pub now: Option<Surveyed>,
}

/// State of a folder that is not in a survey.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    Missing,
    LeftOut,
    Unreadable,
}

impl TreeSurvey {
    /// Returns the paths at which this survey differs from an earlier one, in order. A file with the same stamp is
    /// included if it had changed so shortly before that survey that a later change may have left the same stamp.
    ///
    /// Entries that were left out both times are not included, and neither are those of folders that cannot be read
    /// now.
    pub fn changes_since(&self, before: &Self) -> Vec<SurveyChange> {
        let doubtful = before.doubtful_from();
        let mut changes = Vec::new();
        for (folder, now) in &self.folders {
            if let Some(earlier) = before.folders.get(folder) {
                if earlier.newest >= doubtful || !(Arc::ptr_eq(earlier, now) || earlier == now) {
                    differences(folder, earlier, now, doubtful, &mut changes);
                }
                continue;
            }
            let before = (before.standing(folder) != Standing::Missing).then_some(Surveyed::LeftOut);
            let files = now.files();
            changes.extend(files.map(|(name, now)| SurveyChange { path: folder.join(name), before, now: Some(now) }));
        }
        for (folder, earlier) in &before.folders {
            if self.folders.contains_key(folder) {
                continue;
            }
            let now = match self.standing(folder) {
                Standing::Missing => None,
                Standing::LeftOut => Some(Surveyed::LeftOut),
                Standing::Unreadable => continue,
            };
            let files = earlier.files();
            changes.extend(files.map(|(name, earlier)| SurveyChange {
                path: folder.join(name),
                before: Some(earlier),
                now,
            }));
        }
        changes.sort_by(|a, b| a.path.cmp(&b.path));
        changes
    }

    /// Returns a time limit: the stamps of a file that changed then or later may not show another change.
    fn doubtful_from(&self) -> i64 {
        let newest = self.folders.values().map(|folder| folder.newest).max().unwrap_or(i64::MIN);
        let tick = if newest % 1_000_000_000 == 0 { COARSE_TICK } else { TICK };
        newest.saturating_sub(tick)
    }

    /// `true` if there is no such folder: one above it was read and does not have it. It is neither left out nor
    /// unreadable.
    pub fn lacks_folder(&self, folder: &Path) -> bool {
        !self.folders.contains_key(folder) && self.standing(folder) == Standing::Missing
    }

    /// Returns the state of a folder that was not read.
    fn standing(&self, folder: &Path) -> Standing {
        for (path, above) in folder.ancestors().zip(folder.ancestors().skip(1)) {
            let Some(survey) = self.folders.get(above) else { continue };
            return match path.file_name().and_then(|name| survey.get(name)) {
                Some(Surveyed::Folder) => Standing::Unreadable,
                Some(Surveyed::LeftOut) => Standing::LeftOut,
                _ => Standing::Missing,
            };
        }
        Standing::Unreadable
    }
}

fn is_folder(what: Surveyed) -> bool {
    what == Surveyed::Folder
}

fn differences(folder: &Path, was: &FolderSurvey, now: &FolderSurvey, doubtful: i64, changes: &mut Vec<SurveyChange>) {
    let known: HashMap<&OsStr, Surveyed> = was.entries.iter().map(|(name, what)| (name.as_os_str(), *what)).collect();
    let mut change = |name: &OsStr, before: Option<Surveyed>, now: Option<Surveyed>| {
        // A folder has its own changes.
        let (before, now) = (before.filter(|what| !is_folder(*what)), now.filter(|what| !is_folder(*what)));
        let hidden = Some(Surveyed::LeftOut);
        if (before == hidden || before.is_none()) && (now == hidden || now.is_none()) {
            return;
        }
        let in_doubt = || now.and_then(|what| what.stamp()).is_some_and(|stamp| stamp.changed >= doubtful);
        if before != now || in_doubt() {
            changes.push(SurveyChange { path: folder.join(name), before, now });
        }
    };
    for (name, what) in &now.entries {
        change(name, known.get(name.as_os_str()).copied(), Some(*what));
    }
    let present_names: HashSet<&OsStr> = now.entries.iter().map(|(name, _)| name.as_os_str()).collect();
    for (name, what) in was.entries.iter().filter(|(name, _)| !present_names.contains(name.as_os_str())) {
        change(name, Some(*what), None);
    }
}
