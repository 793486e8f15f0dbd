//! Messages of the program for the person: notices, and questions of MCP servers.

use super::App;
use crate::cell::NoticeLevel;
use crate::dialog::{ElicitationQuestion, ElicitationReply, ElicitationSubject};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::{mpsc, oneshot};
use windlass_types::QuestionId;

/// A link from the program to the person of a terminal. Cheap to clone.
///
/// ```
/// use windlass_terminal::app::program_link;
/// use windlass_terminal::dialog::{ElicitationQuestion, ElicitationReply, ElicitationSubject};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let (link, messages) = program_link();
/// link.notice("The index is ready.");
/// // `windlass_terminal::app::run` takes the messages. Without it nobody answers.
/// drop(messages);
/// let page = ElicitationSubject::Page("https://example.com/login".to_owned());
/// let reply = link.ask(ElicitationQuestion::new("tickets", "Log in", page)).await;
/// assert_eq!(reply, ElicitationReply::Cancel);
/// # });
/// ```
#[derive(Debug, Clone)]
pub struct ProgramLink {
    messages: mpsc::UnboundedSender<ProgramMessage>,
    asked: Arc<AtomicU64>,
}

/// Messages of a [`ProgramLink`], for [`run`](super::run).
#[derive(Debug)]
pub struct ProgramMessages(mpsc::UnboundedReceiver<ProgramMessage>);

/// A message of the program.
#[derive(Debug)]
pub(super) enum ProgramMessage {
    Notice(String),
    Asked(QuestionId, Box<ElicitationQuestion>, oneshot::Sender<ElicitationReply>),
    /// Nobody waits for the reply any more.
    Withdrawn(QuestionId),
}

/// A question of an MCP server that waits for the person.
#[derive(Debug)]
pub(super) struct OpenElicitation {
    /// Address that a yes opens.
    page: Option<String>,
    reply: oneshot::Sender<ElicitationReply>,
}

/// A link and its other end.
#[must_use]
pub fn program_link() -> (ProgramLink, ProgramMessages) {
    let (messages, received) = mpsc::unbounded_channel();
    (ProgramLink { messages, asked: Arc::default() }, ProgramMessages(received))
}

impl ProgramLink {
    /// Shows a notice. Nothing happens once the terminal is closed.
    pub fn notice(&self, text: impl Into<String>) {
        let _ = self.messages.send(ProgramMessage::Notice(text.into()));
    }

    /// Asks the person a question of an MCP server, behind those that wait. Without a terminal the reply is
    /// [`ElicitationReply::Cancel`].
    ///
    /// Cancel safe: dropping the future takes the question back.
    pub async fn ask(&self, question: ElicitationQuestion) -> ElicitationReply {
        let number = self.asked.fetch_add(1, Ordering::Relaxed);
        let id = QuestionId::from(format!("elicitation-{number}"));
        let (reply, replied) = oneshot::channel();
        let open = OpenQuestion { link: self, id: Some(id.clone()) };
        if self.messages.send(ProgramMessage::Asked(id, Box::new(question), reply)).is_err() {
            return ElicitationReply::Cancel;
        }
        let reply = replied.await.unwrap_or(ElicitationReply::Cancel);
        open.close();
        reply
    }
}

/// A question that is taken back when it is dropped without a reply.
struct OpenQuestion<'a> {
    link: &'a ProgramLink,
    id: Option<QuestionId>,
}

impl OpenQuestion<'_> {
    fn close(mut self) {
        self.id = None;
    }
}

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        if let Some(id) = self.id.take() {
            // The terminal is gone if nobody hears it, with all its questions.
            let _ = self.link.messages.send(ProgramMessage::Withdrawn(id));
        }
    }
}

impl ProgramMessages {
    /// Waits for the next message; `None` when all links are gone. Cancel safe.
    pub(super) async fn next(&mut self) -> Option<ProgramMessage> {
        self.0.recv().await
    }
}

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
