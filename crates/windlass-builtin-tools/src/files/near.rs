//! Hints about the nearest text when an edit's `old_string` is not in the file.
//!
//! All work is linear in the file and bounded: only the first [`MAX_TEXT`] bytes of files and [`MAX_LINE`] characters
//! of lines are compared.

use std::collections::HashMap;
use std::fmt::Write as _;

use unicode_normalization::UnicodeNormalization as _;

use super::page::cut_chars;

const MAX_TEXT: usize = 4 * 1024 * 1024;
const MAX_LINES: usize = 100_000;
const MAX_OLD_LINES: usize = 400;
const MAX_LINE: usize = 400;
const SHOWN_LINES: usize = 8;
const SHOWN_CHARS: usize = 160;
/// Minimum share of common letter pairs of a similar line.
const MIN_SIMILARITY: f64 = 0.5;

/// Hint for the model: the position of the nearest text, and its differences.
pub(crate) fn hint(text: &[u8], old: &str) -> String {
    hint_for(text, old, "old_string")
}

/// Like [`hint`], for a text that the model knows under another name.
pub(crate) fn hint_for(text: &[u8], old: &str, name: &str) -> String {
    let text = String::from_utf8_lossy(text.get(..MAX_TEXT).unwrap_or(text));
    if let Some(stripped) = without_line_numbers(old)
        && text.contains(&stripped)
    {
        return "It contains the line numbers that Read prints: \
                leave out the number and the tab before each line."
            .to_owned();
    }
    if let Some(unescaped) = unescape(old)
        && text.contains(&unescaped)
    {
        return format!(
            "The file has this text with real line breaks, tabs or quotes where {name} has backslash escapes: send the \
             characters themselves."
        );
    }
    if old.contains('\u{FFFD}') {
        return "It contains U+FFFD, which stands for bytes that are not valid text: \
                choose text without it."
            .to_owned();
    }
    if old.contains('\r') && text.contains(&old.replace("\r\n", "\n").replace('\r', "\n")) {
        return "The file has it with other line breaks: write line breaks as LF, \
                they are matched to those of the file."
            .to_owned();
    }
    let lines: Vec<&str> = text.split('\n').take(MAX_LINES).collect();
    let wanted: Vec<&str> = old.split('\n').take(MAX_OLD_LINES).collect();
    if let Some(region) = loose_match(&lines, &wanted) {
        return describe_loose(&lines, &wanted, region, name);
    }
    describe_similar(&lines, &wanted, name).unwrap_or_else(|| {
        "Nothing similar is in the file: read the file again, or search for the text with Grep.".to_owned()
    })
}

/// Difference between two texts that still look the same to a reader.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Aspect {
    Blanks,
    Typography,
    UnicodeForm,
    Case,
}

const ASPECTS: [Aspect; 4] = [Aspect::Blanks, Aspect::Typography, Aspect::UnicodeForm, Aspect::Case];

/// The line without the `ignored` differences.
fn normalize(line: &str, ignored: &[Aspect]) -> String {
    let line = cut_chars(line, MAX_LINE).0;
    if line.is_ascii() && ignored == ASPECTS {
        let kept = line.bytes().filter(|b| !b.is_ascii_whitespace() && *b != 0x0B);
        let plain = kept.map(|b| if matches!(b, b'"' | b'`') { '\'' } else { b.to_ascii_lowercase().into() });
        return plain.collect();
    }
    let skip = |aspect| ignored.contains(&aspect);
    let mut out: String = if skip(Aspect::UnicodeForm) { line.nfc().collect() } else { line.to_owned() };
    if skip(Aspect::Typography) {
        out = out.chars().map(plain_char).collect();
    }
    if skip(Aspect::Blanks) {
        out.retain(|c| !c.is_whitespace());
    }
    if skip(Aspect::Case) {
        out = out.to_lowercase();
    }
    out
}

/// Replaces typographic quotes, dashes and blanks by their plain counterparts.
fn plain_char(c: char) -> char {
    match c {
        '\u{2018}'..='\u{201B}' | '\u{2032}' | '`' | '\u{B4}' | '"' => '\'',
        '\u{201C}'..='\u{201F}' | '\u{2033}' | '\u{AB}' | '\u{BB}' => '\'',
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{A0}' | '\u{2000}'..='\u{200A}' | '\u{202F}' | '\u{3000}' => ' ',
        _ => c,
    }
}

/// `true` if `wanted` matches the lines from index `first` on. Its first line may match the end of a line, and its last
/// one the beginning of a line. Lines between them must be equal.
fn matches_at(lines: &[String], wanted: &[String], first: usize) -> bool {
    let Some(region) = lines.get(first..first + wanted.len()) else {
        return false;
    };
    match (wanted, region) {
        ([only], [line]) => line.contains(only.as_str()),
        ([start, middle @ .., end], [first, inner @ .., last]) => {
            first.ends_with(start.as_str()) && last.starts_with(end.as_str()) && inner == middle
        }
        _ => false,
    }
}

fn loose_match(lines: &[&str], wanted: &[&str]) -> Option<usize> {
    let lines: Vec<String> = lines.iter().map(|l| normalize(l, &ASPECTS)).collect();
    let wanted: Vec<String> = wanted.iter().map(|l| normalize(l, &ASPECTS)).collect();
    if wanted.iter().all(String::is_empty) {
        return None;
    }
    (0..lines.len()).find(|first| matches_at(&lines, &wanted, *first))
}

fn describe_loose(lines: &[&str], wanted: &[&str], first: usize, name: &str) -> String {
    let region = lines.get(first..first + wanted.len()).unwrap_or_default();
    let needed: Vec<String> = ASPECTS
        .iter()
        .filter(|aspect| {
            let others: Vec<Aspect> = ASPECTS.into_iter().filter(|a| a != *aspect).collect();
            let region: Vec<String> = region.iter().map(|l| normalize(l, &others)).collect();
            let wanted: Vec<String> = wanted.iter().map(|l| normalize(l, &others)).collect();
            !matches_at(&region, &wanted, 0)
        })
        .map(|aspect| match aspect {
            Aspect::Blanks => blanks_phrase(region, wanted, name),
            Aspect::Typography => "quotes, dashes or special blanks".to_owned(),
            Aspect::UnicodeForm => "the Unicode form of accented characters (composed or not)".to_owned(),
            Aspect::Case => "upper and lower case".to_owned(),
        })
        .collect();
    let differs = if needed.is_empty() { String::new() } else { format!(" and differs in {}", needed.join(" and ")) };
    format!(
        "The nearest text is {}{differs}:\n{}\nCopy it exactly, without the line numbers.",
        lines_phrase(first, region.len()),
        quote(region, first)
    )
}

/// Names the difference in blanks as precisely as possible.
fn blanks_phrase(region: &[&str], wanted: &[&str], name: &str) -> String {
    let tabs = |lines: &[&str]| lines.iter().any(|l| l.contains('\t'));
    let pairs = || region.iter().zip(wanted);
    if tabs(region) != tabs(wanted) {
        let (with, without) = if tabs(region) { ("the file", name) } else { (name, "the file") };
        return format!("blanks ({with} has tabs, {without} has none)");
    }
    if pairs().all(|(a, b)| a.trim_end() == b.trim_end()) {
        return "blanks at the end of a line".to_owned();
    }
    if pairs().all(|(a, b)| a.trim() == b.trim()) {
        return "indentation".to_owned();
    }
    "blanks".to_owned()
}

/// Description of the most similar place, found by the most distinctive line; `None` if none is similar.
fn describe_similar(lines: &[&str], wanted: &[&str], name: &str) -> Option<String> {
    let (anchor, line) = wanted.iter().enumerate().max_by_key(|(_, l)| l.trim().len())?;
    let pairs = Pairs::of(line);
    let scored = lines.iter().map(|l| pairs.similarity(l)).enumerate();
    let (best, score) = scored.max_by(|(i, a), (j, b)| a.total_cmp(b).then(j.cmp(i)))?;
    if score < MIN_SIMILARITY {
        return None;
    }
    let first = best.saturating_sub(anchor);
    let last = (first + wanted.len()).min(lines.len());
    let region = lines.get(first..last)?;
    let mut out = format!("The most similar text is {}:\n", lines_phrase(first, region.len()));
    let differing = (first + 1..).zip(region.iter().zip(wanted)).find(|(_, (has, wants))| has != wants);
    match differing {
        Some((n, (has, wants))) if wanted.len() > 1 => {
            let _ = write!(
                out,
                "{}\nThe first line that differs is {n}: the file has {:?}, {name} has {:?}.",
                quote(region, first),
                cut_chars(has, SHOWN_CHARS).0,
                cut_chars(wants, SHOWN_CHARS).0,
            );
        }
        _ => out.push_str(&quote(region, first)),
    }
    out.push_str("\nIf this is the place, copy the text exactly from there.");
    Some(out)
}

/// Counts of neighbouring byte pairs, blanks left out.
struct Pairs {
    counts: HashMap<(u8, u8), i32>,
    total: usize,
}

impl Pairs {
    fn of(line: &str) -> Self {
        let mut counts = HashMap::new();
        let mut total = 0;
        for pair in pairs(line) {
            *counts.entry(pair).or_insert(0) += 1;
            total += 1;
        }
        Self { counts, total }
    }

    /// Similarity from 0 (no common pair) to 1 (the same pairs).
    fn similarity(&self, line: &str) -> f64 {
        let mut seen: HashMap<(u8, u8), i32> = HashMap::new();
        let (mut common, mut total) = (0, 0);
        for pair in pairs(line) {
            total += 1;
            if let Some(available) = self.counts.get(&pair) {
                let used = seen.entry(pair).or_insert(0);
                *used += 1;
                common += u32::from(*used <= *available);
            }
        }
        let pair_count = u32::try_from(self.total + total).unwrap_or(u32::MAX);
        if pair_count == 0 {
            return 0.0;
        }
        f64::from(2 * common) / f64::from(pair_count)
    }
}

fn pairs(line: &str) -> impl Iterator<Item = (u8, u8)> + '_ {
    let bytes = || line.bytes().filter(|b| !b.is_ascii_whitespace()).take(MAX_LINE);
    bytes().zip(bytes().skip(1))
}

fn lines_phrase(first: usize, lines: usize) -> String {
    if lines == 1 { format!("at line {}", first + 1) } else { format!("at lines {}-{}", first + 1, first + lines) }
}

fn quote(region: &[&str], first: usize) -> String {
    let mut out = String::new();
    for (n, line) in (first + 1..).zip(region.iter().take(SHOWN_LINES)) {
        let (shown, cut) = cut_chars(line, SHOWN_CHARS);
        let more = if cut.is_empty() { "" } else { " …" };
        let separator = if out.is_empty() { "" } else { "\n" };
        let _ = write!(out, "{separator}{n}\t{shown}{more}");
    }
    if region.len() > SHOWN_LINES {
        out.push_str("\n…");
    }
    out
}

/// `old` without `<n>\t` before each line, when every line has it.
fn without_line_numbers(old: &str) -> Option<String> {
    let lines: Option<Vec<&str>> = old
        .lines()
        .map(|line| {
            let (number, rest) = line.split_once('\t')?;
            number.trim().parse::<u64>().ok().map(|_| rest)
        })
        .collect();
    let stripped = lines?.join("\n");
    (!stripped.trim().is_empty()).then_some(stripped)
}

/// `old` with `\n`, `\t`, `\"`, `\'` and `\\` read as escapes, when it has any.
fn unescape(old: &str) -> Option<String> {
    if !old.contains('\\') {
        return None;
    }
    let mut out = String::with_capacity(old.len());
    let mut chars = old.chars().peekable();
    while let Some(c) = chars.next() {
        let escaped = match (c, chars.peek()) {
            ('\\', Some('n')) => Some('\n'),
            ('\\', Some('t')) => Some('\t'),
            ('\\', Some(&quoted @ ('"' | '\'' | '\\'))) => Some(quoted),
            _ => None,
        };
        if escaped.is_some() {
            chars.next();
        }
        out.push(escaped.unwrap_or(c));
    }
    Some(out)
}

#[cfg(test)]
mod tests;
