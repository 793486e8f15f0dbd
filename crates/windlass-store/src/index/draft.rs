//! A page under construction.

use super::filter::Filter;
use super::listed::{ListedSession, PageCursor, PageSource, SessionMatch, SessionPage};
use super::walk::LogFile;
use crate::SkippedFile;
use std::io;
use std::path::Path;
use windlass_session::{LogText, SearchWords, SessionDigest, SessionSummary};

/// Maximum number of texts of a session that are shown as matches.
pub(super) const MATCHES: usize = 3;

/// A page under construction.
#[derive(Debug)]
pub(super) struct Draft<'a> {
    filter: &'a Filter,
    sessions: Vec<ListedSession>,
    skipped: Vec<SkippedFile>,
    /// Last log that was processed.
    last: Option<&'a LogFile>,
}

/// Facts from a log for a search.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) summary: SessionSummary,
    pub(super) digest: Option<SessionDigest>,
    pub(super) matches: Vec<SessionMatch>,
}

impl<'a> Draft<'a> {
    pub(super) fn new(filter: &'a Filter, skipped: Vec<SkippedFile>) -> Self {
        Self { filter, sessions: Vec::new(), skipped, last: None }
    }

    /// `true` if the page has reached its limit.
    pub(super) fn is_full(&self) -> bool {
        self.sessions.len() >= self.filter.limit
    }

    /// Records that a log was processed, and adds its session if it matches.
    pub(super) fn take(&mut self, log: &'a LogFile, said: Option<Said>) {
        self.last = Some(log);
        if let Some(Said { summary, digest, matches }) = said {
            self.sessions.push(ListedSession {
                id: log.id.clone(),
                project: log.project.clone(),
                log: log.path.clone(),
                only_read: log.only_read,
                summary,
                digest,
                matches,
            });
        }
    }

    /// Records a log that cannot be read. A missing log is ignored.
    pub(super) fn skip(&mut self, log: &'a LogFile, error: &io::Error) {
        self.last = Some(log);
        self.skipped.extend(skipped(&log.path, error));
    }

    /// Returns the page. `more`: `true` if logs are left after the last processed one.
    pub(super) fn finish(self, source: PageSource, more: bool) -> SessionPage {
        let next = self.last.filter(|_| more);
        let next = next.map(|log| PageCursor { session: log.id.clone(), modified: Some(log.millis()) });
        SessionPage { sessions: self.sessions, next, source, skipped: self.skipped }
    }
}

/// Returns the report of a log that cannot be read. A missing log is ignored.
pub(super) fn skipped(path: &Path, error: &io::Error) -> Option<SkippedFile> {
    let is_gone = error.kind() == io::ErrorKind::NotFound;
    (!is_gone).then(|| SkippedFile { path: path.to_owned(), reason: error.to_string() })
}

/// Returns the part of a text that is shown for a search.
pub(super) fn matched(words: &SearchWords, text: &LogText) -> SessionMatch {
    let snippet = words.snippet(&text.text);
    SessionMatch { kind: text.kind, at: text.at, snippet: snippet.text, marks: snippet.marks }
}
