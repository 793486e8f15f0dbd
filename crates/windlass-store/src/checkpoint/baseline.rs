//! Baseline of surveys: content of each workspace file at the last survey.

use super::record::State;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass_session::LeftOut;
use windlass_tool::{Surveyed, TreeSurvey};

/// Maximum number of left-out files that are listed by path. Of the others only the number is reported.
const MAX_NAMED: usize = 100;

/// State of the workspace at the last survey.
#[derive(Debug, Default)]
pub(crate) struct Baseline {
    /// Trees by their surveyed directory.
    pub(crate) trees: BTreeMap<PathBuf, Tree>,
    files: HashMap<PathBuf, Known>,
    /// Files that tools have changed since the last survey, and recorded themselves.
    pub(crate) recorded: HashSet<PathBuf>,
    /// Bytes of contents on the shelf, and the part of them that belongs to present files.
    stored: u64,
    live: u64,
}

/// Survey state of a directory.
#[derive(Debug, Clone)]
pub(crate) enum Tree {
    Surveyed(Arc<TreeSurvey>),
    /// Directory that cannot be surveyed. Changes by programs in it are unknown.
    GivenUp,
}

/// Recorded state of a file.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    pub(crate) state: State,
    /// Offset of the content in the contents of the baseline.
    pub(crate) at: Option<u64>,
}

impl Known {
    pub(crate) fn without_content(state: State) -> Self {
        Self { state, at: None }
    }

    fn bytes(&self) -> u64 {
        match self.state {
            State::File { size, .. } if self.at.is_some() => size,
            _ => 0,
        }
    }
}

impl Baseline {
    pub(crate) fn get(&self, path: &Path) -> Option<&Known> {
        self.files.get(path)
    }

    /// Sets the present state of a file. `None` means that it does not exist any more.
    pub(crate) fn set(&mut self, path: PathBuf, known: Option<Known>) {
        let new = known.as_ref().map_or(0, Known::bytes);
        let old = match known {
            Some(known) => self.files.insert(path, known),
            None => self.files.remove(&path),
        };
        self.live = self.live.saturating_add(new).saturating_sub(old.as_ref().map_or(0, Known::bytes));
    }

    /// Counts contents that were put on the shelf.
    pub(crate) fn stored(&mut self, bytes: u64) {
        self.stored = self.stored.saturating_add(bytes);
    }

    /// Returns the number of bytes that may still be put on the shelf.
    pub(crate) fn room(&self, limit: u64) -> u64 {
        limit.saturating_sub(self.stored)
    }

    /// `true` if contents without a present file occupy most of the space.
    pub(crate) fn is_stale(&self, limit: u64) -> bool {
        self.stored > limit / 2 && self.live < self.stored / 2
    }

    /// Resets the states of files, without contents, before the first survey: the contents of an interrupted first
    /// survey are gone.
    pub(crate) fn begin(&mut self) {
        *self = Self { recorded: std::mem::take(&mut self.recorded), ..Self::default() };
    }

    /// Removes a directory and its files.
    pub(crate) fn forget(&mut self, root: &Path) {
        self.trees.remove(root);
        self.files.retain(|path, _| !path.starts_with(root));
    }
}

/// Returns the directories that are not inside others of the list.
pub(crate) fn outermost(directories: &[PathBuf]) -> Vec<PathBuf> {
    let mut sorted: Vec<&PathBuf> = directories.iter().collect();
    sorted.sort();
    let mut outer: Vec<PathBuf> = Vec::new();
    for directory in sorted {
        if !outer.iter().any(|above| directory.starts_with(above)) {
            outer.push(directory.clone());
        }
    }
    outer
}

/// Selection of the files of a tree for a baseline.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// Included files with their sizes, the smallest first.
    pub(crate) kept: Vec<(PathBuf, u64)>,
    pub(crate) left_out: Vec<LeftOut>,
}

/// Selects the files of a baseline: as many as fit, the smallest first, without those for which `why_not` returns a
/// reason not to read them.
pub(crate) fn plan(
    files: impl Iterator<Item = (PathBuf, Surveyed)>,
    why_not: impl Fn(&Path) -> Option<&'static str>,
    max_file_bytes: u64,
    room: u64,
) -> Plan {
    let mut plan = Plan::default();
    for (path, surveyed) in files {
        match (surveyed, why_not(&path)) {
            (Surveyed::File(_), Some(reason)) => plan.left_out.push(LeftOut::new(path, reason)),
            (Surveyed::File(stamp), None) if stamp.size <= max_file_bytes => plan.kept.push((path, stamp.size)),
            (Surveyed::File(stamp), None) => {
                plan.left_out.push(LeftOut::new(path, too_large(stamp.size, max_file_bytes)))
            }
            // The kind of other entries is noticed when it changes.
            _ => {}
        }
    }
    plan.kept.sort_by(|(a, a_size), (b, b_size)| a_size.cmp(b_size).then_with(|| a.cmp(b)));
    let mut total = 0_u64;
    let fitting = plan.kept.iter().take_while(|(_, size)| {
        total = total.saturating_add(*size);
        total <= room
    });
    let fitting = fitting.count();
    let not_fitting = plan.kept.split_off(fitting);
    plan.left_out.extend(not_fitting.into_iter().map(|(path, _)| LeftOut::new(path, NO_ROOM)));
    plan.left_out.sort_by(|a, b| a.path.cmp(&b.path));
    plan
}

/// Reason for files that are not read.
pub(crate) const SECRET: &str = "it may hold secrets, so it is not copied";

/// Reason for files that did not fit into the baseline.
pub(crate) const NO_ROOM: &str = "the baseline had no room for it";

/// Returns the reason for a file above the size limit.
pub(crate) fn too_large(size: u64, limit: u64) -> String {
    format!("it was too large to be kept ({size} bytes; the limit is {limit})")
}

/// Returns the first of the files left out, and the number of the others.
pub(crate) fn named(left_out: &[LeftOut], root: &Path) -> Vec<LeftOut> {
    let mut named: Vec<LeftOut> = left_out.iter().take(MAX_NAMED).cloned().collect();
    if let Some(more) = left_out.len().checked_sub(MAX_NAMED).filter(|more| *more > 0) {
        named.push(LeftOut::new(root, format!("{more} more files in it are left out")));
    }
    named
}

/// Returns the state recorded for an entry that is not a regular file.
pub(crate) fn no_file(surveyed: Surveyed) -> Option<State> {
    let reason = match surveyed {
        Surveyed::Link(_) => "it was a link, which is not kept",
        Surveyed::Special => "it was a device, pipe or socket, which is not kept",
        _ => return None,
    };
    Some(State::Unkept { why: reason.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_tool::FileStamp;

    #[test]
    fn the_smallest_files_are_kept_and_the_others_named() {
        let file = |name: &str, size| (PathBuf::from(name), Surveyed::File(FileStamp::new(size, 0)));
        let files = [file("/big", 100), file("/c", 30), file("/a", 20), file("/b", 1), file("/empty", 0)];
        let files = files.into_iter().chain([("/pipe".into(), Surveyed::Special), file("/.env", 1)]);
        let plan = plan(files, |path| (path == Path::new("/.env")).then_some(SECRET), 50, 21);
        let kept: Vec<_> = plan.kept.iter().map(|(path, _)| path.to_str().unwrap()).collect();
        assert_eq!(kept, ["/empty", "/b", "/a"]);
        let left: Vec<_> = plan.left_out.iter().map(|left| (left.path.to_str().unwrap(), &*left.reason)).collect();
        let large = "it was too large to be kept (100 bytes; the limit is 50)";
        assert_eq!(left, [("/.env", SECRET), ("/big", large), ("/c", NO_ROOM)]);
        let many: Vec<_> = (0..150).map(|at| LeftOut::new(format!("/{at}"), "x")).collect();
        assert_eq!(named(&many, Path::new("/")).len(), MAX_NAMED + 1);
    }

    #[test]
    fn directories_in_others_are_looked_at_once() {
        let directories = ["/b/c", "/a", "/b", "/ab", "/a"].map(PathBuf::from);
        assert_eq!(outermost(&directories), ["/a", "/ab", "/b"].map(PathBuf::from));
    }

    #[test]
    fn contents_that_no_file_has_any_more_are_counted() {
        let mut baseline = Baseline::default();
        let file = |size| Known { state: State::File { hash: blake3::hash(b""), size, mode: None }, at: Some(0) };
        for size in [10, 10, 10] {
            baseline.stored(size);
            baseline.set("/a".into(), Some(file(size)));
        }
        assert_eq!((baseline.room(100), baseline.is_stale(40), baseline.is_stale(100)), (70, true, false));
        baseline.set("/a".into(), None);
        assert_eq!(baseline.live, 0);
    }
}
