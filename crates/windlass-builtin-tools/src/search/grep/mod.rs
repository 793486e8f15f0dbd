//! Search for lines by regular expression.

mod filter;
mod line;
mod pattern;
mod query;
mod sink;
mod window;
mod worker;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use grep_regex::RegexMatcher;

pub(crate) use self::filter::FilterError;
pub(crate) use self::line::{Line, LineKind};
pub(crate) use self::pattern::PatternError;
pub(crate) use self::query::{GrepMode, GrepQuery};

use self::filter::Filter;
use self::window::Window;
use self::worker::{FileWorker, Shared, Tally};
use super::newest::Newest;
use super::walk::{Scope, WalkReport, walk};

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

/// Runs `query` over `scope`.
///
/// Memory is bounded by the requested part of the result. The order does not depend on timing, so consecutive offsets
/// return consecutive parts of one sequence as long as the files do not change.
///
/// # Errors
/// A pattern, type or glob that cannot be used.
pub(crate) fn search(query: &GrepQuery, scope: Scope<'_>) -> Result<GrepOutcome, GrepError> {
    let job = Job::new(query, scope.root)?;
    let report = walk(scope, &|| job.worker(scope));
    Ok(job.outcome(report))
}

/// A search, whose files come from a local walk or a remote workspace.
pub(crate) struct Job<'q> {
    query: &'q GrepQuery,
    matcher: RegexMatcher,
    filter: Filter,
    wanted: usize,
    window: Window,
    newest: Mutex<Newest>,
    tally: Tally,
}

impl<'q> Job<'q> {
    /// # Errors
    /// A pattern, type or glob that cannot be used.
    pub(crate) fn new(query: &'q GrepQuery, root: &Path) -> Result<Self, GrepError> {
        let matcher = pattern::compile(query)?;
        let filter = Filter::new(query, root)?;
        let wanted = query.limit.unwrap_or(MAX_ENTRIES).saturating_add(query.offset).min(MAX_ENTRIES);
        let (window, newest) = (Window::new(wanted), Mutex::new(Newest::new(wanted)));
        Ok(Self { query, matcher, filter, wanted, window, newest, tally: Tally::default() })
    }

    /// `true` if files below a folder can be in the result.
    pub(crate) fn enters(&self, folder: &Path) -> bool {
        self.filter.enters(folder)
    }

    /// `true` if a file may be searched by its name.
    pub(crate) fn accepts(&self, file: &Path) -> bool {
        self.filter.accepts(file)
    }

    fn worker<'s>(&'s self, scope: Scope<'s>) -> FileWorker<'s> {
        let Self { query, filter, window, newest, tally, .. } = self;
        FileWorker::new(Shared { query, scope, filter, window, newest, tally }, &self.matcher, self.wanted)
    }

    /// Search of contents that the caller supplies, one after the other.
    pub(crate) fn by_hand<'s>(&'s self, scope: Scope<'s>) -> ByHand<'s> {
        ByHand(self.worker(scope))
    }

    /// Result of the search, when no worker is left.
    pub(crate) fn outcome(self, mut report: WalkReport) -> GrepOutcome {
        let Self { query, window, newest, tally, .. } = self;
        report.unreadable += tally.unreadable();
        let complete = report.interrupted.is_none();
        let limit = query.limit.unwrap_or(MAX_ENTRIES);
        let (found, more, total_files, total_lines) = match query.mode {
            GrepMode::Files => {
                let newest = newest.into_inner().unwrap_or_else(PoisonError::into_inner);
                let total = newest.offered();
                let paths: Vec<PathBuf> = newest.into_paths().into_iter().skip(query.offset).take(limit).collect();
                let more = query.offset.saturating_add(paths.len()) < total;
                (GrepFound::Files(paths), more, Some(total), None)
            }
            GrepMode::Counts => {
                let (files, lines) = tally.totals();
                let counts = window.into_counts(query.offset, limit);
                let more = query.offset.saturating_add(counts.len()) < files;
                (GrepFound::Counts(counts), more, Some(files), Some(lines))
            }
            GrepMode::Content => {
                let part = window.into_lines(query.offset, limit);
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

/// Searches contents that the caller supplies.
pub(crate) struct ByHand<'s>(FileWorker<'s>);

impl ByHand<'_> {
    /// `true` if a file is to be searched; one that was `named` itself always is.
    pub(crate) fn wants(&self, file: &Path, named: bool) -> bool {
        self.0.wants(file, named)
    }

    /// Searches the whole content of a file.
    pub(crate) fn search(&mut self, file: &Path, modified: SystemTime, content: &[u8]) {
        self.0.search_content(file, modified, content);
    }
}

#[cfg(test)]
mod tests;
