//! Creation of a page: from the index, or from the logs alone.

use super::draft::{Draft, MATCHES, Said, matched};
use super::filter::Filter;
use super::listed::{PageSource, SessionMatch, SessionPage};
use super::log::{LogReader, title_text};
#[cfg(feature = "index")]
use super::sqlite;
use super::walk::{LogFile, Walked, walk, wanted};
use crate::locate::{Ends, Roots};
use std::io;
use windlass_session::{LogText, SUMMARY_BYTES, SearchWords, SessionDigest, StoreError};

/// Maximum number of log bytes read for one page. A page that would need more ends early.
const MAX_READ_BYTES: u64 = 256 * 1024 * 1024;

pub(super) fn page(roots: &Roots, filter: &Filter) -> Result<SessionPage, StoreError> {
    if filter.words.as_ref().is_some_and(SearchWords::is_empty) {
        return Ok(Draft::new(filter, Vec::new()).finish(PageSource::Logs, false));
    }
    #[cfg(feature = "index")]
    if filter.needs_facts() && !filter.from_logs {
        // The index covers all projects, so all folders are scanned.
        let walked = walk(roots, None)?;
        // Nothing is created in a home without sessions.
        if walked.logs.is_empty() && !sqlite::is_there(roots) {
            return page_from_logs(filter, walked, PageSource::Logs);
        }
        return match sqlite::page(roots, filter, &walked) {
            Ok(page) => page,
            Err(problem) => page_from_logs(filter, walked, PageSource::LogsInsteadOfIndex { problem }),
        };
    }
    page_from_logs(filter, walk(roots, filter.project.as_ref())?, PageSource::Logs)
}

fn page_from_logs(filter: &Filter, walked: Walked, source: PageSource) -> Result<SessionPage, StoreError> {
    let Walked { logs, skipped } = walked;
    let mut draft = Draft::new(filter, skipped);
    let (mut ends, mut read) = (Ends::default(), 0);
    let reads_whole = filter.words.is_some() || filter.digests;
    let mut logs = wanted(filter, &logs)?.into_iter().peekable();
    while !draft.is_full() && read < MAX_READ_BYTES {
        let Some(log) = logs.next() else { break };
        // For other filters the ends are read.
        read += if reads_whole { log.size } else { log.size.min(2 * SUMMARY_BYTES as u64) };
        match facts_of(filter, log, &mut ends) {
            Ok(said) => draft.take(log, said),
            Err(error) => draft.skip(log, &error),
        }
    }
    Ok(draft.finish(source, logs.peek().is_some()))
}

/// Returns the facts from a log for a search; `None` if it does not match.
fn facts_of(filter: &Filter, log: &LogFile, ends: &mut Ends) -> io::Result<Option<Said>> {
    let mut reader = LogReader::open(&log.path)?;
    let Some(summary) = reader.summary(ends, &log.id)? else { return Ok(None) };
    if !filter.fits(&summary) {
        return Ok(None);
    }
    if filter.words.is_none() && !filter.digests {
        return Ok(Some(Said { summary, digest: None, matches: Vec::new() }));
    }
    let mut digest = SessionDigest::default();
    let mut found = filter.words.as_ref().map(SessionMatches::new);
    let mut search_text = |text: LogText| found.iter_mut().for_each(|found| found.search_text(&text));
    title_text(&summary).into_iter().for_each(&mut search_text);
    reader.lines(0, &mut digest, search_text)?;
    let Some(found) = found else { return Ok(Some(Said { summary, digest: Some(digest), matches: Vec::new() })) };
    Ok(found.matches().map(|matches| Said { summary, digest: Some(digest), matches }))
}

/// Matches of a search in the texts of one session.
#[derive(Debug)]
struct SessionMatches<'a> {
    words: &'a SearchWords,
    /// Bits of the words found in any text.
    bits: u32,
    /// Texts with most words, each with their number.
    best: Vec<(u32, LogText)>,
}

impl<'a> SessionMatches<'a> {
    fn new(words: &'a SearchWords) -> Self {
        Self { words, bits: 0, best: Vec::new() }
    }

    /// Searches the words in the next text.
    fn search_text(&mut self, text: &LogText) {
        let bits = self.words.found_in(&text.text);
        let count = bits.count_ones();
        self.bits |= bits;
        let at = self.best.partition_point(|(known, _)| *known >= count);
        if count > 0 && at < MATCHES {
            self.best.insert(at, (count, text.clone()));
            self.best.truncate(MATCHES);
        }
    }

    /// Returns the matches; `None` if a word was not found.
    fn matches(self) -> Option<Vec<SessionMatch>> {
        if self.bits != self.words.all() {
            return None;
        }
        Some(self.best.iter().map(|(_, text)| matched(self.words, text)).collect())
    }
}
