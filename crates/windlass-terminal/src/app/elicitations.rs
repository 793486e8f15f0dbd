//! Messages of the program, and questions of MCP servers as dialogs.

use super::App;
use super::link::{OpenElicitation, ProgramMessage};
use crate::cell::NoticeLevel;
use crate::dialog::{ElicitationQuestion, ElicitationReply, ElicitationSubject};
use tokio::sync::oneshot;
use windlass_types::QuestionId;

impl App {
    /// Takes a message of the program.
    pub(super) fn told(&mut self, message: ProgramMessage) {
        match message {
            ProgramMessage::Notice(text) => self.surface.presenter_mut().notice(NoticeLevel::Info, &text),
            ProgramMessage::Asked(id, question, reply) => self.elicit(id, &question, reply),
            ProgramMessage::Withdrawn(id) => {
                self.elicitations.remove(&id);
                self.withdraw_dialog(&id);
            }
        }
        self.surface.request_frame();
    }

    fn elicit(&mut self, id: QuestionId, question: &ElicitationQuestion, reply: oneshot::Sender<ElicitationReply>) {
        if let Err(error) = self.dialogs.elicit(id.clone(), question) {
            self.surface.presenter_mut().notice(NoticeLevel::Warning, &error.to_string());
            let _ = reply.send(ElicitationReply::Decline);
            return;
        }
        let page = match &question.subject {
            ElicitationSubject::Page(address) => Some(address.clone()),
            ElicitationSubject::Form(_) => None,
        };
        self.surface.presenter_mut().question_asked(id.as_str());
        self.notify(&format!("the MCP server {} asks", question.server));
        self.elicitations.insert(id, OpenElicitation { page, reply });
    }

    /// Passes a reply on, and opens the page that it consents to.
    pub(super) fn replied(&mut self, id: &QuestionId, reply: ElicitationReply) {
        self.surface.presenter_mut().question_answered(id.as_str());
        let Some(open) = self.elicitations.remove(id) else { return };
        if let (ElicitationReply::Accept(_), Some(page)) = (&reply, open.page) {
            self.services.open_page(&page);
        }
        // The server may have stopped to wait.
        let _ = open.reply.send(reply);
    }

    /// Closes a dialog that nobody waits for. A text that was written into it is in the prompt.
    pub(super) fn withdraw_dialog(&mut self, id: &QuestionId) {
        self.surface.presenter_mut().question_answered(id.as_str());
        let written = self.dialogs.withdraw(id);
        self.prompt.insert_before(&written);
    }
}
