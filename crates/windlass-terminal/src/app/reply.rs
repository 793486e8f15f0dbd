//! Commands of the program beside those of the terminal, such as `/doctor`, and their replies.

use super::end::TerminalEnd;
use crate::presenter::SessionStatus;
use crate::theme::Theme;
use windlass_conversation::Request;

/// A call of a command of the program.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "programs make it in their tests")]
pub struct CommandCall {
    /// Name of the command, without the slash.
    pub name: String,
    /// Text behind the name, without blanks around it.
    pub argument: String,
    /// Facts about the session.
    pub status: SessionStatus,
}

/// An entry of a list that a command shows.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "programs make it")]
pub struct CommandChoice {
    /// Title of the entry.
    pub title: String,
    /// Further facts in a few words.
    pub detail: String,
    /// Prompt that stands for the entry, such as `/model opus`.
    pub line: String,
}

/// Reply of the program to a command.
#[derive(Debug)]
#[non_exhaustive]
pub enum CommandReply {
    /// A text below the command.
    Text(String),
    /// A text on a page of its own.
    Page {
        /// Title of the page.
        title: String,
        /// Text of the page.
        text: String,
    },
    /// A unified diff on a page of its own.
    Diff {
        /// Title of the page.
        title: String,
        /// Unified diff to show.
        diff: String,
    },
    /// A list; the entry that is chosen is sent as a prompt.
    Choices {
        /// Title of the list.
        title: String,
        /// Entries, in their order.
        choices: Vec<CommandChoice>,
    },
    /// A request to the conversation, and the text that tells that it was granted.
    Request {
        /// Request to the conversation, such as a change of the model.
        request: Box<Request>,
        /// Text for the person.
        done: String,
    },
    /// A command of the program that needs the terminal for itself, with these arguments. See
    /// [`TerminalServices::attend`](super::TerminalServices::attend).
    Attended(Vec<String>),
    /// Other styles from now on, with a text below the command.
    Theme(Box<Theme>, String),
    /// A text that is sent to the model.
    Prompt(String),
    /// The end of this conversation, after which the program begins another one.
    End(TerminalEnd),
}
