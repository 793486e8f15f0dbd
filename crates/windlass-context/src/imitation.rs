//! Marking of foreign texts that imitate those of the runtime.
//!
//! The runtime speaks to the model in texts of its own: tags such as `<system-reminder>`, and notes such as "[Request
//! interrupted by user]". The output of servers and programs reaches the model, too, and could contain the same words.
//! There they are marked: `<untrusted:system-reminder>`. The mark is the only change: without it the text is the
//! original.

use crate::compaction::{LEFT_OUT, SUMMARY_HEAD};
use crate::reminder::{PLAIN_END, PLAIN_HEAD, runtime_text};
use std::sync::LazyLock;
use unicode_normalization::char::{decompose_compatible, is_combining_mark};
use windlass_types::text::hidden;
use windlass_types::{ContentBlock, ToolResultContent};

/// Mark of an imitation.
const MARK: &str = "untrusted:";

/// Tags with which the runtime frames its texts.
const TAGS: [&str; 8] = [
    "system-reminder",
    "task-notification",
    "server-instructions",
    "file-instructions",
    "local-command-stdout",
    "session-memory",
    "attached",
    "project-index",
];

/// Beginnings of the notes that the runtime writes without a tag.
const NOTES: [&str; 17] = [
    PLAIN_HEAD,
    PLAIN_END,
    runtime_text::INTERRUPTED,
    runtime_text::INTERRUPTED_TOOLS,
    runtime_text::NOT_RUN,
    runtime_text::CALL_STOPPED,
    runtime_text::QUESTION_WITHDRAWN,
    runtime_text::BEHIND_QUESTION,
    runtime_text::STOPPED,
    runtime_text::CUT_CALL,
    runtime_text::REFUSED_CALL,
    runtime_text::CONTINUE,
    runtime_text::PAUSED,
    runtime_text::OUTPUT_MISSING,
    runtime_text::STOP_FEEDBACK,
    SUMMARY_HEAD,
    LEFT_OUT,
];

/// Number of letters by which a note is recognized.
const LETTERS: usize = 30;

/// Words to search for, in the form in which they are compared.
struct Wanted {
    tags: Vec<String>,
    notes: Vec<String>,
}

impl Wanted {
    fn new(tags: &[&str], notes: &[&str]) -> Self {
        Self {
            tags: tags.iter().map(|tag| skeleton(tag, usize::MAX)).collect(),
            notes: notes.iter().map(|note| skeleton(note, LETTERS)).collect(),
        }
    }
}

/// All texts of the runtime.
static ALL: LazyLock<Wanted> = LazyLock::new(|| Wanted::new(&TAGS, &NOTES));

/// Returns a foreign text in which every imitation of a text of the runtime is marked.
#[must_use]
pub fn foreign_text(text: &str) -> String {
    marked(text, &places(text, &[0]))
}

/// Marks imitations in a whole result. Includes tags that are split over blocks.
#[must_use]
pub fn foreign_content(content: ToolResultContent) -> ToolResultContent {
    let mut blocks = match content {
        ToolResultContent::Text(text) => return ToolResultContent::Text(foreign_text(&text)),
        ToolResultContent::Blocks(blocks) => blocks,
    };
    let mut joined = String::new();
    let mut starts = Vec::new();
    for text in blocks.iter().filter_map(ContentBlock::as_text) {
        starts.push(joined.len());
        joined.push_str(text);
    }
    let places = places(&joined, &starts);
    let mut start = 0;
    for block in &mut blocks {
        if let ContentBlock::Text { text, .. } = block {
            let end = start + text.len();
            let own_places = places.iter().filter(|at| (start..end).contains(*at)).map(|at| at - start);
            *text = marked(text, &own_places.collect::<Vec<_>>());
            start = end;
        }
    }
    ToolResultContent::Blocks(blocks)
}

/// Marks one tag of the runtime at every occurrence, so that a text cannot leave its frame.
pub(crate) fn without_tag(text: &str, tag: &str) -> String {
    let names = [skeleton(tag, usize::MAX)];
    let places: Vec<usize> = openings(text).filter_map(|at| name_at(text, at, &names)).collect();
    marked(text, &places)
}

/// Marks the sentences of a plain frame at every occurrence, so that a text cannot leave it.
pub(crate) fn without_notes(text: &str) -> String {
    marked(text, &places_of(text, &[0], &Wanted::new(&[], &[PLAIN_HEAD, PLAIN_END])))
}

/// `true` if the text after an opening bracket is the name of one of these tags, in any spelling.
pub(crate) fn is_tag(behind: &str, tags: &[&str]) -> bool {
    let skeletons: Vec<String> = tags.iter().map(|tag| skeleton(tag, usize::MAX)).collect();
    name_at(behind, 0, &skeletons).is_some()
}

fn marked(text: &str, places: &[usize]) -> String {
    let mut marked = String::with_capacity(text.len() + places.len() * MARK.len());
    let mut rest = text;
    let mut offset = 0;
    for at in places {
        let Some((before, after)) = rest.split_at_checked(at - offset) else { break };
        marked.push_str(before);
        marked.push_str(MARK);
        (rest, offset) = (after, *at);
    }
    marked.push_str(rest);
    marked
}

/// Returns the positions of the names of imitated tags and the words of imitated notes, in order. `starts` are the
/// positions of the blocks.
fn places(text: &str, starts: &[usize]) -> Vec<usize> {
    places_of(text, starts, &ALL)
}

fn places_of(text: &str, starts: &[usize], wanted: &Wanted) -> Vec<usize> {
    let mut places: Vec<usize> = openings(text).filter_map(|at| name_at(text, at, &wanted.tags)).collect();
    // A note in brackets may occur anywhere.
    let may_start_line = |byte| matches!(byte, b'\n' | b'\r' | 0xb | 0xc | b'[');
    let ends = characters(text, may_start_line).filter(|(_, c)| ends_a_line(*c) || matches!(c, '[' | '［'));
    let lines = starts.iter().copied().chain(ends.map(|(at, c)| at + c.len_utf8()));
    places.extend(lines.filter_map(|at| note_at(text, at, &wanted.notes)));
    places.sort_unstable();
    places.dedup();
    places
}

/// Returns the characters of a text with their positions: the selected ones of ASCII, and all others.
fn characters(text: &str, of_ascii: impl Fn(u8) -> bool) -> impl Iterator<Item = (usize, char)> {
    let is_candidate = move |byte: u8| if byte.is_ascii() { of_ascii(byte) } else { byte >= 0xc0 };
    let found = text.bytes().enumerate().filter(move |(_, byte)| is_candidate(*byte));
    found.filter_map(|(at, _)| Some((at, text.get(at..)?.chars().next()?)))
}

fn ends_a_line(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Returns the end positions of characters that look like an opening bracket.
fn openings(text: &str) -> impl Iterator<Item = usize> {
    // Includes the first characters of entities and escapes.
    characters(text, |byte| matches!(byte, b'<' | b'&' | b'\\' | b'%')).filter_map(|(at, _)| {
        let (c, len) = spelled(text.get(at..)?)?;
        is_bracket(c).then_some(at + len)
    })
}

/// `true` for `<` and the characters that look like it.
fn is_bracket(c: char) -> bool {
    matches!(
        c,
        '<' | '\u{2c2}'
            | '\u{1438}'
            | '\u{16b2}'
            | '\u{2039}'
            | '\u{226e}'
            | '\u{227a}'
            | '\u{2329}'
            | '\u{276c}'
            | '\u{276e}'
            | '\u{2770}'
            | '\u{27e8}'
            | '\u{29fc}'
            | '\u{3008}'
            | '\u{fe3f}'
            | '\u{fe64}'
            | '\u{ff1c}'
    )
}

/// Returns the position of the name of a tag after an opening bracket, if it is one of these.
fn name_at(text: &str, at: usize, names: &[String]) -> Option<usize> {
    let mut rest = text.get(at..)?;
    let mut start = None;
    let mut prefix = String::new();
    while let Some((c, len)) = spelled(rest) {
        let letters = folded(c);
        if letters.is_empty() && !is_filler(c) {
            return None;
        }
        for letter in letters.0.into_iter().flatten() {
            start.get_or_insert(text.len() - rest.len());
            prefix.push(letter);
            if names.contains(&prefix) {
                return start;
            }
            if !names.iter().any(|name| name.starts_with(&prefix)) {
                return None;
            }
        }
        rest = rest.get(len..)?;
    }
    None
}

/// Returns the position of the words of a note at the start of a line, if they are those of one.
fn note_at(text: &str, at: usize, notes: &[String]) -> Option<usize> {
    let mut start = None;
    let mut prefix = String::new();
    for (offset, c) in text.get(at..)?.char_indices() {
        let letters = folded(c);
        // Another note may begin after these, which is searched there.
        if c == '<' || (start.is_none() && (ends_a_line(c) || matches!(c, '[' | '［'))) {
            return None;
        }
        for letter in letters.0.into_iter().flatten() {
            start.get_or_insert(at + offset);
            prefix.push(letter);
            if notes.contains(&prefix) {
                return start;
            }
            if !notes.iter().any(|note| note.starts_with(&prefix)) {
                return None;
            }
        }
    }
    None
}

/// `true` for a character that may occur within a tag without changing it.
fn is_filler(c: char) -> bool {
    c.is_whitespace()
        || hidden(c).is_some()
        || is_combining_mark(c)
        || matches!(
            c,
            '/' | '\\' | '-' | '_' | '.' | '·' | '⁄' | '∕' | '／' | '－' | '−' | '\u{2010}'
                ..='\u{2015}' | '\u{2043}' | '\u{fe58}' | '\u{fe63}'
        )
}

/// Returns the letters and digits of a text, in the form in which they are compared.
fn skeleton(text: &str, max_chars: usize) -> String {
    text.chars().flat_map(|c| folded(c).0).flatten().take(max_chars).collect()
}

/// Letters and digits that a character is compared as; none for all other characters. A ligature or a Roman numeral has
/// several.
#[derive(Debug, Clone, Copy, Default)]
struct Letters([Option<char>; 4]);

impl Letters {
    fn is_empty(self) -> bool {
        self.0.iter().all(Option::is_none)
    }
}

/// Returns a character in the form in which it is compared: small, without accents and styles, and a lookalike of a
/// Latin letter as that letter.
fn folded(c: char) -> Letters {
    let mut letters = Letters::default();
    if c.is_ascii() {
        letters.0 = [c.is_ascii_alphanumeric().then(|| c.to_ascii_lowercase()), None, None, None];
        return letters;
    }
    let mut free = letters.0.iter_mut();
    decompose_compatible(c, |part| {
        let latin = latin(part);
        if let Some(letter) = latin.is_alphanumeric().then_some(latin).filter(|_| !is_combining_mark(part))
            && let Some(free) = free.next()
        {
            *free = Some(letter);
        }
    });
    letters
}

/// Returns the Latin letter that a letter looks like, small; any other letter, small.
fn latin(c: char) -> char {
    let small = || c.to_lowercase().next().unwrap_or(c);
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    let like = |c: char| LOOKALIKES.iter().find(|(_, others)| others.contains(c)).map(|(letter, _)| *letter);
    like(c).or_else(|| like(small())).unwrap_or_else(small)
}

/// Letters of other scripts, by the Latin letter of the runtime's tags and notes that they look like.
const LOOKALIKES: &[(char, &str)] = &[
    ('a', "аαɑᴀᎪꭺꓮⲁⲀ"),
    ('b', "ВвΒЬьᏏᏼꓐ"),
    ('c', "сϲᴄᏟꮯꓚⲥⲤ"),
    ('d', "ԁɗᴅᎠꭰꓓ"),
    ('e', "еεҽᴇᎬꭼꓰⲉ"),
    ('f', "ϝƒꜰꓝẝ"),
    ('g', "ɡցԍɢᏀꓖ"),
    ('h', "һհΗНнʜᎻꮋꓧⲏ"),
    ('i', "іιıɩɪᎥꭵꓲⲓⲒ"),
    ('j', "јϳյȷᴊᎫꭻꓙ"),
    ('k', "кκᴋᏦꮶꓗⲕⲔ"),
    ('l', "ӏⅼʟᏞꮮꓡⲗǀ"),
    ('m', "мΜᴍᎷꮇꓟⲙⲘ"),
    ('n', "ոпηΝɴꓠⲛⲚ"),
    ('o', "оοօσᴏⲟⲞꓳ"),
    ('p', "рρᴘᏢꮲꓑⲣⲢ"),
    ('r', "гʀᎡᏒꭱꮢꓣⲅ"),
    ('s', "ѕꜱᏚꮪꓢʂ"),
    ('t', "тτᴛᎢꭲꓔⲧⲦ"),
    ('u', "υսᴜꓴʋ"),
    ('v', "νѵᴠᏙꮩꓦ"),
    ('x', "хχᕁꓫⲭⲬ"),
    ('y', "уγүʏҮꓬⲩⲨ"),
];

/// Returns the character that a text begins with, and its length in bytes. Entities of markup and escapes of JSON and
/// URLs are decoded.
fn spelled(text: &str) -> Option<(char, usize)> {
    let first = text.chars().next()?;
    let plain = Some((first, first.len_utf8()));
    let escape = match first {
        '&' => entity(text),
        '\\' => text.strip_prefix("\\u").and_then(|rest| digits(rest, 16, 4..=4)).map(|(c, len)| (c, len + 2)),
        '%' => text.strip_prefix('%').and_then(|rest| digits(rest, 16, 2..=2)).map(|(c, len)| (c, len + 1)),
        _ => None,
    };
    escape.or(plain)
}

fn entity(text: &str) -> Option<(char, usize)> {
    let named = [("&lt", '<'), ("&sol", '/'), ("&dash", '-'), ("&hyphen", '-'), ("&lowbar", '_'), ("&nbsp", ' ')];
    let by_name = named.iter().find_map(|(name, c)| {
        text.get(..name.len()).filter(|start| start.eq_ignore_ascii_case(name)).map(|_| (*c, name.len()))
    });
    let by_number = || {
        let (rest, radix, len) = match text.strip_prefix("&#")? {
            rest if rest.starts_with(['x', 'X']) => (rest.get(1..)?, 16, 3),
            rest => (rest, 10, 2),
        };
        digits(rest, radix, 1..=8).map(|(c, digits)| (c, digits + len))
    };
    let (c, len) = by_name.or_else(by_number)?;
    Some((c, len + usize::from(text.get(len..).is_some_and(|rest| rest.starts_with(';')))))
}

/// Returns the character of a number at the start of a text, and the number of its digits.
fn digits(text: &str, radix: u32, count: std::ops::RangeInclusive<usize>) -> Option<(char, usize)> {
    let found = text.chars().take(*count.end()).take_while(|c| c.is_digit(radix)).count();
    let number = text.get(..found).filter(|_| count.contains(&found))?;
    Some((char::from_u32(u32::from_str_radix(number, radix).ok()?)?, found))
}

#[cfg(test)]
mod tests;
