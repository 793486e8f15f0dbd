//! Makes a page: by the index, or of the logs alone.

use super::log::{LogReader, title_text};
#[cfg(feature = "index")]
use super::sqlite;
use super::walk::{LogFile, Walked, walk, wanted};
use super::{ListedSession, PageCursor, PageSource, SessionMatch, SessionPage, SessionSearch};
use crate::SkippedFile;
use crate::locate::Ends;
use std::io;
use std::path::Path;
use windlass_session::{LogText, SearchWords, SessionDigest, SessionSummary, StoreError};

/// How much of the logs is read for one page, in bytes. A page that would need more ends early.
const MOST_READ: u64 = 256 * 1024 * 1024;

/// Most texts of a session that are shown as matches.
pub(super) const MATCHES: usize = 3;

pub(super) fn page(search: &SessionSearch) -> Result<SessionPage, StoreError> {
    if search.words.as_ref().is_some_and(SearchWords::is_empty) {
        return Ok(Draft::new(search, Vec::new()).finish(PageSource::Logs, false));
    }
    let needs_facts = search.words.is_some() || search.digests || search.tag.is_some() || search.title.is_some();
    #[cfg(feature = "index")]
    if needs_facts && !search.from_logs {
        // The index is of all projects, so all folders are looked at.
        let walked = walk(&search.roots, None)?;
        return match sqlite::page(search, &walked) {
            Ok(page) => page,
            Err(problem) => of_logs(search, walked, PageSource::LogsInsteadOfIndex { problem }),
        };
    }
    let _ = needs_facts;
    of_logs(search, walk(&search.roots, search.project().as_ref())?, PageSource::Logs)
}

/// A page that is being made.
#[derive(Debug)]
pub(super) struct Draft<'a> {
    search: &'a SessionSearch,
    sessions: Vec<ListedSession>,
    skipped: Vec<SkippedFile>,
    /// The last log that was looked at.
    last: Option<&'a LogFile>,
}

/// What a log says to a search.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) summary: SessionSummary,
    pub(super) digest: Option<SessionDigest>,
    pub(super) matches: Vec<SessionMatch>,
}

impl<'a> Draft<'a> {
    pub(super) fn new(search: &'a SessionSearch, skipped: Vec<SkippedFile>) -> Self {
        Self { search, sessions: Vec::new(), skipped, last: None }
    }

    /// Whether the page takes no more sessions.
    pub(super) fn is_full(&self) -> bool {
        self.sessions.len() >= self.search.limit
    }

    /// Notes that a log was looked at, and takes its session if it fits.
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

    /// Notes a log that cannot be read. One that is gone is none.
    fn skip(&mut self, log: &'a LogFile, error: &io::Error) {
        self.last = Some(log);
        self.skipped.extend(skipped(&log.path, error));
    }

    /// The page. `more` says whether logs are left behind the last one that was looked at.
    pub(super) fn finish(self, source: PageSource, more: bool) -> SessionPage {
        let next = self.last.filter(|_| more);
        let next = next.map(|log| PageCursor { session: log.id.clone(), modified: Some(log.millis()) });
        SessionPage { sessions: self.sessions, next, source, skipped: self.skipped }
    }
}

/// What is reported of a log that cannot be read. One that is gone is none.
pub(super) fn skipped(path: &Path, error: &io::Error) -> Option<SkippedFile> {
    let is_gone = error.kind() == io::ErrorKind::NotFound;
    (!is_gone).then(|| SkippedFile { path: path.to_owned(), reason: error.to_string() })
}

fn of_logs(search: &SessionSearch, walked: Walked, source: PageSource) -> Result<SessionPage, StoreError> {
    let Walked { logs, skipped } = walked;
    let mut draft = Draft::new(search, skipped);
    let (mut ends, mut read) = (Ends::default(), 0);
    let mut logs = wanted(search, &logs)?.into_iter().peekable();
    while !draft.is_full() && read < MOST_READ {
        let Some(log) = logs.next() else { break };
        read += log.size;
        match said(search, log, &mut ends) {
            Ok(said) => draft.take(log, said),
            Err(error) => draft.skip(log, &error),
        }
    }
    Ok(draft.finish(source, logs.peek().is_some()))
}

/// What a log says to a search; `None` if it does not fit.
fn said(search: &SessionSearch, log: &LogFile, ends: &mut Ends) -> io::Result<Option<Said>> {
    let mut reader = LogReader::open(&log.path)?;
    let Some(summary) = reader.summary(ends, &log.id)? else { return Ok(None) };
    if !search.fits(&summary) {
        return Ok(None);
    }
    if search.words.is_none() && !search.digests {
        return Ok(Some(Said { summary, digest: None, matches: Vec::new() }));
    }
    let mut digest = SessionDigest::default();
    let mut found = search.words.as_ref().map(Found::new);
    let mut look = |text: LogText| found.iter_mut().for_each(|found| found.look(&text));
    title_text(&summary).into_iter().for_each(&mut look);
    reader.lines(0, &mut digest, look)?;
    let Some(found) = found else { return Ok(Some(Said { summary, digest: Some(digest), matches: Vec::new() })) };
    Ok(found.matches().map(|matches| Said { summary, digest: Some(digest), matches }))
}

/// What of the words of a search was found in the texts of one session.
#[derive(Debug)]
struct Found<'a> {
    words: &'a SearchWords,
    /// The words that were found in any text.
    bits: u32,
    /// The texts with most words, and how many each has.
    best: Vec<(u32, LogText)>,
}

impl<'a> Found<'a> {
    fn new(words: &'a SearchWords) -> Self {
        Self { words, bits: 0, best: Vec::new() }
    }

    /// Looks for the words in the next text.
    fn look(&mut self, text: &LogText) {
        let bits = self.words.found_in(&text.text);
        let count = bits.count_ones();
        self.bits |= bits;
        let at = self.best.partition_point(|(known, _)| *known >= count);
        if count > 0 && at < MATCHES {
            self.best.insert(at, (count, text.clone()));
            self.best.truncate(MATCHES);
        }
    }

    /// The matches; `None` if a word was not found.
    fn matches(self) -> Option<Vec<SessionMatch>> {
        if self.bits != self.words.all() {
            return None;
        }
        Some(self.best.iter().map(|(_, text)| matched(self.words, text)).collect())
    }
}

/// The part of a text that is shown for a search.
pub(super) fn matched(words: &SearchWords, text: &LogText) -> SessionMatch {
    let snippet = words.snippet(&text.text);
    SessionMatch { kind: text.kind, at: text.at, snippet: snippet.text, marks: snippet.marks }
}
