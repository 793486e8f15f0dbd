//! Words of texts, and positions of searched words.

#[cfg(test)]
mod tests;

use std::ops::Range;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Maximum number of significant characters of a word.
const WORD_CHARS: usize = 64;

/// Maximum number of words in a search.
const MAX_WORDS: usize = 16;

/// Maximum length of a snippet, in characters.
const SNIPPET_CHARS: usize = 160;

/// Length of a snippet's text before the first match, in characters.
const LEAD_CHARS: usize = 40;

/// Maximum number of positions in a text that are compared to find the best snippet.
const MAX_POSITIONS: usize = 200;

/// A word of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Word {
    /// Byte range of the word.
    at: Range<usize>,
    /// Word in lower case, without accents.
    text: String,
    /// `true` if this is the rest of an unspaced row, which is part of the word before it as well.
    rest: bool,
}

/// Words of a search. Each must occur as the beginning of a word; upper and lower case, accents, and the order of words
/// make no difference. Any text is a valid search: there is no syntax to get wrong.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SearchWords(Vec<String>);

/// A part of a text around the matches in it, in one line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Snippet {
    /// Text of the snippet. Line breaks and control characters are blanks, and `…` marks a cut.
    pub text: String,
    /// Byte ranges of the matching words, in order.
    pub marks: Vec<Range<usize>>,
}

impl SearchWords {
    /// Returns the words of a text, at most 16 of them.
    pub fn of(text: &str) -> Self {
        let mut wanted: Vec<String> = Vec::new();
        for word in split(text).into_iter().filter(|word| !word.rest) {
            if wanted.len() < MAX_WORDS && !wanted.contains(&word.text) {
                wanted.push(word.text);
            }
        }
        Self(wanted)
    }

    /// `true` if there are no words.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the words in the form of [`words`].
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Returns the words that occur in a text, as a bit for each in their order, beginning with the lowest.
    pub fn found_in(&self, text: &str) -> u32 {
        split(text).iter().fold(0, |found, word| found | self.matched_by(word))
    }

    /// Returns the bits of all words.
    pub fn all(&self) -> u32 {
        (1_u32 << self.0.len()) - 1
    }

    fn matched_by(&self, word: &Word) -> u32 {
        let bits = self.0.iter().enumerate().filter(|(_, wanted)| word.text.starts_with(wanted.as_str()));
        bits.fold(0, |bits, (at, _)| bits | 1 << at)
    }

    /// Returns the part of a text with the most words.
    pub fn snippet(&self, text: &str) -> Snippet {
        let positions: Vec<(Range<usize>, u32)> = split(text)
            .into_iter()
            .map(|word| (word.at.clone(), self.matched_by(&word)))
            .filter(|(_, bits)| *bits != 0)
            .take(MAX_POSITIONS)
            .collect();
        let distinct = |from: &Range<usize>| {
            let end = after(text, from.start, SNIPPET_CHARS - LEAD_CHARS);
            let near = positions.iter().filter(|(at, _)| at.start >= from.start && at.end <= end);
            near.fold(0, |found, (_, bits)| found | bits).count_ones()
        };
        let mut best = (0, 0);
        for (at, _) in &positions {
            let count = distinct(at);
            if count > best.0 {
                best = (count, at.start);
            }
        }
        cut(text, best.1, &positions)
    }
}

/// Returns the words of a text for searching: in lower case, without accents, at most 64 characters of each. In scripts
/// without blanks between words (Chinese, Japanese, Thai), each two consecutive characters form a word, and so does the
/// last character of a row.
pub fn words(text: &str) -> impl Iterator<Item = String> {
    split(text).into_iter().map(|word| word.text)
}

/// Role of a character in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Letter,
    Unspaced,
    /// Belongs to the character before it.
    Joined,
    Gap,
}

fn split(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut row: Vec<(Range<usize>, String)> = Vec::new();
    let mut of = Class::Gap;
    for (at, c) in text.char_indices() {
        let (class, folded) = fold(c);
        let at = at..at + c.len_utf8();
        if class == Class::Joined {
            if let Some((last, _)) = row.last_mut() {
                last.end = at.end;
            }
            continue;
        }
        if class != of {
            finish(of, &mut row, &mut words);
            of = class;
        }
        if class != Class::Gap {
            row.push((at, folded));
        }
    }
    finish(of, &mut row, &mut words);
    words
}

/// Splits a row of characters of one class into words.
fn finish(class: Class, row: &mut Vec<(Range<usize>, String)>, words: &mut Vec<Word>) {
    let row = std::mem::take(row);
    let (Some((first, _)), Some((last, _))) = (row.first(), row.last()) else { return };
    if class == Class::Letter {
        let text: String = row.iter().flat_map(|(_, folded)| folded.chars()).take(WORD_CHARS).collect();
        words.push(Word { at: first.start..last.end, text, rest: false });
        return;
    }
    let many = row.len() > 1;
    for (position, (at, folded)) in row.iter().enumerate() {
        match row.get(position + 1) {
            Some((next, after)) => {
                words.push(Word { at: at.start..next.end, text: format!("{folded}{after}"), rest: false });
            }
            None => words.push(Word { at: at.clone(), text: folded.clone(), rest: many }),
        }
    }
}

fn fold(c: char) -> (Class, String) {
    if c.is_ascii() {
        let class = if c.is_ascii_alphanumeric() { Class::Letter } else { Class::Gap };
        return (class, c.to_ascii_lowercase().to_string());
    }
    // Includes invisible characters: they separate no words for the reader.
    if is_combining_mark(c) || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}') {
        return (Class::Joined, String::new());
    }
    let decomposed = std::iter::once(c).nfkd().flat_map(char::to_lowercase);
    let folded: String = decomposed.filter(|c| c.is_alphanumeric() && !is_combining_mark(*c)).collect();
    match c {
        _ if folded.is_empty() => (Class::Gap, folded),
        '\u{0e00}'..='\u{0eff}'
        | '\u{1000}'..='\u{109f}'
        | '\u{1780}'..='\u{17ff}'
        | '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}' => (Class::Unspaced, folded),
        _ => (Class::Letter, folded),
    }
}

/// Returns the byte position `characters` characters after another one, or the end.
fn after(text: &str, start: usize, characters: usize) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    start + rest.char_indices().nth(characters).map_or(rest.len(), |(at, _)| at)
}

fn before(text: &str, end: usize, characters: usize) -> usize {
    let head = text.get(..end).unwrap_or_default();
    head.char_indices().rev().take(characters).last().map_or(end, |(at, _)| at)
}

/// Returns the part of a text around a position, with the matches in it.
fn cut(text: &str, around: usize, positions: &[(Range<usize>, u32)]) -> Snippet {
    let start = before(text, around, LEAD_CHARS);
    let end = after(text, start, SNIPPET_CHARS);
    let mut snippet = Snippet::default();
    if start > 0 {
        snippet.text.push('…');
    }
    let mut positions = positions.iter().map(|(at, _)| at).filter(|at| at.start >= start && at.end <= end).peekable();
    let mut open: Option<(usize, usize)> = None;
    for (at, c) in text.get(start..end).unwrap_or_default().char_indices() {
        let at = start + at;
        if let Some((from, _)) = open.filter(|(_, end)| *end <= at) {
            snippet.marks.push(from..snippet.text.len());
            open = None;
        }
        while let Some(position) = positions.next_if(|position| position.start <= at) {
            // Words of unspaced rows overlap.
            let from = open.map_or(snippet.text.len(), |(from, _)| from);
            open = Some((from, position.end));
        }
        snippet.text.push(if c.is_control() || c.is_whitespace() { ' ' } else { c });
    }
    snippet.marks.extend(open.map(|(from, _)| from..snippet.text.len()));
    if end < text.len() {
        snippet.text.push('…');
    }
    snippet
}
