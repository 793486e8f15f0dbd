//! Commands of the program, carried out.

use super::App;
use super::choosing::{Choice, Choosing};
use super::page::PageSource;
use super::reply::{CommandCall, CommandChoice, CommandReply};
use super::services::Outcome;
use crate::picker::{Picker, PickerItem};
use std::sync::Arc;
use windlass_conversation::Message;

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
