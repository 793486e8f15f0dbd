//! Lists of sessions and searches in them, page by page.

mod log;
mod page;
#[cfg(feature = "index")]
mod sqlite;
mod titled;
mod walk;

pub use titled::Titled;

use crate::SkippedFile;
use crate::locate::Roots;
use crate::store::blocking;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use windlass_session::{LogTextKind, ProjectKey, SearchWords, SessionDigest, SessionSummary, StoreError};
use windlass_types::{SessionId, Timestamp};

/// How many sessions a page holds unless it is said.
const PAGE: usize = 50;

/// A list of sessions, or a search in them, the last changed first. Each method narrows it; [`page`](Self::page) and
/// [`pages`](Self::pages) carry it out. A session that is kept in several homes is listed once, as it is where it was
/// changed last.
#[derive(Debug, Clone)]
#[must_use = "a search does nothing until a page of it is taken"]
pub struct SessionSearch {
    roots: Roots,
    words: Option<SearchWords>,
    directory: Option<PathBuf>,
    title: Option<String>,
    tag: Option<String>,
    since: Option<Timestamp>,
    until: Option<Timestamp>,
    limit: usize,
    after: Option<PageCursor>,
    digests: bool,
    from_logs: bool,
}

impl SessionSearch {
    pub(crate) fn new(roots: Roots, words: Option<SearchWords>) -> Self {
        Self {
            roots,
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

    /// Only sessions of this directory. One that is no longer there counts as it is written.
    pub fn in_directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Only sessions whose given title begins with this text. Upper and lower case make no difference.
    pub fn titled(mut self, beginning: impl Into<String>) -> Self {
        self.title = Some(beginning.into());
        self
    }

    /// Only sessions with this tag.
    pub fn tagged(mut self, tag: impl Into<String>) -> Self {
        self.tag = Some(tag.into());
        self
    }

    /// Only sessions that changed at this time or later.
    pub fn since(mut self, time: Timestamp) -> Self {
        self.since = Some(time);
        self
    }

    /// Only sessions that changed last before this time.
    pub fn until(mut self, time: Timestamp) -> Self {
        self.until = Some(time);
        self
    }

    /// How many sessions a page holds at most: at least 1, and 50 unless it is said.
    pub fn limit(mut self, sessions: usize) -> Self {
        self.limit = sessions.max(1);
        self
    }

    /// Begins behind a session of the list, such as the last one of a page.
    pub fn after(mut self, cursor: PageCursor) -> Self {
        self.after = Some(cursor);
        self
    }

    /// Adds to each session what its log adds up to: counts, tokens, cost. A search has them anyway; a list needs the
    /// index for it, or reads the whole logs of its page.
    pub fn with_digests(mut self) -> Self {
        self.digests = true;
        self
    }

    /// Asks no index, also where there is one: all is read from the logs.
    pub fn from_logs(mut self) -> Self {
        self.from_logs = true;
        self
    }

    /// The first page, or the one behind [`after`](Self::after). Whatever happens to the index, what the logs say is
    /// found. When the future is dropped, reading continues on its thread until the page is made, and has no effect.
    ///
    /// # Errors
    /// The home cannot be read, or the session of a cursor without a time is not there.
    pub async fn page(&self) -> Result<SessionPage, StoreError> {
        let search = self.clone();
        blocking(move || page::page(&search)).await
    }

    /// All pages, one after the other.
    pub fn pages(self) -> SessionPages {
        SessionPages { search: Some(self) }
    }

    /// The project in whose folders to look.
    fn project(&self) -> Option<ProjectKey> {
        let given = self.directory.as_deref()?;
        let resolved = std::fs::canonicalize(given);
        Some(ProjectKey::of(resolved.as_deref().unwrap_or(given)))
    }

    fn fits(&self, summary: &SessionSummary) -> bool {
        let begins = |title: &str| title.trim().to_lowercase().starts_with(&self.title_key());
        self.tag.as_ref().is_none_or(|tag| summary.tag.as_ref() == Some(tag))
            && (self.title.is_none() || summary.custom_title.as_deref().is_some_and(begins))
    }

    fn title_key(&self) -> String {
        self.title.as_deref().unwrap_or_default().trim().to_lowercase()
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
            Some(next) => search.after = Some(next.clone()),
            None => self.search = None,
        }
        Ok(Some(page))
    }
}

/// A part of a list of sessions.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SessionPage {
    /// The sessions, the last changed first.
    pub sessions: Vec<ListedSession>,
    /// Where the next page begins. `None`: this is the last one.
    pub next: Option<PageCursor>,
    /// What was asked for the sessions.
    pub source: PageSource,
    /// What is named like a session and cannot be read, in no particular order.
    pub skipped: Vec<SkippedFile>,
}

/// What a page was made from.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PageSource {
    /// The index beside the logs, brought up to date first.
    Index,
    /// The logs alone: the index is not needed for this page, was not to be asked, or is not built into this program.
    Logs,
    /// The logs, since the index cannot be used.
    #[non_exhaustive]
    LogsInsteadOfIndex {
        /// Why not, for people.
        problem: String,
    },
}

/// A session of a page.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ListedSession {
    /// Its id.
    pub id: SessionId,
    /// The project that it is stored for.
    pub project: ProjectKey,
    /// The file of its log.
    pub log: PathBuf,
    /// Whether it is in one of the homes that are only read.
    pub only_read: bool,
    /// What lists show of it.
    pub summary: SessionSummary,
    /// What its log adds up to, if that was [asked for](SessionSearch::with_digests).
    pub digest: Option<SessionDigest>,
    /// Where the words of a search stand, the texts with most of them first; at most three.
    pub matches: Vec<SessionMatch>,
}

impl ListedSession {
    /// The directory that it works in. `None` when its log does not say, or names one that it is not stored for.
    pub fn directory(&self) -> Option<&Path> {
        let said = self.summary.cwd.as_deref().map(Path::new);
        said.filter(|path| self.project.matches(ProjectKey::of(path).as_str()))
    }
}

/// A text in which words of a search stand.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionMatch {
    /// Whose text it is.
    pub kind: LogTextKind,
    /// When it was written.
    pub at: Option<Timestamp>,
    /// The part of it with most of the words, in one line of at most 160 characters. It is text of others: filter it
    /// before it is shown on a terminal.
    pub snippet: String,
    /// Where the words stand in the snippet, in bytes.
    pub marks: Vec<Range<usize>>,
}

/// A place in a list: behind a session. Its text is the id of the session, with the time of its last change or without.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageCursor {
    session: SessionId,
    /// When it changed last, in milliseconds since the Unix epoch.
    modified: Option<u64>,
}

impl PageCursor {
    /// The place behind a session that is listed. A session that changes meanwhile moves to the front, and the place
    /// stays.
    pub fn behind(session: &SessionSummary) -> Self {
        Self { session: session.session_id.clone(), modified: Some(session.last_modified) }
    }
}

impl fmt::Display for PageCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.session)?;
        self.modified.map_or(Ok(()), |modified| write!(f, "@{modified}"))
    }
}

/// A text that is no place in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PageCursorError {
    given: String,
}

impl fmt::Display for PageCursorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is no place in a list of sessions: give the id of a session", self.given)
    }
}

impl std::error::Error for PageCursorError {}

impl FromStr for PageCursor {
    type Err = PageCursorError;

    fn from_str(text: &str) -> Result<Self, PageCursorError> {
        let error = || PageCursorError { given: text.to_owned() };
        let (session, modified) = match text.split_once('@') {
            Some((session, modified)) => (session, Some(modified.parse().map_err(|_| error())?)),
            None => (text, None),
        };
        let session = SessionId::from(session.to_ascii_lowercase());
        if session.is_uuid() { Ok(Self { session, modified }) } else { Err(error()) }
    }
}
