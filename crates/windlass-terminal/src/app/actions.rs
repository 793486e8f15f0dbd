//! Actions of keys.

use super::end::TerminalEnd;
use super::services::Outcome;
use super::{App, local};
use crate::cell::{Cell, UserMessage};
use crate::composer::ImageReference;
use crate::composer::Submission;
use crate::dialog::{DialogAnswer, DialogResult};
use crate::input::{InputAction, TerminalInput};
use std::sync::Arc;
use std::time::Duration;
use windlass_conversation::{Input, Message, Priority, Request};
use windlass_types::ContentBlock;
use windlass_types::near::nearest;

impl App {
    /// Takes an input of the terminal: a dialog has it first.
    pub(super) fn input(&mut self, input: TerminalInput) {
        self.surface.request_frame();
        if let TerminalInput::Focus(is_focused) = input {
            return self.surface.set_focused(is_focused);
        }
        if self.page.is_some() {
            return self.page_key(&input);
        }
        // A question stands in front of both.
        if self.dialogs.is_empty() {
            if self.picker.is_some() {
                return self.pick(&input);
            }
            if self.stops_command(&input) {
                return;
            }
        }
        self.hint = None;
        self.settle_dialog();
        let now = self.now();
        let result = self.dialogs.handle(input, now);
        self.dialog_result(result, now);
    }

    /// Lets a letter answer a dialog once no other one can follow it.
    pub(super) fn settle_dialog(&mut self) {
        let now = self.now();
        if let Some(result) = self.dialogs.tick(now) {
            self.surface.request_frame();
            self.dialog_result(result, now);
        }
    }

    /// Carries out the result of an input for a dialog.
    pub(super) fn dialog_result(&mut self, result: DialogResult, now: Duration) {
        match result {
            DialogResult::Passed(input) => {
                for action in self.prompt.handle(input, now) {
                    self.act(action);
                }
            }
            DialogResult::Answered(answer) => self.answer(answer),
            DialogResult::OpenEditor(text) => {
                let edited = self.edit(&text);
                self.dialogs.edited(edited.as_deref());
            }
            DialogResult::Replied { id, reply } => self.replied(&id, reply),
            DialogResult::Taken => {}
        }
    }

    fn answer(&mut self, answer: DialogAnswer) {
        let DialogAnswer { id, answer, comment } = answer;
        let Some(question) = self.questions.remove(&id) else { return };
        self.conversation.answer(&question, answer);
        self.surface.presenter_mut().question_answered(&question);
        if let Some(comment) = comment.filter(|comment| !comment.trim().is_empty()) {
            self.send(Message::text(comment).with_priority(Priority::Next));
        }
    }

    /// Carries out an action of the prompt.
    pub(super) fn act(&mut self, action: InputAction) {
        match action {
            InputAction::Submit { number, submission, priority } => self.submit(number, &submission, priority),
            InputAction::RunCommand(command) => self.run_command(command),
            InputAction::TakeBack(number) => {
                let id = self.messages.iter().find(|(_, known)| **known == number).map(|(id, _)| id.clone());
                match id {
                    Some(id) => self.request(format!("take {number}"), Request::TakeBack(id)),
                    None => self.prompt.taken_back(number, false),
                }
            }
            InputAction::Interrupt => {
                self.is_interrupting = true;
                self.request("interrupt", Request::Interrupt { cancels_queued: true });
            }
            InputAction::OpenRewind => self.open_rewind(),
            InputAction::MoveToBackground => self.request("background", Request::MoveToBackground(None)),
            InputAction::SetMode(mode) => self.request("mode", Request::PermissionMode(mode)),
            InputAction::Record(entry) => self.services.record(&entry),
            InputAction::OpenEditor(text) => {
                let edited = self.edit(&text);
                self.prompt.edited(edited.as_deref());
            }
            InputAction::PasteImage => {
                let services = Arc::clone(&self.services);
                self.jobs.spawn(async move { Outcome::Image(services.clipboard_image().await) });
            }
            InputAction::FindMentions { ticket, query } => {
                let services = Arc::clone(&self.services);
                self.jobs.spawn(async move { Outcome::Mentions(ticket, services.mentions(&query).await) });
            }
            InputAction::Hint(text) => self.hint = Some(text),
            InputAction::ShowTranscript => self.show_transcript(),
            InputAction::ToggleTasks => {
                self.shows_todos = !self.shows_todos;
                self.surface.set_shows_todos(self.shows_todos);
            }
            InputAction::Redraw => self.redraw(),
            InputAction::Suspend => self.suspend(),
            InputAction::Exit => self.leave(TerminalEnd::Left),
        }
    }

    /// Gives the conversation a request. The id says what it was for.
    pub(super) fn request(&mut self, purpose: impl Into<String>, request: Request) {
        self.requests += 1;
        let id = format!("{}#{}", purpose.into(), self.requests);
        self.conversation.handle(Input::Request(id, request));
        self.surface.request_frame();
    }

    fn submit(&mut self, number: u64, submission: &Submission, priority: Priority) {
        let text = submission.all_text();
        if self.run_called(&text) {
            return self.prompt.taken(number);
        }
        let known = self.commands();
        if let Some(name) = local::unknown(&text, &known) {
            self.prompt.returned(&[number]);
            let names = known.iter().map(|command| command.name.as_str());
            let meant = nearest(name, names).first().map(|near| format!(" Did you mean /{near}?")).unwrap_or_default();
            self.hint = Some(format!(
                "There is no command /{name}.{meant} /help lists all; a blank in front sends it as text."
            ));
            return;
        }
        match blocks(submission) {
            Ok(blocks) => {
                let is_verbatim = local::is_text_with_slash(&text);
                let id = self.send(Message { is_verbatim, ..Message::new(blocks).with_priority(priority) });
                self.messages.insert(id, number);
            }
            Err(problem) => {
                self.prompt.returned(&[number]);
                self.hint = Some(problem);
            }
        }
    }

    /// Takes the outcome of a service.
    pub(super) fn done(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Mentions(ticket, candidates) => self.prompt.found(ticket, candidates),
            Outcome::Command(command, output) => self.command_ended(&command, &output),
            Outcome::Sessions(sessions) => self.open_sessions(sessions),
            Outcome::Reply(reply) => self.reply(*reply),
            Outcome::StatusRow(row) => self.status_row(row),
            Outcome::Image(Ok(path)) => self.prompt.attach_image(ImageReference::Path(path)),
            Outcome::Image(Err(problem)) => self.hint = Some(problem),
            Outcome::Stopped => {}
            Outcome::Failed => self.hint = Some("A task of the terminal failed.".to_owned()),
        }
        self.surface.request_frame();
    }

    /// Shows a text of the person that goes to no session.
    pub(super) fn echo(&mut self, text: &str) {
        let message = UserMessage { text: text.to_owned(), joined: false };
        self.surface.presenter_mut().push(Cell::User(message));
    }

    /// Lets an external editor have the terminal, and returns the text that it saved.
    fn edit(&mut self, text: &str) -> Option<String> {
        let services = Arc::clone(&self.services);
        let edited = self.let_go(|| services.edit(text));
        match edited {
            Ok(edited) => Some(edited),
            Err(error) => {
                self.hint =
                    Some(format!("The editor could not be used: {error}. Set EDITOR to one that is installed."));
                None
            }
        }
    }

    fn redraw(&mut self) {
        // The next frame begins at the row of the cursor.
        let _ = self.surface.suspend();
    }
}

/// The blocks of a prompt. Images are mentions of their files, which the session reads by its rules.
fn blocks(submission: &Submission) -> Result<Vec<ContentBlock>, String> {
    let text = submission.with_mentions().ok_or("The image is in no file: give the path of one behind @.")?;
    Ok(vec![ContentBlock::text(text)])
}
