//! Resolves the paths that a call would access, before the permission decision. Runs no program, opens no file.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass_permission::{CommandFacts, CommandPath, PathFact, PatternFact, ShellPattern, Standing, TreeFact};
use windlass_tool::{DirectoryEntry, EntryKind, ResolvedPath, Workspace, WorkspaceErrorKind};

/// Maximum number of directory entries that are inspected for one call.
const MAX_ENTRIES: usize = 20_000;
/// Maximum number of entries below the folders that commands search which are inspected for one call. Those deeper down
/// are treated as free of secrets.
const MAX_SEARCHED: usize = 5_000;
/// Folders in which no secrets of the project are searched: those of version control and of packages.
const PASSED_OVER: &[&str] = &[".git", ".hg", ".svn", "node_modules", "target"];
/// Maximum number of paths that one file name pattern may match.
const MAX_MATCHES: usize = 10_000;

/// Resolves the paths of one call. Caches its findings for the duration.
pub(crate) struct PathResolver<'a> {
    workspace: &'a Arc<dyn Workspace>,
    /// Number of entries that may still be inspected.
    left: usize,
    /// Number of entries that may still be inspected for the output of searches.
    left_of_searches: usize,
    git_directories: HashMap<PathBuf, bool>,
}

/// Partial match of a pattern.
struct PartialMatch {
    /// Path as the command would name it.
    written: PathBuf,
    /// Resolved path, if it is known to have no links.
    place: Option<ResolvedPath>,
}

impl<'a> PathResolver<'a> {
    pub(crate) fn new(workspace: &'a Arc<dyn Workspace>) -> Self {
        Self { workspace, left: MAX_ENTRIES, left_of_searches: MAX_SEARCHED, git_directories: HashMap::new() }
    }

    /// Follows the links of a path. `None` if that is not possible.
    pub(crate) async fn follow(&mut self, requested: PathBuf, write: bool) -> Option<PathFact> {
        let resolved = self.workspace.resolve(&requested).await.ok()?;
        Some(self.fact(requested, resolved, write).await)
    }

    async fn fact(&mut self, requested: PathBuf, resolved: ResolvedPath, write: bool) -> PathFact {
        let git = if write { self.git_directory(&resolved.path).await } else { None };
        let end = match resolved.kind {
            EntryKind::Missing => Standing::Missing,
            EntryKind::Directory => Standing::Directory,
            _ => Standing::Leaf,
        };
        PathFact::new(requested, resolved.path, write).with_via(resolved.via).with_end(end).with_git_directory(git)
    }

    /// Returns the git directory at or above a path, whatever its name.
    async fn git_directory(&mut self, path: &Path) -> Option<PathBuf> {
        for directory in path.ancestors() {
            let cached = self.git_directories.get(directory).copied();
            let is_git = match cached {
                Some(is_git) => is_git,
                None => {
                    let is_git = self.is_git_directory(directory).await;
                    self.git_directories.insert(directory.to_path_buf(), is_git);
                    is_git
                }
            };
            if is_git {
                return Some(directory.to_path_buf());
            }
        }
        None
    }

    /// Returns `true` if a directory has a file `HEAD`. Git also requires objects and references, but these may come
    /// later, when its configuration and hooks are written already. The head may be a link that leads nowhere yet.
    async fn is_git_directory(&self, directory: &Path) -> bool {
        let path = directory.join("HEAD");
        let resolved = self.workspace.resolve(&path).await;
        resolved.is_ok_and(|resolved| match resolved.kind {
            EntryKind::Missing => resolved.path != path,
            kind => kind != EntryKind::Directory,
        })
    }

    /// Follows the paths of a command, and resolves its patterns and trees.
    pub(crate) async fn at_command(
        &mut self,
        mut command: CommandFacts,
        command_paths: Vec<CommandPath>,
    ) -> CommandFacts {
        for path in command_paths {
            // A path that cannot be followed is unknown, and is treated as outside.
            let Ok(there) = self.workspace.resolve(&path.path).await else { continue };
            let fact = self.fact(path.path.clone(), there, path.write).await;
            if let Some(pattern) = &path.pattern {
                self.pattern(&path, pattern, &fact.resolved, &mut command).await;
            } else if path.tree {
                let is_link = self.ends_in_link(&fact).await;
                command.trees.push(self.tree(&path, &fact, is_link).await);
            } else if path.searched {
                command.trees.push(self.searched(&fact).await);
            }
            command.paths.push(fact);
        }
        command
    }

    /// Resolves a file name pattern, and the tree below each match. Links are followed wherever they are met.
    async fn pattern(&mut self, path: &CommandPath, pattern: &ShellPattern, start: &Path, command: &mut CommandFacts) {
        let (ways, mut is_whole) = self.expand_pattern(path, pattern, start).await;
        let mut matches = Vec::with_capacity(ways.len());
        for way in ways {
            let (fact, is_link) = match way.place {
                Some(place) => (self.fact(way.written, place, path.write).await, false),
                None => {
                    let Some(fact) = self.follow(way.written, path.write).await else {
                        is_whole = false;
                        continue;
                    };
                    let is_missing = fact.end == Standing::Missing;
                    let is_link = (is_missing || path.tree) && self.ends_in_link(&fact).await;
                    if is_missing && !is_link {
                        // A pattern does not match missing files.
                        continue;
                    }
                    (fact, is_link)
                }
            };
            if path.tree {
                command.trees.push(self.tree(path, &fact, is_link).await);
            } else if path.searched {
                command.trees.push(self.searched(&fact).await);
            }
            matches.push(fact);
        }
        command.patterns.push(PatternFact::new(&path.path, pattern.text(), matches, is_whole));
    }

    /// Returns the paths that a pattern may match, from where it starts, and `true` if the list is complete.
    async fn expand_pattern(
        &mut self,
        path: &CommandPath,
        pattern: &ShellPattern,
        start: &Path,
    ) -> (Vec<PartialMatch>, bool) {
        let start = ResolvedPath::new(start, EntryKind::Directory);
        let mut ways = vec![PartialMatch { written: path.path.clone(), place: Some(start) }];
        let mut is_whole = true;
        let names: Vec<_> = pattern.names().collect();
        for (index, name) in names.iter().enumerate() {
            let is_last = index.saturating_add(1) == names.len();
            let mut next = Vec::new();
            for way in ways {
                if let Some(name) = name.literal() {
                    // The kind of this entry is found when it is followed.
                    next.push(PartialMatch { written: way.written.join(name), place: None });
                    continue;
                }
                let Some(directory) = self.directory(&way).await else { continue };
                let Some(entries) = self.entries(&directory).await else {
                    is_whole = false;
                    continue;
                };
                let is_match = |entry: &&DirectoryEntry| {
                    name.may_match(&entry.name)
                        && (is_last || matches!(entry.kind, EntryKind::Directory | EntryKind::Link))
                };
                next.extend(entries.iter().filter(is_match).map(|entry| {
                    PartialMatch {
                        written: way.written.join(&entry.name),
                        place: (entry.kind != EntryKind::Link)
                            .then(|| ResolvedPath::new(directory.join(&entry.name), entry.kind)),
                    }
                }));
            }
            if next.len() > MAX_MATCHES {
                return (Vec::new(), false);
            }
            ways = next;
        }
        (ways, is_whole)
    }

    /// Returns `true` if the last name of a path is a link.
    async fn ends_in_link(&self, fact: &PathFact) -> bool {
        let (Some(parent), Some(name)) = (fact.requested.parent(), fact.requested.file_name()) else { return true };
        let parent = self.workspace.resolve(parent).await;
        parent.map_or(true, |parent| parent.path.join(name) != fact.resolved)
    }

    /// Returns the directory that a match leads to, if it is one.
    async fn directory(&self, partial_match: &PartialMatch) -> Option<PathBuf> {
        match &partial_match.place {
            Some(place) => Some(place.path.clone()),
            None => {
                let resolved = self.workspace.resolve(&partial_match.written).await.ok()?;
                (resolved.kind == EntryKind::Directory).then_some(resolved.path)
            }
        }
    }

    /// Returns the tree below a path that was followed, with its links not followed, and the links in the place of a
    /// copy of it.
    async fn tree(&mut self, path: &CommandPath, root: &PathFact, is_link: bool) -> TreeFact {
        let requested = &root.requested;
        let (mut entries, mut links, mut overwritten) = (Vec::new(), Vec::new(), Vec::new());
        let mut is_whole = true;
        // A link that is moved or copied is still one.
        if is_link {
            links.extend(self.follow(requested.clone(), false).await);
        }
        let targets = path.copied_to(requested);
        let mut open = VecDeque::new();
        if root.end == Standing::Directory {
            open.push_back(PathBuf::new());
        }
        while let Some(directory) = open.pop_front() {
            let Some(found) = self.entries(&root.resolved.join(&directory)).await else {
                is_whole = false;
                break;
            };
            for target in &targets {
                is_whole &= self.overwritten(target.join(&directory), &found, &mut overwritten).await.is_some();
            }
            for entry in found {
                let relative = directory.join(&entry.name);
                match entry.kind {
                    EntryKind::Directory => open.push_back(relative.clone()),
                    EntryKind::Link => match self.follow(requested.join(&relative), false).await {
                        Some(fact) => links.push(fact),
                        None => is_whole = false,
                    },
                    _ => {}
                }
                entries.push(relative);
            }
        }
        TreeFact::new(requested, entries, links, is_whole).with_overwritten(overwritten)
    }

    /// Returns the files below a path whose content a search prints, the upper ones first. Has a limit of its own, so
    /// that the other checks of the call keep theirs.
    async fn searched(&mut self, root: &PathFact) -> TreeFact {
        let call_budget = std::mem::replace(&mut self.left, self.left_of_searches);
        let (mut entries, mut open, mut is_whole) = (Vec::new(), VecDeque::new(), true);
        if root.end == Standing::Directory {
            open.push_back(PathBuf::new());
        }
        while let Some(directory) = open.pop_front() {
            let Some(found) = self.entries(&root.resolved.join(&directory)).await else {
                is_whole = false;
                break;
            };
            for entry in found {
                let relative = directory.join(&entry.name);
                match entry.kind {
                    EntryKind::Directory if !PASSED_OVER.iter().any(|name| entry.name == *name) => {
                        open.push_back(relative)
                    }
                    EntryKind::Directory => {}
                    _ => entries.push(relative),
                }
            }
        }
        self.left_of_searches = std::mem::replace(&mut self.left, call_budget);
        TreeFact::new(&root.requested, entries, Vec::new(), is_whole)
    }

    /// Finds the links in a directory that have the name of an entry that is copied there. `None` if that is not
    /// possible.
    async fn overwritten(&mut self, to: PathBuf, copied: &[DirectoryEntry], links: &mut Vec<PathFact>) -> Option<()> {
        let existing = self.entries(&to).await?;
        let mut existing: Vec<_> = existing.into_iter().filter(|entry| entry.kind == EntryKind::Link).collect();
        if !existing.is_empty() {
            let names: HashSet<&OsStr> = copied.iter().map(|entry| entry.name.as_os_str()).collect();
            existing.retain(|entry| names.contains(entry.name.as_os_str()));
        }
        for link in existing {
            links.push(self.follow(to.join(&link.name), true).await?);
        }
        Some(())
    }

    /// Returns the entries of a directory, if they can be listed and are not too many.
    async fn entries(&mut self, directory: &Path) -> Option<Vec<DirectoryEntry>> {
        let entries = match self.workspace.entries(directory, self.left.saturating_add(1)).await {
            Ok(entries) => entries,
            Err(error) if matches!(error.kind, WorkspaceErrorKind::NotFound | WorkspaceErrorKind::NotDirectory) => {
                Vec::new()
            }
            Err(_) => return None,
        };
        self.left = self.left.checked_sub(entries.len().max(1))?;
        Some(entries)
    }
}
