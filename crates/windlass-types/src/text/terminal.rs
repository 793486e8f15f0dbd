//! Filter for terminal control sequences and hidden characters.

use super::{Before, Cluster, Hidden, hidden};

/// Removes from a text everything that a terminal obeys instead of showing, and everything hidden: escape sequences,
/// control characters other than line end and tab, characters that turn the direction of writing, tags and other
/// characters without a glyph, and floods of marks. Sequences that are split between two pieces of a text are removed,
/// too.
///
/// Blanks of other writings, characters for private use, emoji, and joiners between letters that need them stay.
#[derive(Debug, Default)]
pub struct TerminalFilter {
    state: EscapeState,
    cluster: Cluster,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum EscapeState {
    #[default]
    Text,
    /// After ESC.
    Escape,
    /// After ESC and a byte that announces one more.
    Intermediate,
    /// In a control sequence, until its final byte.
    Control,
    /// In a string (title, link, device control), until its end.
    String,
    /// In a string, after ESC.
    StringEscape,
}

impl TerminalFilter {
    /// Returns the part of the next piece that may be shown.
    #[must_use]
    pub fn clean(&mut self, text: &str) -> String {
        let mut shown = String::with_capacity(text.len());
        for c in text.chars() {
            let (state, show) = step(self.state, c);
            self.state = state;
            if show {
                shown.extend(self.shown(c));
            }
        }
        shown
    }

    /// Returns the character to show for one that no terminal obeys.
    fn shown(&mut self, c: char) -> Option<char> {
        let joins = matches!(c, '\u{200c}' | '\u{200d}') && self.cluster.before == Before::Letter;
        let shows = self.cluster.shows(c);
        match (c, hidden(c)) {
            ('\u{2028}' | '\u{2029}', _) => Some(' '),
            ('\n' | '\t', _) | (_, Some(Hidden::Blank | Hidden::Private)) => Some(c),
            _ => (shows || joins).then_some(c),
        }
    }
}

fn step(state: EscapeState, c: char) -> (EscapeState, bool) {
    match (state, c) {
        // A line never belongs to a sequence: one that does not end cannot swallow what follows.
        (_, '\n') => (EscapeState::Text, true),
        (EscapeState::String, '\u{7}' | '\u{9c}') | (EscapeState::StringEscape, '\\') => (EscapeState::Text, false),
        (EscapeState::String | EscapeState::StringEscape, '\u{1b}') => (EscapeState::StringEscape, false),
        (EscapeState::String | EscapeState::StringEscape, _) => (EscapeState::String, false),
        (_, '\u{1b}') => (EscapeState::Escape, false),
        (EscapeState::Escape, '[') | (EscapeState::Text, '\u{9b}') => (EscapeState::Control, false),
        (EscapeState::Escape, ']' | 'P' | 'X' | '^' | '_')
        | (EscapeState::Text, '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}') => (EscapeState::String, false),
        (EscapeState::Escape | EscapeState::Intermediate, ' '..='/') => (EscapeState::Intermediate, false),
        (EscapeState::Escape | EscapeState::Intermediate, _) => (EscapeState::Text, false),
        (EscapeState::Control, ' '..='?') => (EscapeState::Control, false),
        (EscapeState::Control, '@'..='~') => (EscapeState::Text, false),
        (EscapeState::Control | EscapeState::Text, '\t') => (EscapeState::Text, true),
        (EscapeState::Control | EscapeState::Text, c) => (EscapeState::Text, !c.is_control()),
    }
}
