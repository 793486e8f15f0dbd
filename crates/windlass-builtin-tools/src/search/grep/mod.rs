//! Search for lines by regular expression.

mod filter;
mod line;
mod pattern;
mod query;
mod sink;
mod visitor;
mod window;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use grep_regex::RegexMatcher;
use windlass_tool::{FileVisitors, FileWalk, InterruptCheck, PathFilter, WalkReport, WalkScope, WorkspaceError};

pub(crate) use self::filter::FilterError;
pub(crate) use self::line::{Line, LineKind};
pub(crate) use self::pattern::PatternError;
pub(crate) use self::query::{GrepMode, GrepQuery};
pub(crate) use self::visitor::ContentVisitor;

use self::filter::Filter;
use self::visitor::Tally;
use self::window::Window;
use super::newest::Newest;

/// Reason why a query cannot be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum GrepError {
    #[error(transparent)]
    Pattern(#[from] PatternError),
    #[error(transparent)]
    Filter(#[from] FilterError),
}

/// Requested part of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum GrepFound {
    Files(Vec<PathBuf>),
    Counts(Vec<(PathBuf, u64)>),
    /// Lines of one file stand together.
    Content(Vec<(PathBuf, Vec<Line>)>),
}

/// Result of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GrepOutcome {
    pub(crate) found: GrepFound,
    /// `true` if a greater offset returns more.
    pub(crate) more: bool,
    /// Number of files that match; `None` when not all of them were searched.
    pub(crate) total_files: Option<usize>,
    /// Number of matching lines in count mode, of lines with context in content mode; `None` as for `total_files`.
    pub(crate) total_lines: Option<u64>,
    pub(crate) report: WalkReport,
    /// Number of files left out because a line, or a multi-line file, is too large for memory.
    pub(crate) too_large: usize,
}

/// Maximum number of kept entries, whatever the limit and the offset.
const MAX_ENTRIES: usize = 200_000;

/// Runs `query` on a walk.
///
/// Memory is bounded by the requested part of the result. The order does not depend on timing, so consecutive offsets
/// return consecutive parts of one sequence as long as the files do not change.
///
/// # Errors
/// A pattern, type or glob that cannot be used.
pub(crate) async fn search(
    query: GrepQuery,
    walk: &dyn FileWalk,
    scope: WalkScope,
) -> Result<Result<GrepOutcome, GrepError>, WorkspaceError> {
    let job = match GrepJob::new(query, &scope.root, scope.filter.clone()) {
        Ok(job) => Arc::new(job.with_interrupt(Arc::clone(&scope.interrupt))),
        Err(error) => return Ok(Err(error)),
    };
    let shared = Arc::clone(&job);
    let visitors: FileVisitors = Arc::new(move || Box::new(ContentVisitor::new(&shared)));
    let report = walk.walk(scope, visitors).await?;
    Ok(Ok(job.outcome(report)))
}

/// A content search, whose files come from a walk or from the caller.
pub(crate) struct GrepJob {
    query: GrepQuery,
    matcher: RegexMatcher,
    filter: Filter,
    allowed: Option<PathFilter>,
    interrupt: InterruptCheck,
    wanted: usize,
    window: Window,
    newest: Mutex<Newest>,
    tally: Tally,
}

impl GrepJob {
    /// # Errors
    /// A pattern, type or glob that cannot be used.
    pub(crate) fn new(query: GrepQuery, root: &Path, allowed: Option<PathFilter>) -> Result<Self, GrepError> {
        let matcher = pattern::compile(&query)?;
        let filter = Filter::new(&query, root)?;
        let wanted = query.limit.unwrap_or(MAX_ENTRIES).saturating_add(query.offset).min(MAX_ENTRIES);
        let (window, newest) = (Window::new(wanted), Mutex::new(Newest::new(wanted)));
        let interrupt = Arc::new(|| None);
        Ok(Self { query, matcher, filter, allowed, interrupt, wanted, window, newest, tally: Tally::default() })
    }

    /// Polls this check during long files.
    fn with_interrupt(mut self, interrupt: InterruptCheck) -> Self {
        self.interrupt = interrupt;
        self
    }

    /// `true` if files below a folder can be in the result.
    pub(crate) fn enters(&self, folder: &Path) -> bool {
        self.filter.enters(folder)
    }

    /// `true` if a file may be searched by its name.
    pub(crate) fn accepts(&self, file: &Path) -> bool {
        self.filter.accepts(file)
    }

    /// `true` if a file or folder can still add to the result. Counts need all of them.
    fn is_wanted(&self, path: &Path) -> bool {
        self.query.mode != GrepMode::Content || self.window.wants(path)
    }

    /// `true` if a file is to be searched; one that was `named` itself always is.
    pub(crate) fn wants(&self, path: &Path, named: bool) -> bool {
        let is_allowed = || self.allowed.as_ref().is_none_or(|allowed| allowed(path));
        (named || self.accepts(path)) && is_allowed() && self.is_wanted(path)
    }

    /// Result of the search, when no visitor is left.
    pub(crate) fn outcome(&self, mut report: WalkReport) -> GrepOutcome {
        let Self { query, window, newest, tally, .. } = self;
        report.unreadable += tally.unreadable();
        let complete = report.interrupted.is_none();
        let limit = query.limit.unwrap_or(MAX_ENTRIES);
        let (found, more, total_files, total_lines) = match query.mode {
            GrepMode::Files => {
                let newest = std::mem::take(&mut *newest.lock().unwrap_or_else(PoisonError::into_inner));
                let total = newest.offered();
                let paths: Vec<PathBuf> = newest.into_paths().into_iter().skip(query.offset).take(limit).collect();
                let more = query.offset.saturating_add(paths.len()) < total;
                (GrepFound::Files(paths), more, Some(total), None)
            }
            GrepMode::Counts => {
                let (files, lines) = tally.totals();
                let counts = window.take_counts(query.offset, limit);
                let more = query.offset.saturating_add(counts.len()) < files;
                (GrepFound::Counts(counts), more, Some(files), Some(lines))
            }
            GrepMode::Content => {
                let part = window.take_lines(query.offset, limit);
                let (files, lines) = part.totals.unzip();
                (GrepFound::Content(part.files), part.more, files, lines)
            }
        };
        GrepOutcome {
            found,
            more: more || !complete,
            total_files: total_files.filter(|_| complete),
            total_lines: total_lines.filter(|_| complete),
            report,
            too_large: tally.too_large(),
        }
    }
}

#[cfg(test)]
mod tests;
