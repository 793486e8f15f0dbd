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

use crate::locate::Roots;
use crate::store::blocking;
use filter::Filter;
use std::path::{Path, PathBuf};
use windlass_session::{SearchWords, StoreError};
use windlass_types::Timestamp;

/// Removes what the index of a home keeps of a log that was deleted, as far as there is one.
pub(crate) fn forget(roots: &Roots, log: &Path) {
    #[cfg(feature = "index")]
    sqlite::forget(roots, log);
    let _ = (roots, log);
}

/// A list of sessions, or a search in them, the last changed first. Each method narrows it; [`page`](Self::page) and
/// [`pages`](Self::pages) carry it out. A session that is kept in several homes is listed once, as it is where it was
/// changed last.
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

    /// Only sessions of this directory. One that is no longer there counts as it is written.
    pub fn in_directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.filter.project = Some(Filter::project_of(&directory.into()));
        self
    }

    /// Only sessions whose given title begins with this text. Upper and lower case make no difference.
    pub fn titled(mut self, beginning: impl Into<String>) -> Self {
        self.filter.title = Some(beginning.into());
        self
    }

    /// Only sessions with this tag.
    pub fn tagged(mut self, tag: impl Into<String>) -> Self {
        self.filter.tag = Some(tag.into());
        self
    }

    /// Only sessions that changed at this time or later.
    pub fn since(mut self, time: Timestamp) -> Self {
        self.filter.since = Some(time);
        self
    }

    /// Only sessions that changed last before this time.
    pub fn until(mut self, time: Timestamp) -> Self {
        self.filter.until = Some(time);
        self
    }

    /// How many sessions a page holds at most: at least 1, and 50 unless it is said.
    pub fn limit(mut self, sessions: usize) -> Self {
        self.filter.limit = sessions.max(1);
        self
    }

    /// Begins behind a session of the list, such as the last one of a page.
    pub fn after(mut self, cursor: PageCursor) -> Self {
        self.filter.after = Some(cursor);
        self
    }

    /// Adds to each session what its log adds up to: counts, tokens, cost. A search has them anyway; a list needs the
    /// index for it, or reads the whole logs of its page.
    pub fn with_digests(mut self) -> Self {
        self.filter.digests = true;
        self
    }

    /// Asks no index, also where there is one: all is read from the logs.
    pub fn from_logs(mut self) -> Self {
        self.filter.from_logs = true;
        self
    }

    /// The first page, or the one behind [`after`](Self::after). Whatever happens to the index, what the logs say is
    /// found. When the future is dropped, reading continues on its thread until the page is made, and has no effect.
    ///
    /// # Errors
    /// The home cannot be read, or the session of a cursor without a time is not there.
    pub async fn page(&self) -> Result<SessionPage, StoreError> {
        let (roots, filter) = (self.roots.clone(), self.filter.clone());
        blocking(move || page::page(&roots, &filter)).await
    }

    /// All pages, one after the other.
    pub fn pages(self) -> SessionPages {
        SessionPages { search: Some(self) }
    }
}

/// The pages of a list or a search. Each is made when it is asked for.
#[derive(Debug)]
pub struct SessionPages {
    search: Option<SessionSearch>,
}

impl SessionPages {
    /// The next page; `None` behind the last one. A page may hold fewer sessions than its limit and still not be the
    /// last. When the future is dropped, the same page is next.
    ///
    /// # Errors
    /// As [`SessionSearch::page`]. The same page is next.
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
