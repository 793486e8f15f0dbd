//! A conversation with the sessions that it needs.

use crate::asking::{Asked, ConversationAsker};
use crate::conversation::{Conversation, ConversationOptions};
use crate::driver::{OpenFailure, OpenSession, SessionDriver};
use crate::input::Input;
use crate::output::{Order, Output, Unanswered, Update};
use crate::settings::SessionSettings;
use futures_util::future::BoxFuture;
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Sleep, sleep};
use windlass_runtime::{SessionError, SessionHandle};
use windlass_tool::Ids;
use windlass_types::{PermissionAnswer, PermissionRequest};

/// Limit of an early end, which [`Input::Close`] begins.
const CLOSING: Duration = Duration::from_secs(4);
/// Silence of a log at an early end before it is given up.
const LOG_PATIENCE: Duration = Duration::from_secs(3);
/// Events that are taken before other inputs are looked at.
const EVENTS_IN_A_ROW: u32 = 64;

/// A conversation with the sessions that it needs: inputs of a person in, [`Update`]s out.
///
/// The first message opens a session with the function that [`new`](Self::new) was given, and `/clear` another one. The
/// session works only while [`next`](Self::next) is polled.
///
/// ```
/// use std::sync::Arc;
/// use windlass_conversation::{
///     ConversationAsker, ConversationOptions, Input, LiveConversation, Message, OpenFailure, OpenSession, Presenter,
///     SessionSettings,
/// };
///
/// async fn open(_: SessionSettings, _: ConversationAsker) -> Result<OpenSession, OpenFailure> {
///     Err("no model is configured: set a key".into())
/// }
///
/// /// Shows one prompt until its end.
/// async fn ask(prompt: &str, ids: Arc<dyn windlass_tool::Ids>, presenter: &mut impl Presenter) {
///     let mut conversation = LiveConversation::new(ConversationOptions::default(), ids, open);
///     conversation.handle(Input::Message(Box::new(Message::text(prompt))));
///     conversation.handle(Input::End);
///     while let Some(update) = conversation.next().await {
///         presenter.present(update);
///     }
///     if let Some(failure) = conversation.take_open_failure() {
///         eprintln!("{failure}");
///     }
/// }
/// ```
pub struct LiveConversation {
    conversation: Conversation,
    driver: SessionDriver,
    open: Box<Open>,
    opening: Option<Opening>,
    asker: ConversationAsker,
    asked: mpsc::UnboundedReceiver<Asked>,
    questions: HashMap<String, OpenQuestion>,
    updates: VecDeque<Update>,
    /// Inputs that follow from orders.
    inputs: VecDeque<Input>,
    failure: Option<OpenFailure>,
    closing: Option<Closing>,
    is_closed: bool,
    events_in_a_row: u32,
}

type Opening = BoxFuture<'static, Result<OpenSession, OpenFailure>>;
type Open = dyn Fn(SessionSettings, ConversationAsker) -> Opening + Send + Sync;

/// Limits of an early end.
struct Closing {
    /// Silent logs are given up then; `None` once they are.
    patience: Option<Pin<Box<Sleep>>>,
    deadline: Pin<Box<Sleep>>,
}

/// A question without an answer.
struct OpenQuestion {
    request: Box<PermissionRequest>,
    answer: oneshot::Sender<Result<PermissionAnswer, Unanswered>>,
}

impl fmt::Debug for LiveConversation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveConversation").field("conversation", &self.conversation).finish_non_exhaustive()
    }
}

impl LiveConversation {
    /// A conversation without a session. `open` opens one with the settings that were asked for; its questions are to
    /// go to the asker. [`ConversationOptions::copies_log`] has no effect here.
    pub fn new<F>(
        options: ConversationOptions,
        ids: Arc<dyn Ids>,
        open: impl Fn(SessionSettings, ConversationAsker) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<OpenSession, OpenFailure>> + Send + 'static,
    {
        let (asker, asked) = ConversationAsker::new(Arc::clone(&ids));
        Self {
            conversation: Conversation::new(options, ids),
            driver: SessionDriver::default(),
            open: Box::new(move |settings, asker| Box::pin(open(settings, asker))),
            opening: None,
            asker,
            asked,
            questions: HashMap::new(),
            updates: VecDeque::new(),
            inputs: VecDeque::new(),
            failure: None,
            closing: None,
            is_closed: false,
            events_in_a_row: 0,
        }
    }

    /// Takes an input in. Its updates come from [`next`](Self::next).
    ///
    /// [`Input::End`] lets all work be finished. [`Input::Close`] stops it: the last update comes within four seconds.
    pub fn handle(&mut self, input: Input) {
        if matches!(input, Input::Close) && self.closing.is_none() {
            self.closing =
                Some(Closing { patience: Some(Box::pin(sleep(LOG_PATIENCE))), deadline: Box::pin(sleep(CLOSING)) });
        }
        self.conversation.handle(input);
        self.settle();
    }

    /// Waits for the next update; `None` when the conversation has ended and its sessions are closed.
    ///
    /// Cancel safe.
    pub async fn next(&mut self) -> Option<Update> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// The state of the conversation: commands, modes, spending.
    pub fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    /// Handle of the session that was opened last.
    pub fn session(&self) -> Option<&SessionHandle> {
        self.driver.session()
    }

    /// The content of an open question.
    pub fn question(&self, id: &str) -> Option<&PermissionRequest> {
        self.questions.get(id).map(|question| &*question.request)
    }

    /// Answers a question. Returns `false` if no answer to it is awaited: it is unknown, answered, or not shown yet.
    pub fn answer(&mut self, id: &str, answer: PermissionAnswer) -> bool {
        if !self.conversation.awaits_answer(id) {
            return false;
        }
        let Some(question) = self.questions.remove(id) else { return false };
        self.handle(Input::Answered(id.to_owned()));
        question.answer.send(Ok(answer)).is_ok()
    }

    /// Takes the reason why the first session could not be opened, which ends the conversation.
    pub fn take_open_failure(&mut self) -> Option<OpenFailure> {
        self.failure.take()
    }

    /// Takes the reason why the session that was opened last could not continue.
    pub fn take_session_failure(&mut self) -> Option<SessionError> {
        self.driver.take_failure()
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Update>> {
        loop {
            self.settle();
            if let Some(update) = self.updates.pop_front() {
                return Poll::Ready(Some(update));
            }
            if self.is_closed {
                return Poll::Ready(None);
            }
            match self.poll_input(cx) {
                Poll::Ready(Some(input)) => self.conversation.handle(input),
                Poll::Ready(None) => {}
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// Takes outputs until there is none.
    fn settle(&mut self) {
        loop {
            while let Some(output) = self.conversation.poll() {
                match output {
                    Output::Update(update) => self.updates.push_back(update),
                    Output::Order(order) => self.carry_out(order),
                }
            }
            match self.inputs.pop_front().or_else(|| self.driver.next_input()) {
                Some(input) => self.conversation.handle(input),
                None => return,
            }
        }
    }

    fn carry_out(&mut self, order: Order) {
        match self.driver.carry_out(order) {
            Some(Order::Open(settings)) => self.opening = Some((self.open)(*settings, self.asker.clone())),
            Some(Order::CopyLog) => self.inputs.push_back(Input::LogCopied),
            Some(Order::Unanswered(id, reason)) => {
                if let Some(question) = self.questions.remove(&id) {
                    // The answer fails when the asker is gone.
                    let _ = question.answer.send(Err(reason));
                }
            }
            Some(Order::FailToOpen) => self.inputs.push_back(Input::Close),
            Some(Order::Finish) => self.opening = None,
            Some(Order::Closed) => self.is_closed = true,
            _ => {}
        }
    }

    /// The next input; `None` if something happened that is no input.
    fn poll_input(&mut self, cx: &mut Context<'_>) -> Poll<Option<Input>> {
        if self.poll_closing(cx).is_ready() {
            return Poll::Ready(None);
        }
        if let Poll::Ready(input) = self.driver.poll_outcome(cx) {
            return Poll::Ready(Some(input));
        }
        let events_first = self.events_in_a_row < EVENTS_IN_A_ROW;
        self.events_in_a_row = if events_first { self.events_in_a_row + 1 } else { 0 };
        if events_first && let Poll::Ready(input) = self.driver.poll_event(cx) {
            return Poll::Ready(Some(input));
        }
        if let Poll::Ready(input) = self.poll_rest(cx) {
            self.events_in_a_row = 0;
            return Poll::Ready(Some(input));
        }
        if !events_first && let Poll::Ready(input) = self.driver.poll_event(cx) {
            return Poll::Ready(Some(input));
        }
        self.events_in_a_row = 0;
        Poll::Pending
    }

    fn poll_rest(&mut self, cx: &mut Context<'_>) -> Poll<Input> {
        if let Some(opening) = &mut self.opening
            && let Poll::Ready(opened) = opening.as_mut().poll(cx)
        {
            self.opening = None;
            return Poll::Ready(match opened {
                Ok(opened) => Input::Opened(Box::new(self.driver.opened(opened))),
                Err(failure) => {
                    let reason = failure.to_string();
                    self.failure = Some(failure);
                    Input::NotOpened(reason)
                }
            });
        }
        if let Poll::Ready(Some(asked)) = self.asked.poll_recv(cx) {
            return Poll::Ready(match asked {
                Asked::Question(question, request, answer) => {
                    self.questions.insert(question.id.clone(), OpenQuestion { request, answer });
                    Input::Question(question)
                }
                Asked::Dropped(id) => {
                    self.questions.remove(&id);
                    Input::Withdrawn(id)
                }
            });
        }
        self.driver.poll_timer(cx)
    }

    /// Ready when the limit of an early end is reached.
    fn poll_closing(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(Closing { patience, deadline }) = &mut self.closing else { return Poll::Pending };
        if patience.as_mut().is_some_and(|patience| patience.as_mut().poll(cx).is_ready()) {
            *patience = None;
            self.driver.give_up_logs(LOG_PATIENCE);
        }
        if deadline.as_mut().poll(cx).is_ready() {
            self.is_closed = true;
            return Poll::Ready(());
        }
        Poll::Pending
    }
}
