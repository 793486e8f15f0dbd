//! Conversion of foreign text for display, without hidden characters and terminal control sequences.
//!
//! Models, tools, servers, repositories and hosts write text that is shown on terminals, in questions and in titles.
//! The function [`hidden`] decides which characters are invisible or misleading. [`visible`] writes such characters
//! out, for text on which a person decides. [`clean`] and [`TerminalFilter`] remove them, for text to read.
//! [`visible_json`] escapes them, so that the data keeps its meaning.

mod json;
mod marks;
mod terminal;

pub use json::{lone_surrogates_replaced, visible_json};
pub use terminal::TerminalFilter;

use marks::MARKS;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::path::Path;

/// Maximum number of combining marks on one character. No script needs more, and more would cover the neighbouring
/// lines.
const MAX_MARKS: u8 = 4;

/// Reason why a character is hidden.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Hidden {
    /// A control character, line end and tab included.
    Control,
    /// A bidirectional control character, which changes the direction of the text around it.
    Direction,
    /// A format or tag character. It has no glyph of its own.
    Format,
    /// A filler or variation selector. Most fonts show nothing for it.
    Filler,
    /// A blank or line end other than those of ASCII.
    Blank,
    /// A private-use code point or a noncharacter. Each font may show another glyph for it.
    Private,
}

/// Returns the reason why a character is hidden, or `None` for a visible one.
#[must_use]
pub fn hidden(c: char) -> Option<Hidden> {
    match c {
        ' '..='~' => None,
        _ if c.is_control() => Some(Hidden::Control),
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            Some(Hidden::Direction)
        }
        '\u{ad}'
        | '\u{600}'..='\u{605}'
        | '\u{6dd}'
        | '\u{70f}'
        | '\u{890}'
        | '\u{891}'
        | '\u{8e2}'
        | '\u{180e}'
        | '\u{200b}'..='\u{200d}'
        | '\u{2060}'..='\u{2065}'
        | '\u{206a}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{110bd}'
        | '\u{110cd}'
        | '\u{13430}'..='\u{1343f}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}' => Some(Hidden::Format),
        '\u{34f}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{180b}'..='\u{180d}'
        | '\u{180f}'
        | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fff8}'
        | '\u{fffc}' => Some(Hidden::Filler),
        '\u{2800}' => Some(Hidden::Blank),
        _ if c.is_whitespace() => Some(Hidden::Blank),
        '\u{e000}'..='\u{f8ff}' | '\u{fdd0}'..='\u{fdef}' | '\u{e1000}'.. => Some(Hidden::Private),
        _ if u32::from(c) & 0xfffe == 0xfffe => Some(Hidden::Private),
        _ => None,
    }
}

/// Returns a text in which nothing is hidden: hidden characters and floods of marks are written out as `\u{..}`. Line
/// ends and the parts of an emoji stay.
#[must_use]
pub fn visible(text: &str) -> String {
    written_out(text, |c| c == '\n')
}

/// Like [`visible`], on one line: line ends are written out as `\n`.
#[must_use]
pub fn visible_line(text: &str) -> String {
    written_out(text, |_| false)
}

fn written_out(text: &str, is_kept: impl Fn(char) -> bool) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut cluster = Cluster::default();
    for c in text.chars() {
        if is_kept(c) || cluster.shows(c) {
            shown.push(c);
        } else {
            shown.extend(c.escape_default());
        }
    }
    shown
}

/// Returns a path on one line, without hidden characters and tags: line breaks, control and invisible characters, and
/// `<`, are written out as `\u{..}`. [`path_of_visible`] restores the path, so that a tool can open the file by this
/// text.
#[must_use]
pub fn visible_path(path: impl AsRef<Path>) -> String {
    let path = path.as_ref().to_string_lossy();
    if path.bytes().all(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'\\' | b'<')) {
        return path.into_owned();
    }
    let mut shown = String::with_capacity(path.len());
    let mut cluster = Cluster::default();
    for (at, c) in path.char_indices() {
        let is_escape = c == '\\' && path.get(at..).is_some_and(|rest| rest.starts_with(PATH_ESCAPE));
        if cluster.shows(c) && !is_escape && c != '<' {
            shown.push(c);
        } else {
            shown.extend(c.escape_unicode());
        }
    }
    shown
}

/// Returns the path that [`visible_path`] has written out. Only escapes of characters that `visible_path` writes out
/// are restored, so that no dot, slash or letter can hide in an escape.
#[must_use]
pub fn path_of_visible(text: &str) -> Cow<'_, str> {
    if !text.contains(PATH_ESCAPE) {
        return Cow::Borrowed(text);
    }
    let mut path = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once(PATH_ESCAPE) {
        path.push_str(before);
        let escaped = behind.split_once('}').and_then(|(digits, behind)| Some((written_out_char(digits)?, behind)));
        match escaped {
            Some((c, behind)) => {
                path.push(c);
                rest = behind;
            }
            None => {
                path.push_str(PATH_ESCAPE);
                rest = behind;
            }
        }
    }
    path.push_str(rest);
    Cow::Owned(path)
}

/// The beginning of a character that [`visible_path`] has written out.
const PATH_ESCAPE: &str = "\\u{";

fn written_out_char(digits: &str) -> Option<char> {
    let is_hex = (1..=6).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let c = char::from_u32(u32::from_str_radix(digits, 16).ok().filter(|_| is_hex)?)?;
    (c != '\0' && (matches!(c, '\\' | '<') || is_mark(c) || hidden(c).is_some())).then_some(c)
}

/// A whole text as a terminal may show it: see [`TerminalFilter`].
#[must_use]
pub fn clean(text: &str) -> String {
    TerminalFilter::default().clean(text)
}

/// Like [`clean`], on one line: line ends and tabs become blanks.
#[must_use]
pub fn clean_line(text: &str) -> String {
    // Most lines are plain, and lists have many.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return text.to_owned();
    }
    clean(text).replace(['\n', '\t'], " ")
}

/// Returns a text for use inside a longer sentence: without blanks and full stops at its end. An ellipsis stays.
#[must_use]
pub fn clause(text: &str) -> &str {
    let text = text.trim_end();
    if text.ends_with("...") { text } else { text.trim_end_matches('.').trim_end() }
}

/// Returns a text as a sentence. A full stop is added unless the text ends with punctuation.
#[must_use]
pub fn sentence(text: &str) -> Cow<'_, str> {
    let text = text.trim_end();
    if text.is_empty() || text.ends_with(['.', '!', '?', '…', ':', ';']) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{text}."))
}

/// State of the characters before the next one, which decides if the next one is visible.
#[derive(Debug, Clone, Copy, Default)]
struct Cluster {
    before: Before,
    marks: u8,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Before {
    #[default]
    Other,
    /// A non-ASCII letter, whose script may need joiners. Only [`TerminalFilter`] uses this.
    Letter,
    /// A pictograph, which a selector or joiner may follow.
    Pictograph,
    /// A variation selector after a pictograph.
    Selector,
}

impl Cluster {
    /// Returns `true` if the next character may be shown unchanged, and updates the state. Selectors and joiners may be
    /// shown in an emoji, and at most [`MAX_MARKS`] marks on one character.
    fn shows(&mut self, c: char) -> bool {
        if is_mark(c) {
            self.marks = self.marks.saturating_add(1);
            return self.marks <= MAX_MARKS;
        }
        let before = std::mem::take(&mut self.before);
        self.marks = 0;
        match c {
            '\u{fe0e}' | '\u{fe0f}' if before == Before::Pictograph => self.before = Before::Selector,
            '\u{200d}' if matches!(before, Before::Pictograph | Before::Selector) => {}
            _ if hidden(c).is_some() => return false,
            _ if is_pictograph(c) => self.before = Before::Pictograph,
            _ if !c.is_ascii() && c.is_alphabetic() => self.before = Before::Letter,
            _ => {}
        }
        true
    }
}

/// Returns `true` if a character is drawn over the one before it.
fn is_mark(c: char) -> bool {
    let compare = |&(first, last): &(char, char)| match (last < c, first > c) {
        (true, _) => Ordering::Less,
        (_, true) => Ordering::Greater,
        _ => Ordering::Equal,
    };
    c >= '\u{300}' && MARKS.binary_search_by(compare).is_ok() && hidden(c).is_none()
}

fn is_pictograph(c: char) -> bool {
    matches!(c,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{2190}'..='\u{21ff}'
        | '\u{2300}'..='\u{23ff}' | '\u{24c2}' | '\u{25a0}'..='\u{27bf}' | '\u{2934}' | '\u{2935}'
        | '\u{2b00}'..='\u{2bff}' | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}' | '\u{1f000}'..='\u{1faff}')
}

#[cfg(test)]
mod tests;
