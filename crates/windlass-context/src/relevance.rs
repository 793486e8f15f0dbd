//! Ranking of many short texts by their relevance to a search: tools, memories, files.

use std::collections::HashMap;

/// BM25 parameter `k1`: how soon further occurrences of a word in a document stop counting.
const SATURATION: f64 = 1.2;
/// BM25 parameter `b`: penalty of a long document relative to a short one with the same words. 0 is none, 1 is full.
const LENGTH_PENALTY: f64 = 0.75;

/// Documents that are searched by their words, ranked by BM25.
///
/// A document has fields, such as a name and a description, and an occurrence counts with the weight of its field.
/// Words are compared in lower case; `readFile`, `read_file` and `read-file` are the words `read` and `file` each, and
/// the whole.
///
/// Ranking: S. Robertson, H. Zaragoza, *The Probabilistic Relevance Framework: BM25 and Beyond* (2009), with the
/// weights of fields from its section 3.6.
///
/// ```
/// use windlass_context::Relevance;
///
/// let mut tools = Relevance::default();
/// tools.add([(3.0, "create_issue"), (1.0, "Opens an issue in a repository.")]);
/// tools.add([(3.0, "list_pull_requests"), (1.0, "Lists what waits for a review.")]);
/// let found = tools.search("pull request review", 5);
/// assert_eq!(found.first().map(|hit| hit.document), Some(1));
/// assert!(tools.search("weather", 5).is_empty());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Relevance {
    /// Documents that contain each word, in order, with the weight of its occurrences.
    words: HashMap<String, Vec<(usize, f64)>>,
    /// Length of each document, in weighted words.
    lengths: Vec<f64>,
}

/// A document found by a search.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Hit {
    /// Index of the document in the order of addition, from 0.
    pub document: usize,
    /// Relevance: above 0, larger is better, without a unit. Only hits of one search can be compared.
    pub score: f64,
}

impl Relevance {
    /// Adds a document: its fields with their weights, which are above 0. Fields with another weight are ignored.
    pub fn add<'a>(&mut self, fields: impl IntoIterator<Item = (f64, &'a str)>) {
        let document = self.lengths.len();
        let mut counts: HashMap<String, f64> = HashMap::new();
        for (weight, text) in fields.into_iter().filter(|(weight, _)| weight.is_finite() && *weight > 0.0) {
            for word in words(text) {
                *counts.entry(word).or_default() += weight;
            }
        }
        self.lengths.push(counts.values().sum());
        for (word, count) in counts {
            self.words.entry(word).or_default().push((document, count));
        }
    }

    /// Returns the number of documents.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lengths.len()
    }

    /// `true` if there is no document.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    /// Returns at most `limit` documents that contain a word of `query`, the best first; of equal ones the one added
    /// first.
    #[must_use]
    pub fn search(&self, query: &str, limit: usize) -> Vec<Hit> {
        let count = self.lengths.len() as f64;
        let average = self.lengths.iter().sum::<f64>() / count.max(1.0);
        let mut query_words: Vec<String> = words(query).collect();
        query_words.sort_unstable();
        query_words.dedup();
        let mut scores: HashMap<usize, f64> = HashMap::new();
        for having in query_words.iter().filter_map(|word| self.words.get(word)) {
            let with = having.len() as f64;
            let rarity = (1.0 + (count - with + 0.5) / (with + 0.5)).ln();
            for (document, occurrences) in having {
                let length = self.lengths.get(*document).copied().unwrap_or_default();
                let damping =
                    SATURATION * (1.0 - LENGTH_PENALTY + LENGTH_PENALTY * length / average.max(f64::MIN_POSITIVE));
                *scores.entry(*document).or_default() +=
                    rarity * occurrences * (SATURATION + 1.0) / (occurrences + damping);
            }
        }
        let mut hits: Vec<Hit> = scores.into_iter().map(|(document, score)| Hit { document, score }).collect();
        hits.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then(a.document.cmp(&b.document)));
        hits.truncate(limit);
        hits
    }
}

/// Returns the words of a text in lower case. A name with several parts gives each of them, and the whole.
fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-').flat_map(|name| {
        let parts = parts(name);
        let joined = (parts.len() > 1).then(|| parts.concat());
        parts.into_iter().chain(joined)
    })
}

/// Splits a name into parts: at `_` and `-`, before a capital after a small letter or digit, and before the last
/// capital of a row that a small letter follows (`HTTPServer`).
fn parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut previous: Option<char> = None;
    let mut rest = name.chars().peekable();
    while let Some(letter) = rest.next() {
        let separates = letter == '_' || letter == '-';
        let begins_word = letter.is_uppercase()
            && previous.is_some_and(|b| !b.is_uppercase() || rest.peek().is_some_and(|after| after.is_lowercase()));
        if separates || begins_word {
            parts.push(String::new());
        }
        if let (false, Some(part)) = (separates, parts.last_mut()) {
            part.extend(letter.to_lowercase());
        }
        previous = Some(letter);
    }
    parts.retain(|part| !part.is_empty());
    parts
}

#[cfg(test)]
mod tests;
