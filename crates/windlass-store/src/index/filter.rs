//! What narrows a list.

use super::listed::PageCursor;
use crate::locate::is_session_of;
use std::path::Path;
use windlass_session::{ProjectKey, SearchWords, SessionSummary};
use windlass_types::Timestamp;

/// How many sessions a page holds unless it is said.
const PAGE: usize = 50;

/// What narrows a list, and how much of it is wanted.
#[derive(Debug, Clone)]
pub(super) struct Filter {
    pub(super) words: Option<SearchWords>,
    /// The project in whose folders to look.
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
            limit: PAGE,
            after: None,
            digests: false,
            from_logs: false,
        }
    }

    /// The project of a directory.
    pub(super) fn project_of(given: &Path) -> ProjectKey {
        let resolved = std::fs::canonicalize(given);
        ProjectKey::of(resolved.as_deref().unwrap_or(given))
    }

    /// `true` if a session is of the directory that is wanted, as its log says.
    pub(super) fn is_of_directory(&self, summary: &SessionSummary) -> bool {
        self.project.as_ref().is_none_or(|project| is_session_of(project, summary.cwd.as_deref()))
    }

    /// Whether more is asked of sessions than the ends of the logs of one page say.
    #[cfg(feature = "index")]
    pub(super) fn needs_facts(&self) -> bool {
        self.words.is_some() || self.digests || self.tag.is_some() || self.title.is_some()
    }

    /// `true` if a session has the title and the tag that are wanted, and is of the directory.
    pub(super) fn fits(&self, summary: &SessionSummary) -> bool {
        self.has(summary.custom_title.as_deref(), summary.tag.as_deref()) && self.is_of_directory(summary)
    }

    /// Whether these are the title and the tag that are wanted.
    pub(super) fn has(&self, title: Option<&str>, tag: Option<&str>) -> bool {
        let folded = |title: &str| title.trim().to_lowercase();
        let begins = |wanted: &str| title.is_some_and(|title| folded(title).starts_with(&folded(wanted)));
        self.tag.as_deref().is_none_or(|wanted| tag == Some(wanted)) && self.title.as_deref().is_none_or(begins)
    }
}
