//! Pages of lists, and what is on them.

use crate::SkippedFile;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use windlass_session::{LogTextKind, ProjectKey, SessionDigest, SessionSummary};
use windlass_types::{SessionId, Timestamp};

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
    /// What its log adds up to, if that was [asked for](crate::SessionSearch::with_digests).
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
    pub(super) session: SessionId,
    /// When it changed last, in milliseconds since the Unix epoch.
    pub(super) modified: Option<u64>,
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
