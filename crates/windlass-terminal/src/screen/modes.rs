//! Modes of the terminal while the screen is open.

/// Sequences that put any terminal back: alternate screen left, cursor shown, no synchronised output, wrapped text, no
/// bracketed paste, no reports of the focus, plain keys, plain text. For a panic or a signal, when no [`Screen`](super::Screen) can do it.
pub const RESTORE: &str = "\u{1b}[?2026l\u{1b}[?1049l\u{1b}[?7h\u{1b}[?2004l\u{1b}[?1004l\u{1b}[<u\u{1b}[?25h\u{1b}[0m";

/// Modes that are switched on while the screen is open, and off when it is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "options that programs set")]
pub struct Modes {
    /// `true` to have pasted text marked.
    pub bracketed_paste: bool,
    /// `true` to have gain and loss of the focus reported.
    pub focus: bool,
    /// `true` to have keys told apart that are the same otherwise, such as Enter and Shift+Enter.
    pub distinct_keys: bool,
}

impl Modes {
    /// No mode is changed.
    pub const NONE: Self = Self { bracketed_paste: false, focus: false, distinct_keys: false };

    pub(super) fn enter(self) -> String {
        self.sequences("\u{1b}[?2004h", "\u{1b}[?1004h", "\u{1b}[>1u")
    }

    /// Sequences that take back what [`enter`](Self::enter) did, and make text and cursor plain.
    pub(super) fn restore(self) -> String {
        let modes = self.sequences("\u{1b}[?2004l", "\u{1b}[?1004l", "\u{1b}[<u");
        format!("{modes}\u{1b}[0m\u{1b}[?25h")
    }

    fn sequences(self, paste: &str, focus: &str, keys: &str) -> String {
        let chosen = [(self.bracketed_paste, paste), (self.focus, focus), (self.distinct_keys, keys)];
        chosen.iter().filter(|(is_on, _)| *is_on).map(|(_, sequence)| *sequence).collect()
    }
}

impl Default for Modes {
    /// Marked pastes, reports of the focus, and distinct keys. Terminals ignore those that they do not know.
    fn default() -> Self {
        Self { bracketed_paste: true, focus: true, distinct_keys: true }
    }
}
