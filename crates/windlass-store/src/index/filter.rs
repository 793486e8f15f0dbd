//! What narrows a list.

use super::listed::PageCursor;
use std::path::PathBuf;
use windlass_session::{ProjectKey, SearchWords, SessionSummary};
use windlass_types::Timestamp;

/// How many sessions a page holds unless it is said.
const PAGE: usize = 50;

/// What narrows a list, and how much of it is wanted.
#[derive(Debug, Clone)]
pub(super) struct Filter {
    pub(super) words: Option<SearchWords>,
    pub(super) directory: Option<PathBuf>,
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
            directory: None,
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

    /// The project in whose folders to look.
    pub(super) fn project(&self) -> Option<ProjectKey> {
        let given = self.directory.as_deref()?;
        let resolved = std::fs::canonicalize(given);
        Some(ProjectKey::of(resolved.as_deref().unwrap_or(given)))
    }

    /// Whether more is asked of sessions than the ends of the logs of one page say.
    #[cfg(feature = "index")]
    pub(super) fn needs_facts(&self) -> bool {
        self.words.is_some() || self.digests || self.tag.is_some() || self.title.is_some()
    }

    /// Whether a session has the title and the tag that are wanted.
    pub(super) fn fits(&self, summary: &SessionSummary) -> bool {
        let wanted = self.title.as_deref().map(|title| title.trim().to_lowercase());
        let begins = |wanted: &String| {
            let title = summary.custom_title.as_deref();
            title.is_some_and(|title| title.trim().to_lowercase().starts_with(wanted))
        };
        self.tag.as_ref().is_none_or(|tag| summary.tag.as_ref() == Some(tag)) && wanted.as_ref().is_none_or(begins)
    }
}
