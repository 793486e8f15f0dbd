//! Lists of sessions and searches in them, page by page.

mod draft;
mod filter;
mod listed;
mod log;
mod page;
#[cfg(feature = "index")]
mod sqlite;
mod walk;

pub use listed::{ListedSession, PageCursor, PageCursorError, PageSource, SessionMatch, SessionPage};

use crate::blocking::blocking;
use crate::locate::Roots;
use filter::Filter;
use std::path::{Path, PathBuf};
use windlass_session::{SearchWords, StoreError};
use windlass_types::Timestamp;

/// Removes a deleted log from the index of a home, if there is one.
pub(crate) fn forget(roots: &Roots, log: &Path) {
    #[cfg(feature = "index")]
    sqlite::forget(roots, log);
    let _ = (roots, log);
}

/// A list of sessions, or a search in them, the last changed first. Each method narrows it; [`page`](Self::page) and
/// [`pages`](Self::pages) run it. A session that is stored in several homes is listed once, with its most recent
/// version.
#[derive(Debug, Clone)]
#[must_use = "a search does nothing until a page of it is taken"]
pub struct SessionSearch {
    roots: Roots,
    filter: Filter,
}

impl SessionSearch {
    pub(crate) fn new(roots: Roots, words: Option<SearchWords>) -> Self {
        Self { roots, filter: Filter::new(words) }
    }

    /// Restricts to sessions of this directory. A missing directory is compared by its given path.
    pub fn in_directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.filter.project = Some(Filter::project_of(&directory.into()));
        self
    }

    /// Restricts to sessions whose given title begins with this text. Upper and lower case make no difference.
    pub fn titled(mut self, beginning: impl Into<String>) -> Self {
        self.filter.title = Some(beginning.into());
        self
    }

    /// Restricts to sessions with this tag.
    pub fn tagged(mut self, tag: impl Into<String>) -> Self {
        self.filter.tag = Some(tag.into());
        self
    }

    /// Restricts to sessions that changed at this time or later.
    pub fn since(mut self, time: Timestamp) -> Self {
        self.filter.since = Some(time);
        self
    }

    /// Restricts to sessions whose last change was before this time.
    pub fn until(mut self, time: Timestamp) -> Self {
        self.filter.until = Some(time);
        self
    }

    /// Sets the maximum number of sessions of a page: at least 1. Default: 50.
    pub fn limit(mut self, sessions: usize) -> Self {
        self.filter.limit = sessions.max(1);
        self
    }

    /// Begins after a session of the list, such as the last one of a page.
    pub fn after(mut self, cursor: PageCursor) -> Self {
        self.filter.after = Some(cursor);
        self
    }

    /// Adds the digest of its log to each session: counts, tokens, cost. A search includes digests anyway; a list needs
    /// the index for them, or reads the whole logs of its page.
    pub fn with_digests(mut self) -> Self {
        self.filter.digests = true;
        self
    }

    /// Reads everything from the logs, even if there is an index.
    pub fn from_logs(mut self) -> Self {
        self.filter.from_logs = true;
        self
    }

    /// Returns the first page, or the one after [`after`](Self::after). Everything in the logs is found, whatever the
    /// state of the index. Cancel safety: when the future is dropped, reading continues on its thread until the page is
    /// complete, and has no effect.
    ///
    /// # Errors
    /// The home cannot be read, or the session of a cursor without a time does not exist.
    pub async fn page(&self) -> Result<SessionPage, StoreError> {
        let (roots, filter) = (self.roots.clone(), self.filter.clone());
        blocking(move || page::page(&roots, &filter)).await
    }

    /// Returns all pages, one after the other.
    pub fn pages(self) -> SessionPages {
        SessionPages { search: Some(self) }
    }
}

/// Pages of a list or a search. Each is created on request.
#[derive(Debug)]
pub struct SessionPages {
    search: Option<SessionSearch>,
}

impl SessionPages {
    /// Returns the next page; `None` after the last one. A page may contain fewer sessions than its limit and still not
    /// be the last. Cancel safety: when the future is dropped, the same page is next.
    ///
    /// # Errors
    /// Same as [`SessionSearch::page`]. The same page is next.
    pub async fn try_next(&mut self) -> Result<Option<SessionPage>, StoreError> {
        let Some(search) = &mut self.search else { return Ok(None) };
        let page = search.page().await?;
        match &page.next {
            Some(next) => search.filter.after = Some(next.clone()),
            None => self.search = None,
        }
        Ok(Some(page))
    }
}
