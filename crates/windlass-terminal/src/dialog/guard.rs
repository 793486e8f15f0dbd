//! Keys that were typed before a dialog could be read.

use std::time::Duration;

/// Time without a key after which a person has seen the dialog and means it.
const QUIET: Duration = Duration::from_millis(300);

/// Decides which keys belong to a dialog. A person who is typing when a dialog appears goes on typing: keys belong to the
/// dialog only behind a pause.
#[derive(Debug, Default)]
pub(super) struct KeyGuard {
    /// Time from which on keys count; `None` once one did.
    from: Option<Duration>,
    last_key: Option<Duration>,
}

impl KeyGuard {
    /// A dialog appears.
    pub(super) fn shown(&mut self, now: Duration) {
        let since = self.last_key.map_or(now, |last| last.max(now));
        self.from = Some(since.saturating_add(QUIET));
    }

    /// A key was typed that belongs to no dialog.
    pub(super) fn typed(&mut self, now: Duration) {
        self.last_key = Some(now);
        if let Some(from) = &mut self.from {
            *from = (*from).max(now.saturating_add(QUIET));
        }
    }

    /// `true` if a key that is typed now belongs to the dialog.
    pub(super) fn accepts(&mut self, now: Duration) -> bool {
        let is_quiet = self.from.is_none_or(|from| now >= from);
        if is_quiet {
            self.from = None;
        }
        is_quiet
    }
}
