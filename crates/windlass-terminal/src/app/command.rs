//! Commands that the person runs with `!`.

use super::App;
use super::services::{CommandOutput, Outcome};
use crate::cell::{Cell, KeptText, LocalOutput};
use crate::input::TerminalInput;
use crate::keys::{Key, KeyCode};
use std::sync::Arc;
use tokio::task::AbortHandle;
use windlass_conversation::{Input, Message};

/// Maximum number of bytes of an output that the model reads.
const COMMAND_OUTPUT: usize = 30_000;

/// A command that runs.
#[derive(Debug)]
pub(super) struct RunningCommand {
    command: String,
    task: AbortHandle,
}

impl RunningCommand {
    /// Row for the person while it runs.
    pub(super) fn row(&self) -> String {
        format!("Running !{}. Esc stops it.", self.command.lines().next().unwrap_or_default())
    }
}

impl App {
    /// Runs a command as the person's own, one at a time.
    pub(super) fn run_command(&mut self, command: String) {
        if self.command.is_some() {
            self.hint = Some("Another command runs: Esc stops it.".to_owned());
            return self.prompt.insert_before(&format!("!{command}"));
        }
        let (services, text) = (Arc::clone(&self.services), command.clone());
        let task = self.jobs.spawn(async move {
            let output = services.run_command(&text).await;
            Outcome::Command(text, output)
        });
        self.command = Some(RunningCommand { command, task });
    }

    /// Stops the command with Esc or Ctrl+C. Returns `true` if that was what the input meant.
    pub(super) fn stops_command(&mut self, input: &TerminalInput) -> bool {
        let stop = [Key::new(KeyCode::Escape), Key::char('c').ctrl()];
        let TerminalInput::Key(key) = input else { return false };
        if !stop.contains(key) {
            return false;
        }
        let Some(running) = self.command.take() else { return false };
        running.task.abort();
        self.show_command(&running.command, "Stopped.");
        true
    }

    /// Shows the output of a command, and keeps it for the model, which reads it with the next prompt.
    pub(super) fn command_ended(&mut self, command: &str, output: &CommandOutput) {
        self.command = None;
        let code = match output.code {
            Some(0) => None,
            Some(code) => Some(format!("Exit code {code}")),
            None => Some("Ended by a signal, or not started".to_owned()),
        };
        let text = windlass_types::text::clean(&output.text);
        let shown: Vec<&str> = text.lines().chain(code.as_deref()).collect();
        let shown = if shown.is_empty() { "No output.".to_owned() } else { shown.join("\n") };
        self.show_command(command, &shown);
        let end = (0..=COMMAND_OUTPUT.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
        let read = text.get(..end.unwrap_or_default()).unwrap_or_default();
        let cut = if read.len() < text.len() { "\n[the rest is left out]" } else { "" };
        let code = output.code.map_or_else(|| "none".to_owned(), |code| code.to_string());
        let note = format!("The user ran this command:\n$ {command}\nIts output (exit code {code}):\n{read}{cut}");
        let id = self.new_id();
        let note = Message { wants_answer: false, is_verbatim: true, ..Message::text(note) }.with_id(id);
        self.conversation.handle(Input::Message(Box::new(note)));
    }

    fn show_command(&mut self, command: &str, text: &str) {
        self.surface.presenter_mut().push(Cell::Local(LocalOutput {
            command: format!("!{}", command.lines().next().unwrap_or_default()),
            text: KeptText::new(text),
        }));
    }
}
