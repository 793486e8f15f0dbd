//! Queries of the index.

use super::schema::TEXT_BITS;
use super::trouble::Trouble;
use crate::index::draft::{MATCHES, Said, matched};
use crate::index::filter::Filter;
use crate::index::listed::SessionMatch;
use rusqlite::{Connection, OptionalExtension};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};
use windlass_session::{LogText, SearchWords, SessionSummary};
use windlass_types::Timestamp;

/// A search in progress.
#[derive(Debug)]
pub(super) struct Query<'a> {
    connection: &'a Connection,
    filter: &'a Filter,
    /// Sessions that have all words, the title and the tag; `None`: no condition.
    having: Option<HashSet<i64>>,
    /// Texts that contain each word, in order.
    texts: Vec<Vec<i64>>,
}

impl<'a> Query<'a> {
    pub(super) fn new(connection: &'a Connection, filter: &'a Filter) -> Result<Self, Trouble> {
        let words = filter.words.iter().flat_map(SearchWords::iter);
        let texts: Vec<Vec<i64>> = words.map(|word| texts_with(connection, word)).collect::<Result<_, _>>()?;
        let sessions = |texts: &Vec<i64>| {
            let mut sessions: Vec<i64> = texts.iter().map(|text| text >> TEXT_BITS).collect();
            sessions.dedup();
            sessions.into_iter().collect::<HashSet<i64>>()
        };
        let mut having = texts.iter().map(sessions).reduce(|all, some| &all & &some);
        if filter.title.is_some() || filter.tag.is_some() {
            let titled_sessions = titled_sessions(connection, filter)?;
            having = Some(having.map_or_else(|| titled_sessions.clone(), |having| &having & &titled_sessions));
        }
        Ok(Self { connection, filter, having, texts })
    }

    /// `true` if a session may match, as far as that is known without reading its row.
    pub(super) fn may_fit(&self, session: i64) -> bool {
        self.having.as_ref().is_none_or(|having| having.contains(&session))
    }

    /// Returns the indexed facts of a session; `None` if it does not match.
    pub(super) fn said(&self, session: i64, place: &str) -> Result<Option<Said>, Trouble> {
        if !self.may_fit(session) {
            return Ok(None);
        }
        let row: Option<(Option<String>, String)> = self
            .connection
            // Another process may have assigned the number to another log meanwhile.
            .prepare_cached("SELECT summary, digest FROM sessions WHERE number = ?1 AND path = ?2")?
            .query_row((session, place), |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let Some((Some(summary), digest)) = row else { return Ok(None) };
        let summary: SessionSummary = serde_json::from_str(&summary)?;
        if !self.filter.is_of_directory(&summary) {
            return Ok(None);
        }
        let matches = self.filter.words.as_ref().map(|words| self.matches(session, words)).transpose()?;
        let digest = match self.filter.words.is_some() || self.filter.digests {
            true => Some(serde_json::from_str(&digest)?),
            false => None,
        };
        Ok(Some(Said { summary, digest, matches: matches.unwrap_or_default() }))
    }

    /// Returns the texts of a session with most words of the search.
    fn matches(&self, session: i64, words: &SearchWords) -> Result<Vec<SessionMatch>, Trouble> {
        let (first, end) = (session << TEXT_BITS, (session + 1) << TEXT_BITS);
        let mut texts: BTreeMap<i64, u32> = BTreeMap::new();
        for having in &self.texts {
            let from = having.partition_point(|text| *text < first);
            for text in having.iter().skip(from).take_while(|text| **text < end) {
                *texts.entry(*text).or_default() += 1;
            }
        }
        let mut best: Vec<(i64, u32)> = texts.into_iter().collect();
        best.sort_by_key(|(id, count)| (Reverse(*count), *id));
        let mut statement = self.connection.prepare_cached("SELECT kind, at, text FROM texts WHERE id = ?1")?;
        let mut matches = Vec::new();
        for (id, _) in best.into_iter().take(MATCHES) {
            let (kind, at, text): (String, Option<u64>, String) =
                statement.query_row([id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
            let mut text = LogText::new(serde_json::from_str(&kind)?, text);
            text.at = at.map(Timestamp::from_millis);
            matches.push(matched(words, &text));
        }
        Ok(matches)
    }
}

/// Returns the texts that contain a word, in order. FTS5 collects them anew for each prefix query, so it is asked once.
fn texts_with(connection: &Connection, word: &str) -> Result<Vec<i64>, Trouble> {
    let mut statement = connection.prepare_cached("SELECT rowid FROM words WHERE words MATCH ?1 ORDER BY rowid")?;
    let texts = statement.query_map([term(word)], |row| row.get(0))?;
    Ok(texts.collect::<Result<_, _>>()?)
}

/// Returns the sessions with the wanted title and tag.
fn titled_sessions(connection: &Connection, filter: &Filter) -> Result<HashSet<i64>, Trouble> {
    let mut statement =
        connection.prepare("SELECT number, title, tag FROM sessions WHERE title IS NOT NULL OR tag IS NOT NULL")?;
    let mut rows = statement.query([])?;
    let mut sessions = HashSet::new();
    while let Some(row) = rows.next()? {
        let (title, tag): (Option<String>, Option<String>) = (row.get(1)?, row.get(2)?);
        if filter.has(title.as_deref(), tag.as_deref()) {
            sessions.insert(row.get(0)?);
        }
    }
    Ok(sessions)
}

/// Returns a word as a prefix term. It consists of letters and digits.
fn term(word: &str) -> String {
    format!("\"{word}\" *")
}
