//! Looking at the files that a call would touch, before it is judged. No program is run and no file is opened.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass_permission::{CommandFacts, CommandPath, PathFact, PatternFact, Standing, TreeFact};
use windlass_tool::{DirectoryEntry, EntryKind, ResolvedPath, Workspace, WorkspaceErrorKind};

/// Entries of directories that are looked at for one call.
const MAX_ENTRIES: usize = 20_000;
/// Paths that one file name pattern may stand for.
const MAX_MATCHES: usize = 10_000;

/// Follows the paths of one call. Remembers what it saw for as long as that takes.
pub(crate) struct Look<'a> {
    workspace: &'a Arc<dyn Workspace>,
    /// How many entries may still be looked at.
    left: usize,
    git_directories: HashMap<PathBuf, bool>,
}

/// A way that a pattern may stand for, so far.
struct Way {
    /// As the command would name it.
    written: PathBuf,
    /// Where that leads, if it is known to lead there without links.
    place: Option<PathBuf>,
}

impl<'a> Look<'a> {
    pub(crate) fn new(workspace: &'a Arc<dyn Workspace>) -> Self {
        Self { workspace, left: MAX_ENTRIES, git_directories: HashMap::new() }
    }

    /// Follows the links of a path. `None` if that is not possible.
    pub(crate) async fn follow(&mut self, requested: PathBuf, write: bool) -> Option<PathFact> {
        let there = self.workspace.resolve(&requested).await.ok()?;
        Some(self.fact(requested, there, write).await)
    }

    async fn fact(&mut self, requested: PathBuf, there: ResolvedPath, write: bool) -> PathFact {
        let git = if write { self.git_directory(&there.path).await } else { None };
        let end = match there.kind {
            EntryKind::Missing => Standing::Missing,
            EntryKind::Directory => Standing::Directory,
            _ => Standing::Leaf,
        };
        PathFact::new(requested, there.path, write).with_via(there.via).with_end(end).with_git_directory(git)
    }

    /// The git directory at or above a path, whatever its name.
    async fn git_directory(&mut self, path: &Path) -> Option<PathBuf> {
        for directory in path.ancestors() {
            let known = self.git_directories.get(directory).copied();
            let is_one = match known {
                Some(is_one) => is_one,
                None => {
                    let is_one = self.is_git_directory(directory).await;
                    self.git_directories.insert(directory.to_path_buf(), is_one);
                    is_one
                }
            };
            if is_one {
                return Some(directory.to_path_buf());
            }
        }
        None
    }

    /// What git itself looks for: a head, objects and references, or where these are.
    async fn is_git_directory(&self, directory: &Path) -> bool {
        // The head may be a link that leads nowhere yet.
        if !self.stands(directory, "HEAD").await {
            return false;
        }
        let (objects, refs) = (self.stands(directory, "objects").await, self.stands(directory, "refs").await);
        (objects && refs) || self.stands(directory, "commondir").await
    }

    async fn stands(&self, directory: &Path, name: &str) -> bool {
        let path = directory.join(name);
        let there = self.workspace.resolve(&path).await;
        there.is_ok_and(|there| there.kind != EntryKind::Missing || there.path != path)
    }

    /// Follows the paths of a command, and finds what its patterns and trees stand for.
    pub(crate) async fn at_command(&mut self, mut command: CommandFacts, named: Vec<CommandPath>) -> CommandFacts {
        for path in named {
            // What cannot be followed is not known, and counts as outside.
            let Ok(there) = self.workspace.resolve(&path.path).await else { continue };
            let (place, kind) = (there.path.clone(), there.kind);
            command.paths.push(self.fact(path.path.clone(), there, path.write).await);
            if path.pattern.is_some() {
                command.patterns.extend(self.pattern(&path, place).await);
            } else if path.tree {
                command.trees.push(self.tree(&path, place, kind).await);
            }
        }
        command
    }

    /// What a file name pattern stands for. Links are followed wherever they are met.
    async fn pattern(&mut self, path: &CommandPath, place: PathBuf) -> Option<PatternFact> {
        let pattern = path.pattern.as_ref()?;
        let mut ways = vec![Way { written: path.path.clone(), place: Some(place) }];
        let mut is_whole = true;
        let names: Vec<_> = pattern.names().collect();
        for (index, name) in names.iter().enumerate() {
            let is_last = index.saturating_add(1) == names.len();
            let mut next = Vec::new();
            for way in ways {
                if let Some(name) = name.literal() {
                    // What this is shows when it is followed.
                    next.push(Way { written: way.written.join(name), place: None });
                    continue;
                }
                let Some(directory) = self.directory(&way).await else { continue };
                let Some(entries) = self.entries(&directory).await else {
                    is_whole = false;
                    continue;
                };
                let fits = |entry: &&DirectoryEntry| {
                    name.may_match(&entry.name)
                        && (is_last || matches!(entry.kind, EntryKind::Directory | EntryKind::Link))
                };
                next.extend(entries.iter().filter(fits).map(|entry| Way {
                    written: way.written.join(&entry.name),
                    place: (entry.kind != EntryKind::Link).then(|| directory.join(&entry.name)),
                }));
            }
            if next.len() > MAX_MATCHES {
                next.clear();
                is_whole = false;
            }
            ways = next;
        }
        let mut matches = Vec::with_capacity(ways.len());
        for way in ways {
            match way.place {
                Some(place) => {
                    let there = ResolvedPath::new(place, EntryKind::File);
                    matches.push(self.fact(way.written, there, path.write).await);
                }
                None => match self.follow(way.written, path.write).await {
                    // The pattern does not stand for what is not there.
                    Some(fact) if fact.end == Standing::Missing && !self.ends_in_link(&fact).await => {}
                    Some(fact) => matches.push(fact),
                    None => is_whole = false,
                },
            }
        }
        Some(PatternFact::new(&path.path, pattern.text(), matches, is_whole))
    }

    /// Whether the last name of a path is a link.
    async fn ends_in_link(&self, fact: &PathFact) -> bool {
        let (Some(parent), Some(name)) = (fact.requested.parent(), fact.requested.file_name()) else { return true };
        let parent = self.workspace.resolve(parent).await;
        parent.map_or(true, |parent| parent.path.join(name) != fact.resolved)
    }

    /// Where a way leads, if that is a directory.
    async fn directory(&self, way: &Way) -> Option<PathBuf> {
        match &way.place {
            Some(place) => Some(place.clone()),
            None => {
                let there = self.workspace.resolve(&way.written).await.ok()?;
                (there.kind == EntryKind::Directory).then_some(there.path)
            }
        }
    }

    /// What lies below a path, links not followed.
    async fn tree(&mut self, path: &CommandPath, place: PathBuf, kind: EntryKind) -> TreeFact {
        let (mut entries, mut links, mut is_whole) = (Vec::new(), Vec::new(), true);
        // A link that is moved or copied is still one.
        let own = PathFact::new(&path.path, &place, false);
        if self.ends_in_link(&own).await {
            links.extend(self.follow(path.path.clone(), false).await);
        }
        let mut open = VecDeque::new();
        if kind == EntryKind::Directory {
            open.push_back(PathBuf::new());
        }
        while let Some(below) = open.pop_front() {
            let Some(found) = self.entries(&place.join(&below)).await else {
                is_whole = false;
                break;
            };
            for entry in found {
                let below = below.join(&entry.name);
                match entry.kind {
                    EntryKind::Directory => open.push_back(below.clone()),
                    EntryKind::Link => match self.follow(path.path.join(&below), false).await {
                        Some(fact) => links.push(fact),
                        None => is_whole = false,
                    },
                    _ => {}
                }
                entries.push(below);
            }
        }
        TreeFact::new(&path.path, entries, links, is_whole)
    }

    /// The entries of a directory, if they can be listed and are not too many.
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
