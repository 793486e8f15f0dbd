//! Actions that keys stand for.

/// Declares [`KeyAction`] with the name and the description of each.
macro_rules! actions {
    ($($variant:ident, $name:literal, $description:literal;)*) => {
        /// An action of the prompt. Settings name it as [`KeyAction::name`] writes it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum KeyAction {
            $(#[doc = $description] $variant,)*
        }

        impl KeyAction {
            /// All actions, in the order in which they are listed.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The name in settings.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// One line that says what the action does.
            #[must_use]
            pub fn description(self) -> &'static str {
                match self { $(Self::$variant => $description,)* }
            }
        }
    };
}

actions! {
    Submit, "submit", "Send the message.";
    Queue, "queue", "Complete the word; while a run continues, send the message behind the run.";
    NewLine, "new-line", "Begin a new line.";
    Interrupt, "interrupt", "Close the menu or stop the run; twice: clear the text, or rewind on an empty line.";
    Cancel, "cancel", "Clear the text into the history; twice on an empty line: exit.";
    DeleteOrExit, "delete-or-exit", "Delete the character at the caret; on an empty line: exit.";
    Left, "left", "Move to the character before.";
    Right, "right", "Move to the character after.";
    WordLeft, "word-left", "Move to the beginning of the word.";
    WordRight, "word-right", "Move to the end of the word.";
    Up, "up", "Move up a row; on the first row: the queued message or the earlier one of the history.";
    Down, "down", "Move down a row; on the last row: the later message of the history.";
    HistoryOlder, "history-older", "Take the earlier message of the history.";
    HistoryNewer, "history-newer", "Take the later message of the history.";
    LineStart, "line-start", "Move to the beginning of the line.";
    LineEnd, "line-end", "Move to the end of the line.";
    TextStart, "text-start", "Move to the beginning of the text.";
    TextEnd, "text-end", "Move to the end of the text.";
    DeleteBack, "delete-back", "Delete the character before the caret.";
    DeleteForward, "delete-forward", "Delete the character at the caret.";
    KillWordBack, "kill-word-back", "Cut back to the blank before the caret.";
    KillPartBack, "kill-part-back", "Cut back to the beginning of the word.";
    KillWordForward, "kill-word-forward", "Cut to the end of the word.";
    KillLineStart, "kill-line-start", "Cut back to the beginning of the line.";
    KillLineEnd, "kill-line-end", "Cut to the end of the line.";
    Yank, "yank", "Insert the text that was cut last.";
    YankPop, "yank-pop", "Replace the inserted text by the one cut before.";
    Undo, "undo", "Undo the last change of the text.";
    Redo, "redo", "Redo the change that was undone last.";
    Stash, "stash", "Put the text aside; on an empty line: take it back.";
    SearchHistory, "search-history", "Search the history; again: the earlier match.";
    ExternalEditor, "external-editor", "Edit the text in your own editor.";
    PasteImage, "paste-image", "Attach the image of the clipboard.";
    ExpandPaste, "expand-paste", "Replace the placeholder at the caret by the pasted text.";
    CycleMode, "cycle-mode", "Change to the next permission mode.";
    Background, "background", "Move the running command to the background.";
    Transcript, "transcript", "Show the whole transcript.";
    Tasks, "tasks", "Show or hide the list of tasks.";
    Redraw, "redraw", "Draw the screen again.";
    Suspend, "suspend", "Suspend windlass; `fg` continues it.";
    Ignore, "ignore", "Do nothing.";
}

impl KeyAction {
    /// The action with this name in settings.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|action| action.name() == name)
    }
}
