//! Search for files by name pattern.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use windlass_tool::{
    FileVisitor, FileVisitors, FileWalk, PathFilter, VisitedFile, WalkInterrupt, WalkReport, WalkScope, WorkspaceError,
};

use super::newest::Newest;

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
        let (base, mut rest) = split_base(pattern);
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
fn split_base(pattern: &str) -> (PathBuf, String) {
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

/// Search for names on a walk below the resolved base of its pattern. Keeps at most `limit` paths in memory for each
/// thread.
pub(crate) struct GlobSearch {
    pattern: GlobPattern,
    root: PathBuf,
    filter: Option<PathFilter>,
    limit: usize,
    found: Mutex<Newest>,
}

impl GlobSearch {
    /// Runs a search.
    ///
    /// # Errors
    /// The walk cannot begin.
    pub(crate) async fn run(
        pattern: &GlobPattern,
        walk: &dyn FileWalk,
        mut scope: WalkScope,
        limit: usize,
    ) -> Result<GlobOutcome, WorkspaceError> {
        scope.max_depth = pattern.max_depth;
        let (pattern, root, filter) = (pattern.clone(), scope.root.clone(), scope.filter.clone());
        let search = Arc::new(Self { pattern, root, filter, limit, found: Mutex::new(Newest::new(limit)) });
        let shared = Arc::clone(&search);
        let visitors: FileVisitors =
            Arc::new(move || Box::new(NameVisitor { search: Arc::clone(&shared), newest: Newest::new(shared.limit) }));
        let report = walk.walk(scope, visitors).await?;
        let found = std::mem::take(&mut *search.found.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(GlobOutcome { total: found.offered(), paths: found.into_paths(), report })
    }

    fn allows(&self, path: &Path) -> bool {
        self.filter.as_ref().is_none_or(|filter| filter(path))
    }
}

struct NameVisitor {
    search: Arc<GlobSearch>,
    newest: Newest,
}

impl FileVisitor for NameVisitor {
    fn wants(&self, file: &Path) -> bool {
        let search = &self.search;
        relative_to(&search.root, file).is_some_and(|relative| search.pattern.matches(relative)) && search.allows(file)
    }

    fn visit(&mut self, file: &mut dyn VisitedFile) -> Result<(), WalkInterrupt> {
        if !self.wants(file.path()) {
            return Ok(());
        }
        // A link is listed if it leads to a file that could itself be listed.
        let search = &self.search;
        let stays_inside = |target: PathBuf| target.starts_with(&search.root) && search.allows(&target);
        if file.is_link() && !file.link_target().is_some_and(stays_inside) {
            return Ok(());
        }
        // A file removed meanwhile is ignored.
        if let Some(modified) = file.modified() {
            self.newest.offer(modified, file.path());
        }
        Ok(())
    }
}

impl Drop for NameVisitor {
    fn drop(&mut self) {
        let newest = std::mem::take(&mut self.newest);
        self.search.found.lock().unwrap_or_else(PoisonError::into_inner).absorb(newest);
    }
}

/// Removes `root` from `path`. Paths of a walk are plain, so their bytes can be compared, which is much quicker than
/// comparing their components.
#[cfg(unix)]
fn relative_to<'p>(root: &Path, path: &'p Path) -> Option<&'p Path> {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let rest = path.as_os_str().as_bytes().strip_prefix(root.as_os_str().as_bytes())?;
    Some(Path::new(OsStr::from_bytes(rest.strip_prefix(b"/").unwrap_or(rest))))
}

#[cfg(not(unix))]
fn relative_to<'p>(root: &Path, path: &'p Path) -> Option<&'p Path> {
    path.strip_prefix(root).ok()
}

#[cfg(test)]
mod tests;
