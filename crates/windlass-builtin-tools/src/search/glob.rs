//! Search for files by name pattern.

use std::ffi::OsStr;
use std::fs::FileType;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use ignore::DirEntry;

use super::newest::Newest;
use super::walk::{Interrupt, Scope, WalkReport, Worker, walk};
use crate::workspace::dir::Dir;

/// Maximum length of a pattern, in bytes.
const MAX_PATTERN: usize = 4096;

/// A pattern, split at its first wildcard.
#[derive(Debug, Clone)]
pub(crate) struct GlobPattern {
    /// The folder to start in, as the pattern spells it: empty, relative or absolute.
    base: PathBuf,
    rest: String,
    matcher: GlobSet,
    max_depth: Option<usize>,
}

/// Reason why a pattern is unusable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum GlobError {
    #[error("the pattern is empty")]
    Empty,
    #[error("the pattern is longer than {MAX_PATTERN} bytes")]
    TooLong,
    #[error("`..` cannot stand after a wildcard: put it at the start of the pattern or into `path`")]
    Parent,
    #[error("invalid pattern: {0}")]
    Invalid(String),
}

impl GlobPattern {
    /// Parses a pattern. `*` and `?` stay within one path component, `**` spans components, `{a,b}` and `[a-z]` choose.
    /// A pattern that ends in `/` matches everything below that folder.
    pub(crate) fn parse(pattern: &str) -> Result<Self, GlobError> {
        if pattern.trim().is_empty() {
            return Err(GlobError::Empty);
        }
        if pattern.len() > MAX_PATTERN {
            return Err(GlobError::TooLong);
        }
        let (base, mut rest) = split(pattern);
        if rest.is_empty() || rest.ends_with('/') {
            rest.push_str("**");
        }
        if rest.split('/').any(|part| part == "..") {
            return Err(GlobError::Parent);
        }
        let build = |rest: &str| GlobBuilder::new(rest).literal_separator(true).empty_alternates(true).build();
        let invalid = |error: globset::Error| GlobError::Invalid(error.kind().to_string());
        let mut globs = GlobSetBuilder::new();
        globs.add(build(&rest).map_err(invalid)?);
        // `[id]` is both a set of characters and a name that people use.
        for glob in literal_brackets(&rest).iter().filter_map(|rest| build(rest).ok()) {
            globs.add(glob);
        }
        let matcher = globs.build().map_err(invalid)?;
        Ok(Self { base, max_depth: depth(&rest), rest, matcher })
    }

    /// The folder to start in, relative to the search path unless absolute.
    pub(crate) fn base(&self) -> &Path {
        &self.base
    }

    pub(super) fn matches(&self, relative: &Path) -> bool {
        matches!(self.rest.as_str(), "**" | "**/*") || self.matcher.is_match(relative)
    }

    /// `true` if the pattern matches in the start folder only and not below it.
    pub(crate) fn is_flat(&self) -> bool {
        self.max_depth == Some(1)
    }

    /// Maximum depth of a match.
    pub(super) fn max_depth(&self) -> Option<usize> {
        self.max_depth
    }

    /// Part of the pattern below its base.
    pub(crate) fn rest(&self) -> &str {
        &self.rest
    }
}

/// The pattern with its brackets as plain characters, and also with its braces, if it has any.
pub(super) fn literal_brackets(pattern: &str) -> Vec<String> {
    let literal = |signs: &[char]| -> String {
        pattern.chars().map(|c| if signs.contains(&c) { format!("[{c}]") } else { c.to_string() }).collect()
    };
    let forms = [literal(&['[', ']']), literal(&['[', ']', '{', '}'])];
    forms.into_iter().filter(|form| form != pattern).collect()
}

/// Splits a pattern: leading components without a wildcard make the base; the last one never does.
fn split(pattern: &str) -> (PathBuf, String) {
    let mut base = PathBuf::new();
    let mut rest = pattern;
    if pattern.starts_with('/') {
        base.push("/");
        rest = pattern.trim_start_matches('/');
    }
    while let Some((part, tail)) = rest.split_once('/') {
        if part.contains(['*', '?', '[', ']', '{', '}', '\\']) {
            break;
        }
        if !part.is_empty() && part != "." {
            base.push(part);
        }
        rest = tail;
    }
    (base, rest.to_owned())
}

/// Maximum depth of a match, if the pattern limits it.
fn depth(rest: &str) -> Option<usize> {
    // A separator may be hidden inside a choice or after a backslash: no limit then.
    let levels = rest.split('/').count();
    let hidden_separators = levels > 1 && rest.contains(['{', '[', '\\']);
    (!hidden_separators && !rest.contains("**")).then_some(levels)
}

/// Result of a search for names.
#[derive(Debug)]
pub(crate) struct GlobOutcome {
    /// Absolute paths, newest first, equally new ones by path.
    pub(crate) paths: Vec<PathBuf>,
    /// Number of matching files; all of them unless the walk was interrupted.
    pub(crate) total: usize,
    pub(crate) report: WalkReport,
}

/// Searches below `scope.root`, the resolved base of the pattern. Keeps at most `limit` paths in memory per processor.
pub(crate) fn search(pattern: &GlobPattern, scope: Scope<'_>, limit: usize) -> GlobOutcome {
    let found = Mutex::new(Newest::new(limit));
    let scope = Scope { max_depth: pattern.max_depth, ..scope };
    let report =
        walk(scope, &|| NameWorker { scope, pattern, folder: None, newest: Newest::new(limit), found: &found });
    let found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    GlobOutcome { total: found.offered(), paths: found.into_paths(), report }
}

struct NameWorker<'s> {
    scope: Scope<'s>,
    pattern: &'s GlobPattern,
    /// Folder of the last file.
    folder: Option<(PathBuf, Dir)>,
    newest: Newest,
    found: &'s Mutex<Newest>,
}

impl Worker for NameWorker<'_> {
    fn wants(&self, file: &Path) -> bool {
        below(self.scope.root, file).is_some_and(|relative| self.pattern.matches(relative))
            && (self.scope.allowed)(file)
    }

    fn visit(&mut self, entry: &DirEntry, kind: FileType) -> Result<(), Interrupt> {
        let path = entry.path();
        let Some(relative) = below(self.scope.root, path) else {
            return Ok(());
        };
        if !self.pattern.matches(relative) || !(self.scope.allowed)(path) {
            return Ok(());
        }
        if kind.is_symlink() && !self.stays_inside(path) {
            return Ok(());
        }
        // A file removed meanwhile is ignored.
        if let Some(modified) = self.modified(path) {
            self.newest.offer(modified, path);
        }
        Ok(())
    }
}

impl NameWorker<'_> {
    /// Modification time, looked up in the folder: for a whole tree that takes half the time of looking up the path.
    fn modified(&mut self, path: &Path) -> Option<SystemTime> {
        let (parent, name) = split_name(path)?;
        let dir = match &self.folder {
            Some((at, dir)) if at.as_os_str() == parent.as_os_str() => dir,
            _ => {
                let dir = Dir::open_for_lookup(parent).ok()?;
                &self.folder.insert((parent.to_owned(), dir)).1
            }
        };
        dir.modified(name).ok()
    }

    /// `true` if a link leads to a file that could itself be listed.
    fn stays_inside(&self, link: &Path) -> bool {
        std::fs::canonicalize(link).is_ok_and(|target| {
            target.starts_with(self.scope.root) && target.is_file() && (self.scope.allowed)(&target)
        })
    }
}

/// Removes `root` from `path`. Paths of a walk are plain, so their bytes can be compared, which is much quicker than
/// comparing their components.
#[cfg(unix)]
fn below<'p>(root: &Path, path: &'p Path) -> Option<&'p Path> {
    use std::os::unix::ffi::OsStrExt;
    let rest = path.as_os_str().as_bytes().strip_prefix(root.as_os_str().as_bytes())?;
    Some(Path::new(OsStr::from_bytes(rest.strip_prefix(b"/").unwrap_or(rest))))
}

#[cfg(not(unix))]
fn below<'p>(root: &Path, path: &'p Path) -> Option<&'p Path> {
    path.strip_prefix(root).ok()
}

/// Folder and name of a plain path.
#[cfg(unix)]
fn split_name(path: &Path) -> Option<(&Path, &OsStr)> {
    use std::os::unix::ffi::OsStrExt;
    let bytes = path.as_os_str().as_bytes();
    let (folder, name) = bytes.split_at_checked(bytes.iter().rposition(|byte| *byte == b'/')? + 1)?;
    Some((Path::new(OsStr::from_bytes(folder)), OsStr::from_bytes(name)))
}

#[cfg(not(unix))]
fn split_name(path: &Path) -> Option<(&Path, &OsStr)> {
    Some((path.parent()?, path.file_name()?))
}

impl Drop for NameWorker<'_> {
    fn drop(&mut self) {
        let mine = std::mem::take(&mut self.newest);
        self.found.lock().unwrap_or_else(PoisonError::into_inner).absorb(mine);
    }
}

#[cfg(test)]
mod tests;
