//! Updates of the conversation.

use super::App;
use windlass_conversation::{Answer, MessageState, Presenter as _, Refusal, SessionState, Update};
use windlass_types::PermissionMode;

impl App {
    /// Takes an update in: dialogs and the prompt have theirs, all of them go to the presenter.
    pub(super) fn updated(&mut self, update: Update) {
        match &update {
            Update::Question(id) => self.ask(id),
            Update::QuestionWithdrawn(id) => self.withdrawn(id),
            Update::Taken(taken) => {
                if let Some(id) = &taken.id {
                    self.rewinds.taken(id);
                    if let Some(number) = self.messages.remove(id) {
                        self.prompt.taken(number);
                    }
                }
            }
            Update::Message(id, MessageState::Cancelled) => {
                if let Some(number) = self.messages.remove(id) {
                    self.prompt.returned(&[number]);
                }
            }
            Update::PermissionMode(mode) | Update::PermissionModeChanged(mode) => self.set_permission_mode(*mode),
            Update::Commands(commands) | Update::CommandsChanged(commands) => {
                let commands = super::local::with_local(commands.clone(), self.services.commands());
                self.prompt.set_commands(&commands);
            }
            Update::Cleared(_) => self.rewinds.clear(),
            Update::Opened(_) => {
                let commands = self.commands();
                self.prompt.set_commands(&commands);
            }
            Update::Answer(id, answer) => self.answered(id, answer),
            Update::State(SessionState::Idle) if self.title.is_some() => self.name_session(),
            Update::State(SessionState::Idle) if self.surface.presenter().status().is_running => {
                self.notify("windlass is done");
            }
            _ => {}
        }
        // Answers to requests are shown by what asked for them.
        if !matches!(update, Update::Answer(..)) {
            self.surface.present(update);
        }
        self.update_run();
        self.is_interrupting &= self.conversation.conversation().is_busy();
    }

    /// Gives the session the title that it got before it was open.
    fn name_session(&mut self) {
        if let Some(title) = self.title.take() {
            self.request(format!("rename {title}"), windlass_conversation::Request::Rename(title));
        }
    }

    fn ask(&mut self, id: &str) {
        let Some(request) = self.conversation.question(id).cloned() else { return };
        self.questions.insert(request.id.clone(), id.to_owned());
        self.dialogs.ask_for(&request, self.surface.presenter().agent_task(&request.agent));
        self.surface.request_frame();
        self.notify(&format!("windlass asks: {}", request.title));
    }

    fn withdrawn(&mut self, id: &str) {
        let Some(question) =
            self.questions.iter().find(|(_, known)| *known == id).map(|(question, _)| question.clone())
        else {
            return;
        };
        self.questions.remove(&question);
        self.surface.request_frame();
        self.withdraw_dialog(&question);
    }

    /// Takes the answer to a request, whose id begins with its purpose.
    fn answered(&mut self, id: &str, answer: &Result<Answer, Refusal>) {
        let purpose = id.rsplit_once('#').map_or(id, |(purpose, _)| purpose);
        let (word, rest) = purpose.split_once(' ').unwrap_or((purpose, ""));
        match (word, answer) {
            ("take", Ok(Answer::TakenBack(is_back))) => {
                if let Ok(number) = rest.parse() {
                    self.prompt.taken_back(number, *is_back);
                    self.messages.retain(|_, known| !*is_back || *known != number);
                }
            }
            (_, Ok(Answer::Interrupted { cancelled, .. })) => {
                let numbers: Vec<u64> = cancelled.iter().flatten().filter_map(|id| self.messages.remove(id)).collect();
                self.prompt.returned(&numbers);
            }
            (_, Ok(Answer::PermissionMode(mode))) => self.set_permission_mode(*mode),
            ("background", Ok(Answer::Moved(false))) => {
                let hint = "Nothing runs that can go on in the background.";
                self.hint = Some(hint.to_owned());
            }
            ("say", Ok(Answer::Done)) => self.local_output(rest),
            ("stop", Ok(Answer::Done)) => self.hint = Some("The background task is being stopped.".to_owned()),
            ("output", Ok(Answer::Output { tail, is_truncated, .. })) => self.show_output(rest, tail, *is_truncated),
            ("rename", Ok(Answer::Done)) => self.local_output(&format!("The session is named {rest}.")),
            ("rewind", Ok(Answer::Rewind { outcome, .. })) => self.rewound(outcome),
            (_, Err(refusal)) => {
                self.local_output(&refusal.reason);
                let mode: PermissionMode = self.conversation.conversation().permission_mode();
                self.prompt.set_mode(mode);
            }
            _ => {}
        }
    }
}
