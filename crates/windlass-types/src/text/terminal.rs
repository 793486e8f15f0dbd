//! What a terminal would obey instead of show.

use super::{Before, Cluster, Hidden, hidden};

/// Takes out of a text what a terminal would obey instead of show, and what hides in it: escape sequences, control
/// characters other than line end and tab, characters that turn the direction of writing, tags and other characters
/// without a glyph, and floods of marks. Sequences that are split between two pieces of a text are found too.
///
/// Blanks of other writings, characters for private use, emoji, and joiners between letters that need them stay.
#[derive(Debug, Default)]
pub struct TerminalFilter {
    state: State,
    cluster: Cluster,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
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
    /// The part of the next piece that may be shown.
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

    /// What is shown for a character that no terminal obeys.
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

fn step(state: State, c: char) -> (State, bool) {
    match (state, c) {
        // A line never belongs to a sequence: one that does not end cannot swallow what follows.
        (_, '\n') => (State::Text, true),
        (State::String, '\u{7}' | '\u{9c}') | (State::StringEscape, '\\') => (State::Text, false),
        (State::String | State::StringEscape, '\u{1b}') => (State::StringEscape, false),
        (State::String | State::StringEscape, _) => (State::String, false),
        (_, '\u{1b}') => (State::Escape, false),
        (State::Escape, '[') | (State::Text, '\u{9b}') => (State::Control, false),
        (State::Escape, ']' | 'P' | 'X' | '^' | '_') | (State::Text, '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}') => {
            (State::String, false)
        }
        (State::Escape | State::Intermediate, ' '..='/') => (State::Intermediate, false),
        (State::Escape | State::Intermediate, _) => (State::Text, false),
        (State::Control, ' '..='?') => (State::Control, false),
        (State::Control, '@'..='~') => (State::Text, false),
        (State::Control | State::Text, '\t') => (State::Text, true),
        (State::Control | State::Text, c) => (State::Text, !c.is_control()),
    }
}
