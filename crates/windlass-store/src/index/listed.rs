//! Pages of lists, and their contents.

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
    /// Sessions, the last changed first.
    pub sessions: Vec<ListedSession>,
    /// Start of the next page. `None`: this is the last one.
    pub next: Option<PageCursor>,
    /// Source of the page.
    pub source: PageSource,
    /// Unreadable files with the name of a session, in no particular order.
    pub skipped: Vec<SkippedFile>,
}

/// Source of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PageSource {
    /// Index beside the logs, updated first.
    Index,
    /// Logs alone: the index is not needed for this page, was excluded, or is not built into this program.
    Logs,
    /// Logs, because the index cannot be used.
    #[non_exhaustive]
    LogsInsteadOfIndex {
        /// Reason, for people.
        problem: String,
    },
}

/// A session of a page.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ListedSession {
    /// Id of the session.
    pub id: SessionId,
    /// Project that the session is stored for.
    pub project: ProjectKey,
    /// Path of the log.
    pub log: PathBuf,
    /// `true` if the session is in one of the read-only homes.
    pub only_read: bool,
    /// Summary for lists.
    pub summary: SessionSummary,
    /// Digest of the log, if [requested](crate::SessionSearch::with_digests).
    pub digest: Option<SessionDigest>,
    /// Matches of a search, the texts with most words first; at most three.
    pub matches: Vec<SessionMatch>,
}

impl ListedSession {
    /// Returns the directory that the session works in. `None` when its log names none, or one that it is not stored
    /// for.
    pub fn directory(&self) -> Option<&Path> {
        let said = self.summary.cwd.as_deref().map(Path::new);
        said.filter(|path| self.project.matches(ProjectKey::of(path).as_str()))
    }
}

/// A text that contains words of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionMatch {
    /// Source of the text.
    pub kind: LogTextKind,
    /// Time of the text.
    pub at: Option<Timestamp>,
    /// Part of the text with most of the words, in one line of at most 160 characters. Untrusted text: filter it before
    /// showing it on a terminal.
    pub snippet: String,
    /// Byte ranges of the words in the snippet.
    pub marks: Vec<Range<usize>>,
}

/// A position in a list: after a session. Its text is the id of the session, optionally with the time of its last
/// change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageCursor {
    pub(super) session: SessionId,
    /// Time of the last change, in milliseconds since the Unix epoch.
    pub(super) modified: Option<u64>,
}

impl PageCursor {
    /// Returns the position after a listed session. A session that changes meanwhile moves to the front, and the
    /// position stays.
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

/// A text that is not a position in a list.
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
