//! Keys that are no answers: those typed before a dialog could be read, and the letters of words.

use crate::keys::{Key, KeyCode};
use std::time::Duration;

/// Time without a key after which a person has seen the dialog and means it.
const QUIET: Duration = Duration::from_millis(300);

/// Time within which two typed characters are parts of a text.
const BURST: Duration = Duration::from_millis(150);

/// Decides which keys belong to a dialog. A person who is typing when a dialog appears goes on typing: keys belong to the
/// dialog only behind a pause.
#[derive(Debug, Default)]
pub(super) struct KeyGuard {
    state: GuardState,
    last_key: Option<Duration>,
}

#[derive(Debug, Clone, Copy, Default)]
enum GuardState {
    /// The dialog is not on the screen.
    #[default]
    Hidden,
    /// Keys count from this time on.
    Until(Duration),
    /// Keys count.
    Open,
}

impl KeyGuard {
    /// Another dialog is the first one, and not on the screen yet.
    pub(super) fn hidden(&mut self) {
        self.state = GuardState::Hidden;
    }

    /// The dialog is on the screen.
    pub(super) fn shown(&mut self, now: Duration) {
        if matches!(self.state, GuardState::Hidden) {
            let since = self.last_key.map_or(now, |last| last.max(now));
            self.state = GuardState::Until(since.saturating_add(QUIET));
        }
    }

    /// A key was typed that does not belong to the dialog.
    pub(super) fn typed(&mut self, now: Duration) {
        self.last_key = Some(now);
        if let GuardState::Until(from) = &mut self.state {
            *from = (*from).max(now.saturating_add(QUIET));
        }
    }

    /// `true` if a key that is typed now belongs to the dialog.
    pub(super) fn accepts(&mut self, now: Duration) -> bool {
        if matches!(self.state, GuardState::Until(from) if now >= from) {
            self.state = GuardState::Open;
        }
        matches!(self.state, GuardState::Open)
    }
}

/// Decision about a key for a dialog whose letters answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LetterFate {
    /// The key is a letter that answers unless another one follows at once.
    Held,
    /// The key is part of a text, which answers nothing.
    Text,
    /// The key confirms this letter, which was typed just before.
    Confirms(Key),
    /// The key is for the dialog.
    Passes,
}

/// Tells letters that answer from the letters of words: a character that is typed within 150 ms of another one answers nothing,
/// and neither does any key of that text up to a pause.
#[derive(Debug, Default)]
pub(super) struct LetterGuard {
    held: Option<(Key, Duration)>,
    /// Time of the last typed character.
    last: Option<Duration>,
    /// End of the text that is being typed, if no key follows.
    text_until: Option<Duration>,
}

impl LetterGuard {
    /// Another dialog is the first one.
    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }

    /// Judges a key. `submits` is set for the keys that choose.
    pub(super) fn judge(&mut self, key: Key, submits: bool, now: Duration) -> LetterFate {
        let held = self.held.take().map(|(key, _)| key);
        let is_close = self.last.is_some_and(|last| now.saturating_sub(last) < BURST);
        let is_text = self.text_until.is_some_and(|until| now < until);
        match (key.typed(), held) {
            _ if submits && is_text => self.text(now),
            (_, Some(letter)) if submits => LetterFate::Confirms(letter),
            _ if submits => LetterFate::Passes,
            // A blank alone turns the page.
            (Some(_), None) if key.code == KeyCode::Char(' ') && !is_text && !is_close => LetterFate::Passes,
            (Some(_), _) => {
                self.last = Some(now);
                if is_text || is_close {
                    return self.text(now);
                }
                self.held = Some((key, now));
                LetterFate::Held
            }
            (None, _) => LetterFate::Passes,
        }
    }

    /// Drops the letter that is held.
    pub(super) fn drop_held(&mut self) {
        self.held = None;
    }

    /// A letter that means nothing was typed: the beginning of a text.
    pub(super) fn text(&mut self, now: Duration) -> LetterFate {
        self.text_until = Some(now.saturating_add(QUIET));
        LetterFate::Text
    }

    /// Time at which the letter that is held counts.
    pub(super) fn deadline(&self) -> Option<Duration> {
        self.held.map(|(_, at)| at.saturating_add(BURST))
    }

    /// The letter that was held long enough.
    pub(super) fn take_due(&mut self, now: Duration) -> Option<Key> {
        self.deadline().filter(|due| now >= *due)?;
        self.held.take().map(|(key, _)| key)
    }
}
