//! Asks the index.

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

/// A search that is being carried out.
#[derive(Debug)]
pub(super) struct Query<'a> {
    connection: &'a Connection,
    filter: &'a Filter,
    /// The sessions that have all words, if words are looked for.
    having: Option<HashSet<i64>>,
}

impl<'a> Query<'a> {
    pub(super) fn new(connection: &'a Connection, filter: &'a Filter) -> Result<Self, Trouble> {
        let having = filter.words.as_ref().map(|words| having(connection, words)).transpose()?;
        Ok(Self { connection, filter, having })
    }

    /// Whether a session can be part of the list, as far as that is known without reading its row.
    pub(super) fn may_fit(&self, session: i64) -> bool {
        self.having.as_ref().is_none_or(|having| having.contains(&session))
    }

    /// What is known of a session; `None` if it does not fit.
    pub(super) fn said(&self, session: i64) -> Result<Option<Said>, Trouble> {
        if !self.may_fit(session) {
            return Ok(None);
        }
        let row: Option<(Option<String>, String)> = self
            .connection
            .prepare_cached("SELECT summary, digest FROM sessions WHERE number = ?1")?
            .query_row([session], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let Some((Some(summary), digest)) = row else { return Ok(None) };
        let summary: SessionSummary = serde_json::from_str(&summary)?;
        if !self.filter.fits(&summary) {
            return Ok(None);
        }
        let matches = self.filter.words.as_ref().map(|words| self.matches(session, words)).transpose()?;
        let digest = match self.filter.words.is_some() || self.filter.digests {
            true => Some(serde_json::from_str(&digest)?),
            false => None,
        };
        Ok(Some(Said { summary, digest, matches: matches.unwrap_or_default() }))
    }

    /// The texts of a session with most words of the search.
    fn matches(&self, session: i64, words: &SearchWords) -> Result<Vec<SessionMatch>, Trouble> {
        let (first, last) = (session << TEXT_BITS, (session << TEXT_BITS) | ((1 << TEXT_BITS) - 1));
        let mut texts: BTreeMap<i64, u32> = BTreeMap::new();
        let mut statement = self
            .connection
            .prepare_cached("SELECT rowid FROM words WHERE words MATCH ?1 AND rowid BETWEEN ?2 AND ?3")?;
        for word in words.iter() {
            for id in statement.query_map((term(word), first, last), |row| row.get::<_, i64>(0))? {
                *texts.entry(id?).or_default() += 1;
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

/// The sessions in which all words stand.
fn having(connection: &Connection, words: &SearchWords) -> Result<HashSet<i64>, Trouble> {
    let mut having: Option<HashSet<i64>> = None;
    let mut statement = connection.prepare("SELECT rowid FROM words WHERE words MATCH ?1")?;
    for word in words.iter() {
        let mut sessions = HashSet::new();
        let mut rows = statement.query([term(word)])?;
        while let Some(row) = rows.next()? {
            sessions.insert(row.get::<_, i64>(0)? >> TEXT_BITS);
        }
        having = Some(match having {
            Some(before) => &before & &sessions,
            None => sessions,
        });
    }
    Ok(having.unwrap_or_default())
}

/// A word as a term that other words begin with. It consists of letters and digits.
fn term(word: &str) -> String {
    format!("\"{word}\" *")
}
