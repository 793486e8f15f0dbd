//! Filter of a list.

use super::listed::PageCursor;
use crate::locate::is_session_of;
use std::path::Path;
use windlass_session::{ProjectKey, SearchWords, SessionSummary};
use windlass_types::Timestamp;

/// Default number of sessions of a page.
const DEFAULT_PAGE: usize = 50;

/// Conditions of a list, and its range.
#[derive(Debug, Clone)]
pub(super) struct Filter {
    pub(super) words: Option<SearchWords>,
    /// Project whose folders are searched.
    pub(super) project: Option<ProjectKey>,
    pub(super) title: Option<String>,
    pub(super) tag: Option<String>,
    pub(super) since: Option<Timestamp>,
    pub(super) until: Option<Timestamp>,
    pub(super) limit: usize,
    pub(super) after: Option<PageCursor>,
    pub(super) digests: bool,
    pub(super) from_logs: bool,
}

impl Filter {
    pub(super) fn new(words: Option<SearchWords>) -> Self {
        Self {
            words,
            project: None,
            title: None,
            tag: None,
            since: None,
            until: None,
            limit: DEFAULT_PAGE,
            after: None,
            digests: false,
            from_logs: false,
        }
    }

    /// Returns the project of a directory.
    pub(super) fn project_of(given: &Path) -> ProjectKey {
        let resolved = std::fs::canonicalize(given);
        ProjectKey::of(resolved.as_deref().unwrap_or(given))
    }

    /// `true` if the log of the session names the wanted directory.
    pub(super) fn is_of_directory(&self, summary: &SessionSummary) -> bool {
        self.project.as_ref().is_none_or(|project| is_session_of(project, summary.cwd.as_deref()))
    }

    /// `true` if the ends of the logs of one page do not contain all requested facts.
    #[cfg(feature = "index")]
    pub(super) fn needs_facts(&self) -> bool {
        self.words.is_some() || self.digests || self.tag.is_some() || self.title.is_some()
    }

    /// `true` if a session has the wanted title, tag and directory.
    pub(super) fn fits(&self, summary: &SessionSummary) -> bool {
        self.has(summary.custom_title.as_deref(), summary.tag.as_deref()) && self.is_of_directory(summary)
    }

    /// `true` if these are the wanted title and tag.
    pub(super) fn has(&self, title: Option<&str>, tag: Option<&str>) -> bool {
        let folded = |title: &str| title.trim().to_lowercase();
        let begins = |wanted: &str| title.is_some_and(|title| folded(title).starts_with(&folded(wanted)));
        self.tag.as_deref().is_none_or(|wanted| tag == Some(wanted)) && self.title.as_deref().is_none_or(begins)
    }
}
