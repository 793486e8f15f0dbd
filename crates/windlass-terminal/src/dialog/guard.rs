//! Keys that were typed before a dialog could be read.

use std::time::Duration;

/// Time without a key after which a person has seen the dialog and means it.
const QUIET: Duration = Duration::from_millis(300);

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
