//! Pastes of terminals that do not bracket them: many characters at once, with line ends among them.

use super::decoder::TerminalInput;
use crate::keys::{Key, KeyCode};
use std::time::Duration;

/// Characters of one read that no person types.
const LEAST_CHARACTERS: usize = 32;
/// Wait before an Enter at the end of a read counts as one: the next read may show that it is a line end of a paste.
const ENTER_WAIT: Duration = Duration::from_millis(40);
/// Longest gap between two reads of one paste that are single characters.
const TYPED_GAP: Duration = Duration::from_millis(8);
/// Most bytes that are held. A longer paste is handed out in parts.
const LONGEST: usize = 16 * 1024 * 1024;

/// Finds pastes among keys.
#[derive(Debug, Default)]
pub(super) struct PasteBurst {
    /// Text of the paste that has not ended.
    text: String,
    /// An Enter that may belong to a paste.
    enter: bool,
    /// Time of the last plain key.
    last: Option<Duration>,
}

/// The character of a key that a paste may hold.
fn plain(key: Key) -> Option<char> {
    match key.code {
        KeyCode::Enter if key.modifiers.is_empty() => Some('\r'),
        KeyCode::Tab if key.modifiers.is_empty() => Some('\t'),
        // Ctrl+J is the byte of a line feed.
        KeyCode::Char('j') if key == Key::char('j').ctrl() => Some('\n'),
        _ => key.typed(),
    }
}

/// Gap after which a paste of this length has ended. Long ones come through slower programs.
fn gap(length: usize) -> Duration {
    Duration::from_millis(match length {
        0..1024 => 180,
        1024..2048 => 340,
        _ => 660,
    })
}

impl PasteBurst {
    /// Takes the inputs of one read.
    pub(super) fn take(&mut self, inputs: Vec<TerminalInput>, now: Duration, out: &mut Vec<TerminalInput>) {
        self.tick(now, out);
        let mut run: Vec<(Key, char)> = Vec::new();
        for input in inputs {
            match input {
                TerminalInput::Key(key) if plain(key).is_some() => run.extend(plain(key).map(|c| (key, c))),
                other => {
                    self.take_run(&run, now, out);
                    run.clear();
                    self.flush(out);
                    out.push(other);
                }
            }
        }
        self.take_run(&run, now, out);
    }

    /// Time at which [`tick`](Self::tick) is to be called.
    pub(super) fn deadline(&self) -> Option<Duration> {
        let last = self.last?;
        if self.enter {
            return Some(last.saturating_add(ENTER_WAIT));
        }
        (!self.text.is_empty()).then(|| last.saturating_add(gap(self.text.len())))
    }

    /// Hands out everything that has ended by now.
    pub(super) fn tick(&mut self, now: Duration, out: &mut Vec<TerminalInput>) {
        if self.deadline().is_some_and(|deadline| now >= deadline) {
            self.flush(out);
        }
    }

    fn flush(&mut self, out: &mut Vec<TerminalInput>) {
        if std::mem::take(&mut self.enter) {
            out.push(TerminalInput::Key(Key::new(KeyCode::Enter)));
        }
        if !self.text.is_empty() {
            out.push(TerminalInput::Paste(super::decoder::line_ends(std::mem::take(&mut self.text))));
        }
    }

    /// Takes plain keys of one read.
    fn take_run(&mut self, run: &[(Key, char)], now: Duration, out: &mut Vec<TerminalInput>) {
        let Some((last, _)) = run.last() else { return };
        let is_close = self.last.is_some_and(|before| now.saturating_sub(before) < TYPED_GAP);
        self.last = Some(now);
        if std::mem::take(&mut self.enter) {
            self.text.push('\r');
        }
        if !self.text.is_empty() || is_burst(run) {
            self.text.extend(run.iter().map(|(_, c)| *c));
            if self.text.len() > LONGEST {
                self.flush(out);
            }
            return;
        }
        let ends_in_enter = last.code == KeyCode::Enter && (run.len() > 1 || is_close);
        let typed = run.len().saturating_sub(usize::from(ends_in_enter));
        out.extend(run.iter().take(typed).map(|(key, _)| TerminalInput::Key(*key)));
        self.enter = ends_in_enter;
    }
}

/// `true` if no person typed the keys of one read: too many, or a line end with text behind it.
fn is_burst(run: &[(Key, char)]) -> bool {
    let before_last = run.split_last().map(|(_, before)| before).unwrap_or_default();
    run.len() >= LEAST_CHARACTERS || before_last.iter().any(|(_, c)| matches!(c, '\r' | '\n'))
}
