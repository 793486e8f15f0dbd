//! The paths of a policy that exist on disk at one time.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::parents::Parents;
use crate::{SandboxError, SandboxPolicy};

/// Depth below a writable directory to which other repositories and protected names are searched.
const DEPTH: usize = 3;
/// Maximum number of directories that are searched.
const MOST_DIRECTORIES: usize = 2_000;
/// Names of directories that are large and hold no project.
const LARGE: &[&str] = &["node_modules", "target", ".venv", "venv", "__pycache__", "vendor"];

/// Paths of a [`SandboxPolicy`] that exist on disk. Links are followed, so that every path here is the effective one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Ground {
    /// Writable directories.
    pub writable: Vec<PathBuf>,
    /// Protected paths that exist inside writable directories, to be read-only.
    pub masks: Vec<PathBuf>,
    /// Directories between a writable one and a protected path. They must not be renamed: the protected path would go
    /// with them, and another could take its place.
    pub pins: Vec<PathBuf>,
    /// Hidden directories that exist.
    pub hidden_directories: Vec<PathBuf>,
    /// Hidden files that exist.
    pub hidden_files: Vec<PathBuf>,
    /// Files that exist and are read as empty.
    pub emptied: Vec<PathBuf>,
    /// Protected paths that cannot be masked, with their state. Changes that a program makes to them are found when it
    /// has ended.
    pub watched: Vec<Watched>,
}

/// A protected path that cannot be masked.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Watched {
    /// Path, with the links of its directory followed.
    pub path: PathBuf,
    /// Target of the path if it was a link. `None` if the path did not exist.
    pub link: Option<PathBuf>,
}

/// Paths that are watched so far, and their directories.
#[derive(Default)]
struct Watch {
    found: Vec<Watched>,
    parents: Parents,
}

impl Ground {
    /// Looks up which paths of a policy exist. `nested` are directories with protected names of their own, as
    /// [`nested_projects`] finds them. Makes about a hundred system calls, so it must not run on the threads of an
    /// async runtime.
    ///
    /// # Errors
    /// Fails if a writable directory cannot be found, or is the root of the file system.
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
            // Links are followed: the target is the secret, and a directory of links to secrets is hidden too. Most
            // paths do not exist, and resolving one costs a call for each of its parts.
            if fs::symlink_metadata(path).is_err() {
                continue;
            }
            let Ok(found) = fs::canonicalize(path) else { continue };
            if !policy.hides(path) || !policy.hides(&found) {
                continue;
            }
            // Hiding a directory that holds a writable one would hide the project.
            if self.writable.iter().any(|root| root.starts_with(&found)) {
                continue;
            }
            let list = if found.is_dir() { &mut self.hidden_directories } else { &mut self.hidden_files };
            if !list.contains(&found) {
                list.push(found);
            }
        }
        for path in policy.emptied.iter().filter(|path| policy.hides(path)) {
            let Ok(found) = fs::canonicalize(path) else { continue };
            if policy.hides(&found) && found.is_file() && !self.emptied.contains(&found) {
                self.emptied.push(found);
            }
        }
        let hidden = std::mem::take(&mut self.hidden_files);
        self.emptied.retain(|path| !hidden.contains(path));
        self.hidden_files = hidden;
    }

    fn protect(&mut self, policy: &SandboxPolicy, nested: &[PathBuf]) {
        let mut masks = BTreeSet::new();
        let mut watched = Watch::default();
        for root in &self.writable {
            // Added first, so that names below them are found with them.
            for name in &policy.not_made {
                self.unless_directory(&root.join(name), &mut masks, Some(&mut watched));
            }
            for name in &policy.protected {
                self.one(&root.join(name), &mut masks, Some(&mut watched));
            }
        }
        // Further below, only existing names count: a name created there is merely a new project.
        for base in nested {
            for name in &policy.not_made {
                self.unless_directory(&base.join(name), &mut masks, None);
            }
            for name in &policy.protected {
                self.one(&base.join(name), &mut masks, None);
            }
        }
        for path in &policy.read_only {
            // A program inside can create a missing path only below a writable directory.
            let around =
                path.ancestors().skip(1).find_map(|above| watched.parents.really(above).map(Path::to_path_buf));
            let is_inside = around.is_some_and(|around| self.writable.iter().any(|root| around.starts_with(root)));
            self.one(path, &mut masks, is_inside.then_some(&mut watched));
        }
        self.pins = pins(&self.writable, &masks);
        self.masks = masks.into_iter().collect();
        self.watched = watched.found;
    }

    /// Adds a protected path to those that are masked or watched.
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
            // The path is below something that is no directory.
            Err(_) => return,
        };
        // The target of a link is masked as well. The link itself cannot be masked.
        if link.is_some()
            && let Ok(found) = fs::canonicalize(path)
            && is_inside(&found)
            && !self.writable.contains(&found)
        {
            masks.insert(found);
        }
        if let Some(watched) = watched {
            // The links of the directory are followed now. Their later targets do not count: see `sweep`.
            let parent =
                path.parent().and_then(|parent| watched.parents.really(parent)).filter(|parent| is_inside(parent));
            let path = parent.zip(path.file_name()).map_or_else(|| path.to_owned(), |(parent, name)| parent.join(name));
            watched.found.push(Watched { path, link });
        }
    }

    /// Adds a name, unless it is a directory, whose content is irrelevant. A file or a link there leads elsewhere.
    fn unless_directory(&self, path: &Path, masks: &mut BTreeSet<PathBuf>, watched: Option<&mut Watch>) {
        if !fs::symlink_metadata(path).is_ok_and(|found| found.is_dir()) {
            self.one(path, masks, watched);
        }
    }
}

/// Returns the directories between writable ones and masked paths, outermost first.
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

/// Returns the directories close below writable ones that hold protected names, which are projects inside of a project.
/// Looks into at most 2,000 directories, three levels deep.
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
