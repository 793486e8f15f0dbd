//! Secrets and volatile values, which must not get into a cassette.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

type Rewrite = Arc<dyn Fn(&str) -> String + Send + Sync>;

/// Values to remove from a cassette, and their replacements.
///
/// Keys of known providers, bearer tokens and values of `authorization` and `x-api-key` headers are always removed
/// (`{{KEY}}`), even if a stream splits them between deltas. Signatures of thinking are opaque and stay.
///
/// ```
/// # mod windlass { pub use windlass_model as testing; }
/// use windlass::testing::Scrub;
///
/// let scrub = Scrub::new().secret("DB_PASSWORD", "correct horse").place("HOME", "/home/me");
/// # drop(scrub);
/// ```
#[derive(Clone, Default)]
pub struct Scrub {
    needles: Vec<Needle>,
    places: Vec<(String, String)>,
    rewrites: Vec<Rewrite>,
}

#[derive(Clone)]
struct Needle {
    value: String,
    mark: String,
}

impl fmt::Debug for Scrub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let marks: Vec<&str> = self.needles.iter().map(|needle| needle.mark.as_str()).collect();
        f.debug_struct("Scrub").field("marks", &marks).finish_non_exhaustive()
    }
}

impl Scrub {
    /// Returns a scrub that removes keys only.
    pub fn new() -> Self {
        Self::default()
    }

    /// Removes a secret; `{{NAME}}` replaces it, on replay too.
    #[must_use]
    pub fn secret(mut self, name: &str, value: &str) -> Self {
        self.add(name, value);
        self
    }

    /// Removes a value that differs from machine to machine, such as the home directory. `{{NAME}}` replaces it in the
    /// cassette. On replay, with the same name and that machine's value, the value is restored.
    #[must_use]
    pub fn place(mut self, name: &str, value: &str) -> Self {
        if !value.is_empty() {
            self.places.push((mark(name), value.to_owned()));
        }
        self.add(name, value);
        self
    }

    /// Rewrites requests before they are written or compared, to remove values that differ from run to run (dates,
    /// durations, process ids). The function gets each text of a system section and the JSON of each content block.
    #[must_use]
    pub fn rewrite(mut self, rewrite: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        self.rewrites.push(Arc::new(rewrite));
        self
    }

    /// Adds a folder for large results as a place. The name of the first one is `RESULTS`.
    pub(super) fn add_results(&mut self, folder: &str) {
        if folder.is_empty() || self.places.iter().any(|(_, value)| value == folder) {
            return;
        }
        let is_results = |place: &&(String, String)| place.0.starts_with("{{RESULTS");
        let name = match self.places.iter().filter(is_results).count() {
            0 => "RESULTS".to_owned(),
            others => format!("RESULTS_{}", others.saturating_add(1)),
        };
        *self = std::mem::take(self).place(&name, folder);
    }

    fn add(&mut self, name: &str, value: &str) {
        if value.is_empty() {
            return;
        }
        let mark = mark(name);
        let escaped = escaped(value);
        if escaped != value {
            self.needles.push(Needle { value: escaped, mark: mark.clone() });
        }
        self.needles.push(Needle { value: value.to_owned(), mark });
    }

    /// Returns text of a request as it is written and compared.
    pub(super) fn request_text(&self, text: &str) -> String {
        let text = self.clean(text);
        self.rewrites.iter().fold(text, |text, rewrite| rewrite(&text))
    }

    /// Returns text without secrets and places.
    pub(super) fn clean(&self, text: &str) -> String {
        let mut pieces = [text.to_owned()];
        self.clean_pieces(&mut pieces);
        let [text] = pieces;
        text
    }

    /// Cleans a text that is split into pieces. A removed value may extend across pieces; its mark goes to the piece in
    /// which it begins.
    pub(super) fn clean_pieces(&self, pieces: &mut [String]) {
        let text = pieces.concat();
        let cuts = self.cuts(&text);
        if cuts.is_empty() {
            return;
        }
        let mut from = 0;
        for piece in pieces {
            let range = from..from + piece.len();
            from = range.end;
            *piece = without(&text, range, &cuts);
        }
    }

    fn cuts(&self, text: &str) -> Vec<(Range<usize>, &str)> {
        let mut found: Vec<(Range<usize>, &str)> = Vec::new();
        for needle in &self.needles {
            let places = text.match_indices(needle.value.as_str());
            found.extend(places.map(|(at, value)| (at..at + value.len(), needle.mark.as_str())));
        }
        found.extend(keys(text).into_iter().map(|range| (range, "{{KEY}}")));
        found.sort_by_key(|(range, _)| (range.start, usize::MAX - range.end));
        let mut cuts: Vec<(Range<usize>, &str)> = Vec::with_capacity(found.len());
        for (range, mark) in found {
            match cuts.last_mut() {
                // A cut that overlaps the one before it is joined with it.
                Some((last, _)) if range.start < last.end => last.end = last.end.max(range.end),
                _ => cuts.push((range, mark)),
            }
        }
        cuts
    }

    /// Restores the places of this machine in the position of their marks.
    pub(super) fn expand(&self, text: &str) -> String {
        self.places.iter().fold(text.to_owned(), |text, (mark, value)| text.replace(mark, value))
    }

    /// Restores places like [`Scrub::expand`], inside the strings of JSON text.
    pub(super) fn expand_json(&self, text: &str) -> String {
        self.places.iter().fold(text.to_owned(), |text, (mark, value)| text.replace(mark, &escaped(value)))
    }

    pub(super) fn expands(&self) -> bool {
        !self.places.is_empty()
    }
}

fn mark(name: &str) -> String {
    format!("{{{{{name}}}}}")
}

/// Returns the value as encoded inside a JSON string.
fn escaped(value: &str) -> String {
    let json = serde_json::to_string(value).unwrap_or_default();
    json.strip_prefix('"').and_then(|json| json.strip_suffix('"')).unwrap_or_default().to_owned()
}

/// Returns the part of a text in a range, with marks at the beginnings of cuts.
fn without(text: &str, range: Range<usize>, cuts: &[(Range<usize>, &str)]) -> String {
    let mut out = String::with_capacity(range.len());
    let mut at = range.start;
    for (cut, mark) in cuts.iter().filter(|(cut, _)| cut.end > range.start && cut.start < range.end) {
        out.push_str(text.get(at..cut.start.max(at)).unwrap_or_default());
        if cut.start >= range.start {
            out.push_str(mark);
        }
        at = cut.end.min(range.end);
    }
    out.push_str(text.get(at..range.end).unwrap_or_default());
    out
}

/// Prefixes of provider keys, with the minimum number of further characters.
const PREFIXES: &[(&str, usize)] = &[
    ("sk-", 16),
    ("ghp_", 16),
    ("gho_", 16),
    ("ghs_", 16),
    ("github_pat_", 16),
    ("glpat-", 16),
    ("xoxb-", 16),
    ("xoxp-", 16),
    ("AKIA", 16),
    ("AIza", 16),
];

/// Headers with secret values.
const HEADERS: &[&str] = &["authorization", "x-api-key"];

/// Characters between the name of such a header and its value, also inside JSON in JSON.
const GAP: [char; 6] = [' ', ':', '=', '"', '\'', '\\'];

/// Returns the ranges of keys in a text.
fn keys(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for (prefix, least) in PREFIXES {
        for (at, _) in text.match_indices(prefix) {
            let fresh = !text.get(..at).unwrap_or_default().ends_with(|c: char| c.is_ascii_alphanumeric());
            let rest = text.get(at + prefix.len()..).unwrap_or_default();
            let len = token_len(rest);
            if fresh && len >= *least {
                found.push(at..at + prefix.len() + len);
            }
        }
    }
    let lower = text.to_ascii_lowercase();
    for header in HEADERS {
        for (at, _) in lower.match_indices(header) {
            let rest = lower.get(at + header.len()..).unwrap_or_default();
            let value = rest.trim_start_matches(GAP);
            // The word `authorization` occurs in prose, too.
            let is_header = rest.get(..rest.len() - value.len()).is_some_and(|gap| gap.contains([':', '=']));
            let schemes = ["bearer", "basic", "token"];
            let token = schemes.iter().find_map(|scheme| value.strip_prefix(scheme)).unwrap_or(value);
            let token = token.trim_start_matches(GAP);
            let len = token_len(token);
            if is_header && len >= 8 {
                let start = lower.len() - token.len();
                found.push(start..start + len);
            }
        }
    }
    for (at, label) in lower.match_indices("bearer ") {
        let start = at + label.len();
        let token = lower.get(start..).unwrap_or_default();
        let len = token_len(token);
        if len >= 16 && token.bytes().take(len).any(|byte| byte.is_ascii_digit()) {
            found.push(start..start + len);
        }
    }
    found
}

/// Returns the length of the leading characters that keys consist of.
fn token_len(text: &str) -> usize {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.~+/=".contains(byte);
    text.as_bytes().iter().take_while(|byte| is_part(byte)).count()
}

#[cfg(test)]
mod tests;
