//! Inspection of a git repository before a git command is judged. Runs no program.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use windlass_permission::git::{GitTracked, attributes_are_inert, inert_config, read_index, redirects_git};
use windlass_shell::{Analysis, FoundCommand, Word};
use windlass_tool::{EntryKind, JudgedPath, Permit, Workspace, WorkspaceErrorKind};
use windlass_types::CallDigest;
use windlass_types::path::absolute;

/// Maximum size of a file that names another place, in bytes.
const MAX_POINTER: usize = 4 * 1024;
/// Maximum size of a configuration or of attributes, in bytes.
const MAX_TEXT: usize = 256 * 1024;
/// Maximum size of an index, in bytes: about 300,000 files.
const MAX_INDEX: usize = 32 * 1024 * 1024;
/// Maximum number of inner repositories, and of files with attributes, that are inspected.
const MAX_NAMED: usize = 64;
/// Maximum number of directories with tracked files in which attributes are searched.
const MAX_DIRECTORIES: usize = 20_000;
/// Number of directories that are inspected before other tasks have their turn.
const AT_ONCE: usize = 256;
/// Maximum number of names in the directory of a repository that are inspected, those of objects aside.
const MAX_OWN_NAMES: usize = 20_000;
/// Directories in a git directory whose files no reading git command prints: programs, and nested repositories.
const NEVER_SHOWN: &[&str] = &["annex", "hooks", "lfs", "modules"];

/// Returns `true` if a command might run git.
pub(crate) fn concerns(analysis: &Analysis) -> bool {
    analysis.found().iter().any(|command| command.program() == Some("git"))
}

/// Returns `true` if a git command of the analysis may read the attributes of files.
fn reads_attributes(analysis: &Analysis) -> bool {
    analysis.found().iter().filter(|command| command.program() == Some("git")).any(|command| !is_about_refs(command))
}

/// Returns `true` if a git command prints references, configuration or the titles of commits, but no file contents.
/// `false` in doubt.
fn is_about_refs(command: &FoundCommand) -> bool {
    let mut words = command
        .words()
        .iter()
        .skip(1)
        .map(Word::text)
        .skip_while(|word| matches!(*word, "--no-pager" | "-P" | "--no-optional-locks"));
    match words.next() {
        Some(
            "branch" | "config" | "count-objects" | "for-each-ref" | "merge-base" | "name-rev" | "remote" | "rev-list"
            | "rev-parse" | "show-ref" | "symbolic-ref" | "tag" | "var" | "worktree",
        ) => true,
        Some("log" | "reflog") => words.all(|word| {
            let number = word.strip_prefix('-').is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
            number || !word.starts_with('-') || TITLES.contains(&word.split('=').next().unwrap_or(word))
        }),
        _ => false,
    }
}

/// Options of `git log` that show no more than the command shows without them.
const TITLES: &[&str] = &[
    "--abbrev-commit",
    "--all",
    "--author",
    "--branches",
    "--color",
    "--date",
    "--decorate",
    "--first-parent",
    "--format",
    "--graph",
    "--grep",
    "--max-count",
    "--merges",
    "--no-color",
    "--no-merges",
    "--oneline",
    "--pretty",
    "--remotes",
    "--reverse",
    "--since",
    "--tags",
    "--until",
    "-n",
];

/// Result of inspecting a repository in which no file can make a reading git command run a program.
pub(crate) struct Inert {
    /// The files that git tracks, if there is a repository with an index.
    pub(crate) tracked: Option<GitTracked>,
}

/// Inspects whether the repository around `cwd` could make a reading git command run a program, or show files outside;
/// `None` if it could. The whole repository must lie in the workspace, or there must be none at all, not in a parent
/// directory either. Files that cannot be read or are not understood are treated as able to run a program.
pub(crate) async fn inert(
    workspace: &dyn Workspace,
    directories: &[PathBuf],
    env: &[(OsString, OsString)],
    cwd: &Path,
    analysis: &Analysis,
) -> Option<Inert> {
    if !workspace.is_local() || env.iter().any(|(name, _)| name.to_str().is_none_or(redirects_git)) {
        return None;
    }
    let resolver = PathResolver { workspace, directories, attributes: reads_attributes(analysis) };
    Some(Inert { tracked: resolver.around(cwd).await? })
}

/// Inspection of a repository. Each method returns a value or, in doubt, `None`.
struct PathResolver<'a> {
    workspace: &'a dyn Workspace,
    directories: &'a [PathBuf],
    /// `true` if attributes matter in every directory with tracked files.
    attributes: bool,
}

/// A repository as git would find it.
struct Repository {
    /// The top of the working tree.
    top: PathBuf,
    /// Directory of this working tree's own data.
    own: PathBuf,
    /// Directory that all working trees share.
    common: PathBuf,
}

impl PathResolver<'_> {
    async fn around(&self, cwd: &Path) -> Option<Option<GitTracked>> {
        let cwd = self.workspace.resolve(cwd).await.ok()?.path;
        let Some(repository) = self.find(&cwd).await? else { return Some(None) };
        self.is_whole(&repository).await?;
        self.holds_no_links(&repository.own).await?;
        self.holds_no_links(&repository.common).await?;
        self.alternates_are_inside(&repository.common.join("objects")).await?;
        let config = self.read(&repository.common.join("config"), MAX_TEXT).await?.unwrap_or_default();
        let config = inert_config(&config)?;
        // Reading commands refresh the index, and run this hook.
        for hook in ["post-index-change", "post-index-change.exe"] {
            self.is_missing(&repository.common.join("hooks").join(hook)).await?;
        }
        self.attributes_are_inert(&repository.common.join("info/attributes")).await?;
        for directory in cwd.ancestors().take_while(|directory| directory.starts_with(&repository.top)) {
            self.attributes_are_inert(&directory.join(".gitattributes")).await?;
        }
        let Some(bytes) = self.read(&repository.own.join("index"), MAX_INDEX).await? else { return Some(None) };
        let index = read_index(&bytes, config.hash_bytes)?;
        if index.repositories.len() > MAX_NAMED || index.attributes.len() > MAX_NAMED {
            return None;
        }
        for path in &index.attributes {
            // Git takes a missing file from the index.
            let path = below(&repository.top, path)?;
            attributes_are_inert(&self.read(&path, MAX_TEXT).await??).then_some(())?;
        }
        if self.attributes {
            self.untracked_attributes_are_inert(&repository.top, &index.directories).await?;
        }
        for path in &index.repositories {
            self.is_missing(&below(&repository.top, path)?.join(".git")).await?;
        }
        Some(Some(GitTracked::new(repository.top, bytes, config.hash_bytes)))
    }

    /// Goes up from a directory, as git does. Leaves the workspace only to make sure that there is no repository:
    /// `Some(None)`.
    async fn find(&self, cwd: &Path) -> Option<Option<Repository>> {
        for top in cwd.ancestors() {
            let dot_git = top.join(".git");
            let resolved = self.workspace.resolve(&dot_git).await.ok()?;
            if resolved.path != dot_git {
                return None;
            }
            let top = top.to_path_buf();
            match resolved.kind {
                // A directory may itself be a repository, one without a working tree.
                EntryKind::Missing => self.is_missing(&top.join("HEAD")).await?,
                _ if !self.is_inside(&top) => return None,
                EntryKind::Directory => {
                    self.is_missing(&dot_git.join("commondir")).await?;
                    return Some(Some(Repository { top, own: dot_git.clone(), common: dot_git }));
                }
                EntryKind::File => {
                    let own_directory = self.pointer(&dot_git, "gitdir: ", &top).await?;
                    let common = self.pointer(&own_directory.join("commondir"), "", &own_directory).await?;
                    return Some(Some(Repository { top, own: own_directory, common }));
                }
                _ => return None,
            }
        }
        Some(None)
    }

    /// Reads a file that names a directory of the workspace.
    async fn pointer(&self, file: &Path, prefix: &str, base: &Path) -> Option<PathBuf> {
        let text = String::from_utf8(self.read(file, MAX_POINTER).await??).ok()?;
        let target = text.strip_prefix(prefix)?.trim_end_matches(['\n', '\r']);
        let resolved = self.workspace.resolve(&absolute(base, Path::new(target))).await.ok()?;
        (resolved.kind == EntryKind::Directory && self.is_inside(&resolved.path)).then_some(resolved.path)
    }

    /// Requires everything that makes a directory a repository for git. Git skips anything less, and continues upwards.
    async fn is_whole(&self, repository: &Repository) -> Option<()> {
        let head = String::from_utf8(self.read(&repository.own.join("HEAD"), MAX_POINTER).await??).ok()?;
        let head = head.trim_end();
        let hash = matches!(head.len(), 40 | 64) && head.bytes().all(|byte| byte.is_ascii_hexdigit());
        for directory in ["objects", "refs"] {
            let path = repository.common.join(directory);
            let resolved = self.workspace.resolve(&path).await.ok()?;
            if resolved.kind != EntryKind::Directory || resolved.path != path {
                return None;
            }
        }
        (hash || head.starts_with("ref: refs/")).then_some(())
    }

    /// Requires that the directory has no links. Git shows the text of its own files (`BISECT_LOG`,
    /// `rebase-merge/done`, a line of `packed-refs` that it cannot read): a link among them would show any file of the
    /// user.
    async fn holds_no_links(&self, directory: &Path) -> Option<()> {
        let mut remaining = MAX_OWN_NAMES;
        let mut open = vec![directory.to_path_buf()];
        while let Some(directory) = open.pop() {
            let is_objects = directory.file_name().is_some_and(|name| name == "objects");
            for entry in self.workspace.entries(&directory, remaining).await.ok()? {
                remaining = remaining.checked_sub(1).filter(|remaining| *remaining > 0)?;
                let name = entry.name.to_str()?;
                let is_fan_out = is_objects && name.len() == 2;
                match entry.kind {
                    EntryKind::Directory if is_fan_out || NEVER_SHOWN.contains(&name) => {}
                    EntryKind::Directory => open.push(directory.join(name)),
                    EntryKind::File => {}
                    _ => return None,
                }
            }
            tokio::task::yield_now().await;
        }
        Some(())
    }

    /// Requires that alternates are inside. Objects of another repository show its content: that one has to lie in the
    /// workspace, and to borrow none itself.
    async fn alternates_are_inside(&self, objects: &Path) -> Option<()> {
        let Some(bytes) = self.read(&objects.join("info/alternates"), MAX_POINTER).await? else { return Some(()) };
        let text = String::from_utf8(bytes).ok()?;
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let resolved = self.workspace.resolve(&absolute(objects, Path::new(line))).await.ok()?;
            if !self.is_inside(&resolved.path) {
                return None;
            }
            self.is_missing(&resolved.path.join("info/alternates")).await?;
        }
        Some(())
    }

    async fn attributes_are_inert(&self, file: &Path) -> Option<()> {
        let attributes = self.read(file, MAX_TEXT).await?.unwrap_or_default();
        attributes_are_inert(&attributes).then_some(())
    }

    /// Requires that untracked attributes are harmless. Attributes apply wherever there are tracked files, also if the
    /// index does not name them.
    async fn untracked_attributes_are_inert(&self, top: &Path, directories: &BTreeSet<Vec<u8>>) -> Option<()> {
        if directories.len() > MAX_DIRECTORIES {
            return None;
        }
        for (index, directory) in directories.iter().enumerate() {
            let file = below(top, directory)?.join(".gitattributes");
            // This check needs no other thread: there are many of them.
            let resolved = self.workspace.resolve(&file).await.ok()?;
            if resolved.kind != EntryKind::Missing || resolved.path != file {
                self.attributes_are_inert(&file).await?;
            }
            if index % AT_ONCE == AT_ONCE - 1 {
                tokio::task::yield_now().await;
            }
        }
        Some(())
    }

    async fn is_missing(&self, path: &Path) -> Option<()> {
        let resolved = self.workspace.resolve(path).await.ok()?;
        (resolved.kind == EntryKind::Missing && resolved.path == path).then_some(())
    }

    fn is_inside(&self, path: &Path) -> bool {
        self.directories.iter().any(|directory| path.starts_with(directory))
    }

    /// Reads a whole regular file, without following links; `Some(None)` when there is none.
    async fn read(&self, path: &Path, limit: usize) -> Option<Option<Vec<u8>>> {
        let permit = Permit::new(CallDigest::new("git")).with_reads(vec![JudgedPath::new(path, path)]);
        let mut file = match self.workspace.open(&permit, path).await {
            Ok(file) => file,
            Err(error) if error.kind == WorkspaceErrorKind::NotFound => return Some(None),
            Err(_) => return None,
        };
        let mut bytes = Vec::new();
        loop {
            let more = file.read(limit.saturating_sub(bytes.len()).saturating_add(1)).await.ok()?;
            if more.is_empty() {
                return Some(Some(bytes));
            }
            bytes.extend(more);
            if bytes.len() > limit {
                return None;
            }
        }
    }
}

/// Returns a path of an index, which must not leave the working tree.
fn below(top: &Path, path: &[u8]) -> Option<PathBuf> {
    let path = absolute(top, Path::new(std::str::from_utf8(path).ok()?));
    (path.starts_with(top) && path != top).then_some(path)
}
