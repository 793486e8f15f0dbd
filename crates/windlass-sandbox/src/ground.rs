//! What of a policy is on disk, at one time.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::parents::Parents;
use crate::{SandboxError, SandboxPolicy};

/// How deep below a writable directory other repositories and protected names are looked for.
const DEPTH: usize = 3;
/// How many directories are looked at for that.
const MOST_DIRECTORIES: usize = 2_000;
/// Directories that are large and hold no project of their own.
const LARGE: &[&str] = &["node_modules", "target", ".venv", "venv", "__pycache__", "vendor"];

/// What of a [`SandboxPolicy`] is on disk. Links are followed, so that every path here is the one that counts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Ground {
    /// Writable directories.
    pub writable: Vec<PathBuf>,
    /// Protected paths that exist inside writable directories, to be read-only.
    pub masks: Vec<PathBuf>,
    /// Directories between a writable one and a protected path. They must not be renamed: the protected path would go with them,
    /// and another could take its place.
    pub pins: Vec<PathBuf>,
    /// Hidden directories that exist.
    pub hidden_directories: Vec<PathBuf>,
    /// Hidden files that exist.
    pub hidden_files: Vec<PathBuf>,
    /// Protected paths that cannot be masked, with what stands there. What a program makes of them is found when it has ended.
    pub watched: Vec<Watched>,
}

/// A protected path that cannot be masked.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Watched {
    /// The path.
    pub path: PathBuf,
    /// Where it led if it was a link. `None`: it did not exist.
    pub link: Option<PathBuf>,
}

/// What is watched so far, and the directories that it is in.
#[derive(Default)]
struct Watch {
    found: Vec<Watched>,
    parents: Parents,
}

impl Ground {
    /// Looks what of a policy is there. `nested` are directories with protected names of their own, as
    /// [`nested_projects`] finds them. Asks the system about a hundred paths, so not for the threads of a runtime.
    ///
    /// # Errors
    /// A writable directory cannot be found, or is the root of the file system.
    pub fn look(policy: &SandboxPolicy, nested: &[PathBuf]) -> Result<Self, SandboxError> {
        let mut ground = Self::default();
        for root in &policy.writable {
            let unusable = |problem: String| SandboxError::Directory { path: root.clone(), problem };
            let found = fs::canonicalize(root).map_err(|error| unusable(error.to_string()))?;
            if found.parent().is_none() {
                return Err(unusable("the whole file system would be writable".to_owned()));
            }
            if !ground.writable.contains(&found) {
                ground.writable.push(found);
            }
        }
        ground.hide(policy);
        ground.protect(policy, nested);
        Ok(ground)
    }

    fn hide(&mut self, policy: &SandboxPolicy) {
        for path in &policy.hidden {
            // A link is followed: what is secret is where it leads, and a directory of links to secrets is hidden too.
            // Most are not there, and to resolve one costs a call for each part of its path.
            if fs::symlink_metadata(path).is_err() {
                continue;
            }
            let Ok(found) = fs::canonicalize(path) else { continue };
            if !policy.hides(path) || !policy.hides(&found) {
                continue;
            }
            // To hide a directory that holds a writable one would take the work away.
            if self.writable.iter().any(|root| root.starts_with(&found)) {
                continue;
            }
            let list = if found.is_dir() { &mut self.hidden_directories } else { &mut self.hidden_files };
            if !list.contains(&found) {
                list.push(found);
            }
        }
    }

    fn protect(&mut self, policy: &SandboxPolicy, nested: &[PathBuf]) {
        let mut masks = BTreeSet::new();
        let mut watched = Watch::default();
        for root in &self.writable {
            // First, so that what is below one is found with it.
            for name in &policy.not_made {
                self.unless_directory(&root.join(name), &mut masks, Some(&mut watched));
            }
            for name in &policy.protected {
                self.one(&root.join(name), &mut masks, Some(&mut watched));
            }
        }
        // Further below only what exists counts: what is made there is no more than a new project.
        for base in nested {
            for name in &policy.not_made {
                self.unless_directory(&base.join(name), &mut masks, None);
            }
            for name in &policy.protected {
                self.one(&base.join(name), &mut masks, None);
            }
        }
        for path in &policy.read_only {
            // A program inside can make what is missing only below a writable directory.
            let around =
                path.ancestors().skip(1).find_map(|above| watched.parents.really(above).map(Path::to_path_buf));
            let is_inside = around.is_some_and(|around| self.writable.iter().any(|root| around.starts_with(root)));
            self.one(path, &mut masks, is_inside.then_some(&mut watched));
        }
        self.pins = pins(&self.writable, &masks);
        self.masks = masks.into_iter().collect();
        self.watched = watched.found;
    }

    /// Adds a protected path to what is masked or watched.
    fn one(&self, path: &Path, masks: &mut BTreeSet<PathBuf>, mut watched: Option<&mut Watch>) {
        let is_inside = |path: &Path| self.writable.iter().any(|root| path.starts_with(root));
        let is_lacking = watched.as_mut().is_some_and(|watched| watched.parents.lacks(path));
        let found = if is_lacking { Err(io::ErrorKind::NotFound.into()) } else { fs::symlink_metadata(path) };
        let link = match found {
            Ok(found) if found.is_symlink() => fs::read_link(path).ok(),
            Ok(_) => {
                if let Ok(found) = fs::canonicalize(path)
                    && is_inside(&found)
                {
                    masks.insert(found);
                }
                return;
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            // It is below something that is no directory.
            Err(_) => return,
        };
        // Where a link leads is masked as well. The link itself cannot be.
        if link.is_some()
            && let Ok(found) = fs::canonicalize(path)
            && is_inside(&found)
            && !self.writable.contains(&found)
        {
            masks.insert(found);
        }
        if let Some(watched) = watched {
            // The parent's links are followed now. Where one leads later does not count: see `sweep`.
            let parent =
                path.parent().and_then(|parent| watched.parents.really(parent)).filter(|parent| is_inside(parent));
            let path = parent.zip(path.file_name()).map_or_else(|| path.to_owned(), |(parent, name)| parent.join(name));
            watched.found.push(Watched { path, link });
        }
    }

    /// The same for a name that may stay a directory, whose content is no concern. A file or a link there leads elsewhere.
    fn unless_directory(&self, path: &Path, masks: &mut BTreeSet<PathBuf>, watched: Option<&mut Watch>) {
        if !fs::symlink_metadata(path).is_ok_and(|found| found.is_dir()) {
            self.one(path, masks, watched);
        }
    }
}

/// The directories that lie between writable ones and masked paths, outermost first.
fn pins(writable: &[PathBuf], masks: &BTreeSet<PathBuf>) -> Vec<PathBuf> {
    let mut pins: BTreeSet<PathBuf> = BTreeSet::new();
    for mask in masks {
        let outermost = writable.iter().filter(|root| mask.starts_with(root)).min_by_key(|root| depth(root));
        let Some(outermost) = outermost else { continue };
        let above = mask.ancestors().skip(1).take_while(|above| *above != outermost.as_path());
        pins.extend(above.map(Path::to_path_buf));
    }
    let mut pins: Vec<PathBuf> = pins.into_iter().filter(|pin| !masks.contains(pin)).collect();
    pins.sort_by_key(|pin| depth(pin));
    pins
}

fn depth(path: &Path) -> usize {
    path.components().filter(|part| matches!(part, Component::Normal(_))).count()
}

/// The directories not far below writable ones that hold protected names: projects inside of a project. Looks into at most 2,000
/// directories, three levels deep.
pub fn nested_projects(policy: &SandboxPolicy) -> Vec<PathBuf> {
    let first = |name: &PathBuf| name.components().next().map(|part| part.as_os_str().to_owned());
    let names: BTreeSet<OsString> = policy.protected.iter().filter_map(first).collect();
    let mut found = Vec::new();
    for root in policy.writable.iter().filter_map(|root| fs::canonicalize(root).ok()) {
        search(&root, &names, &mut found);
    }
    found
}

fn search(root: &Path, names: &BTreeSet<OsString>, found: &mut Vec<PathBuf>) {
    let mut open: Vec<(PathBuf, usize)> = vec![(root.to_owned(), 0)];
    let mut at = 0;
    while let Some((directory, depth)) = open.get(at).cloned() {
        at = at.saturating_add(1);
        let mut holds = false;
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            let name = entry.file_name();
            holds |= depth > 0 && names.contains(&name);
            let is_left_out = name.to_str().is_some_and(|name| LARGE.contains(&name) || name.starts_with('.'));
            let is_open = depth < DEPTH && open.len() < MOST_DIRECTORIES && !is_left_out;
            if is_open && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push((entry.path(), depth.saturating_add(1)));
            }
        }
        if holds {
            found.push(directory);
        }
    }
}

#[cfg(all(test, unix))]
mod tests;
