//! Messages of the program for the person: notices, and questions of MCP servers.

use crate::dialog::{ElicitationQuestion, ElicitationReply};
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
    pub(super) page: Option<String>,
    pub(super) reply: oneshot::Sender<ElicitationReply>,
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
