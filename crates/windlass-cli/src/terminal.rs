//! What may reach a terminal, and what this terminal is.

use std::io::{IsTerminal, stderr, stdin, stdout};

/// Takes out of a text whatever a terminal would obey instead of show: escape
/// sequences, control characters other than newline and tab, and characters
/// that turn the direction of writing. Sequences that are split between two
/// pieces of a text are found too.
#[derive(Debug, Default)]
pub(crate) struct Filter {
    state: State,
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

impl Filter {
    /// The part of the next piece that may be shown.
    pub(crate) fn clean(&mut self, text: &str) -> String {
        let mut shown = String::with_capacity(text.len());
        for c in text.chars() {
            let (state, show) = step(self.state, c);
            self.state = state;
            if show {
                shown.push(c);
            }
        }
        shown
    }
}

/// The whole text, cleaned.
pub(crate) fn clean(text: &str) -> String {
    Filter::default().clean(text)
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
        (State::Control | State::Text, c) => (State::Text, !c.is_control() && !turns_direction(c)),
    }
}

fn turns_direction(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{61c}')
}

/// A text in which nothing is hidden: control and invisible characters are
/// written out. Newlines stay.
pub(crate) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        let invisible = matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{61c}' | '\u{e0000}'..='\u{e007f}');
        if (c.is_control() && c != '\n') || invisible {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Which of the standard streams are terminals, and whether to use colours.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terminal {
    pub(crate) stdin: bool,
    pub(crate) stdout: bool,
    pub(crate) stderr: bool,
    pub(crate) colours: bool,
}

impl Terminal {
    /// This process's. `NO_COLOR` and `TERM=dumb` switch colours off.
    pub(crate) fn of_process() -> Self {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self {
            stdin: stdin().is_terminal(),
            stdout: stdout().is_terminal(),
            stderr: stderr().is_terminal(),
            colours: !set("NO_COLOR") && !dumb,
        }
    }

    /// Whether somebody can be asked.
    pub(crate) fn can_ask(self) -> bool {
        self.stdin && self.stderr
    }
}

#[cfg(test)]
mod tests;
