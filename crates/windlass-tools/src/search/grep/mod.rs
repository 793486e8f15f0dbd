//! Lines by regular expression.

mod filter;
mod line;
mod pattern;
mod query;
mod sink;
mod window;
mod worker;

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

pub(crate) use self::filter::FilterError;
pub(crate) use self::line::{Line, LineKind};
pub(crate) use self::pattern::PatternError;
pub(crate) use self::query::{GrepMode, GrepQuery};

use self::filter::Filter;
use self::window::Window;
use self::worker::{FileWorker, Shared, Tally};
use super::newest::Newest;
use super::walk::{Scope, WalkReport, walk};

/// Why a query cannot be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum GrepError {
    #[error(transparent)]
    Pattern(#[from] PatternError),
    #[error(transparent)]
    Filter(#[from] FilterError),
}

/// The part of a result that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum GrepFound {
    Files(Vec<PathBuf>),
    Counts(Vec<(PathBuf, u64)>),
    /// Lines of one file stand together.
    Content(Vec<(PathBuf, Vec<Line>)>),
}

/// What a search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GrepOutcome {
    pub(crate) found: GrepFound,
    /// More can be had with a greater offset.
    pub(crate) more: bool,
    /// Files that match; `None` when not all of them were looked at.
    pub(crate) total_files: Option<usize>,
    /// Matching lines in count mode, lines with context in content mode, as `total_files`.
    pub(crate) total_lines: Option<u64>,
    pub(crate) report: WalkReport,
    /// Files left out because a line, or a multi-line file, is too large to hold.
    pub(crate) too_large: usize,
}

/// Entries kept at most, whatever the limit and the offset.
const MAX_ENTRIES: usize = 200_000;

/// Runs `query` over `scope`.
///
/// Memory is bounded by the wanted part of the result. The order does not depend
/// on timing, so consecutive offsets give consecutive parts of one sequence as
/// long as the files do not change.
///
/// # Errors
/// A pattern, type or glob that cannot be used.
pub(crate) fn search(query: &GrepQuery, scope: Scope<'_>) -> Result<GrepOutcome, GrepError> {
    let matcher = pattern::compile(query)?;
    let filter = Filter::new(query, scope.root)?;
    let wanted = query.limit.unwrap_or(MAX_ENTRIES).saturating_add(query.offset).min(MAX_ENTRIES);
    let window = Window::new(wanted);
    let newest = Mutex::new(Newest::new(wanted));
    let tally = Tally::default();
    let shared = Shared { query, scope, filter: &filter, window: &window, newest: &newest, tally: &tally };
    let mut report = walk(scope, &|| FileWorker::new(shared, &matcher, wanted));
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
            let totals = part.totals;
            (GrepFound::Content(part.files), part.more, totals.map(|(files, _)| files), totals.map(|(_, lines)| lines))
        }
    };
    Ok(GrepOutcome {
        found,
        more: more || !complete,
        total_files: total_files.filter(|_| complete),
        total_lines: total_lines.filter(|_| complete),
        report,
        too_large: tally.too_large(),
    })
}

#[cfg(test)]
mod tests;
