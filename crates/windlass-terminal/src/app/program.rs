//! Commands of the program beside those of the terminal, such as `/doctor`.

use super::choosing::{Choice, Choosing};
use super::page::PageSource;
use super::services::Outcome;
use super::{App, TerminalEnd};
use crate::picker::{Picker, PickerItem};
use crate::presenter::SessionStatus;
use crate::theme::Theme;
use std::sync::Arc;
use windlass_conversation::{Message, Request};

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
        /// The diff.
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
        /// The request.
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

impl App {
    /// Runs a command of the program.
    pub(super) fn run_program(&mut self, name: &str, argument: &str) {
        let status = self.surface.presenter().status().clone();
        let call = CommandCall { name: name.to_owned(), argument: argument.to_owned(), status };
        let services = Arc::clone(&self.services);
        self.jobs.spawn(async move { Outcome::Reply(Box::new(services.command(call).await)) });
    }

    /// Shows the reply to a command.
    pub(super) fn reply(&mut self, reply: CommandReply) {
        match reply {
            CommandReply::Text(text) => self.local_output(&text),
            CommandReply::Page { title, text } => self.show_page(&title, PageSource::Text(text)),
            CommandReply::Diff { title, diff } => self.show_page(&title, PageSource::Diff(diff)),
            CommandReply::Choices { title, choices } => {
                let item =
                    |choice: CommandChoice| PickerItem::new(&choice.title, &choice.detail, Choice::Line(choice.line));
                let items = choices.into_iter().map(item).collect();
                self.picker = Some(Choosing { title, picker: Picker::new(items) });
            }
            CommandReply::Request { request, done } => self.request(format!("say {done}"), *request),
            CommandReply::Attended(arguments) => self.attend(&arguments),
            CommandReply::Theme(theme, text) => {
                self.surface.set_theme(*theme);
                self.local_output(&text);
            }
            CommandReply::Prompt(text) => {
                self.send(Message::text(text));
            }
            CommandReply::End(end) => self.leave(end),
        }
    }

    /// Lets a command of the program have the terminal.
    fn attend(&mut self, arguments: &[String]) {
        let services = Arc::clone(&self.services);
        let text = match self.let_go(|| services.attend(arguments)) {
            Ok(text) => text,
            Err(error) => format!("The command could not be run: {error}"),
        };
        self.local_output(&text);
    }
}
