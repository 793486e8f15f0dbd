//! Orders to a session.

use crate::events::EventQueue;
use crate::open_questions::OpenQuestions;
use crate::order::Order;
use crate::{AnswerError, EventFeed, SessionError, UnknownPosition};
use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};
use windlass_context::{FileInstructions, ServerInstructions};
use windlass_core::{Input, ModelProfile, Prompt};
use windlass_permission::SettingsRules;
use windlass_tool::ToolSet;
use windlass_types::{
    ContentBlock, ContextUsage, Effort, EntryId, HookCall, HookOutcome, PermissionAnswer, PermissionMode,
    PermissionRequest, PermissionUpdate, QuestionId, SessionId, Thinking, ToolUseId,
};

/// How a session has ended, when it has.
pub(crate) type Ended = Option<Result<(), SessionError>>;

/// Orders to a session. Cheap to clone; outlives the event stream.
///
/// Orders are carried out in the order in which they are given. Giving one to a
/// session that is closed is an error, never a silent loss.
#[derive(Debug, Clone)]
pub struct SessionHandle {
    session_id: SessionId,
    orders: Orders,
    /// Whether somebody closed it: what is ordered from then on would be lost.
    closing: Arc<AtomicBool>,
    ended: watch::Receiver<Ended>,
    questions: OpenQuestions,
    events: Arc<EventQueue>,
    /// Differs each time the session is opened.
    opening: Arc<str>,
}

/// The way of orders to a session.
#[derive(Debug, Clone)]
enum Orders {
    /// Keeps the session open.
    Holding(mpsc::UnboundedSender<Order>),
    /// Does not.
    Weak(mpsc::WeakUnboundedSender<Order>),
}

impl Orders {
    fn send(&self, order: Order) -> Result<(), SessionError> {
        let sent = match self {
            Self::Holding(orders) => orders.send(order).ok(),
            Self::Weak(orders) => orders.upgrade().and_then(|orders| orders.send(order).ok()),
        };
        sent.ok_or(SessionError::Closed)
    }

    fn weak(&self) -> mpsc::WeakUnboundedSender<Order> {
        match self {
            Self::Holding(orders) => orders.downgrade(),
            Self::Weak(orders) => orders.clone(),
        }
    }
}

/// The model that a session is to call.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum ModelSelection {
    /// By its name, id or alias, as the session's provider knows it.
    Name(String),
    /// By all that is known of it.
    Profile(Box<ModelProfile>),
}

impl From<&str> for ModelSelection {
    fn from(name: &str) -> Self {
        Self::Name(name.to_owned())
    }
}

impl From<String> for ModelSelection {
    fn from(name: String) -> Self {
        Self::Name(name)
    }
}

impl From<ModelProfile> for ModelSelection {
    fn from(profile: ModelProfile) -> Self {
        Self::Profile(Box::new(profile))
    }
}

impl SessionHandle {
    pub(crate) fn new(
        session_id: SessionId,
        orders: mpsc::UnboundedSender<Order>,
        ended: watch::Receiver<Ended>,
        (questions, events, opening): (OpenQuestions, Arc<EventQueue>, Arc<str>),
    ) -> Self {
        let orders = Orders::Holding(orders);
        Self { session_id, orders, closing: Arc::default(), ended, questions, events, opening }
    }

    /// The same handle, but one that does not keep a session open whose stream is
    /// [detached](crate::EventStream::detach): for what follows the session and is not its user.
    #[must_use]
    pub fn weak(&self) -> Self {
        Self { orders: Orders::Weak(self.orders.weak()), ..self.clone() }
    }

    /// Closes the session when it is dropped.
    pub(crate) fn guard(&self, orders: mpsc::UnboundedSender<Order>) -> Guard {
        Guard { orders, closing: Arc::clone(&self.closing), is_armed: true }
    }

    fn give(&self, input: Input) -> Result<(), SessionError> {
        self.order(Order::Input(input))
    }

    pub(crate) fn order(&self, order: Order) -> Result<(), SessionError> {
        if self.closing.load(Ordering::Acquire) {
            return Err(SessionError::Closed);
        }
        self.orders.send(order)
    }

    /// The session.
    pub fn session_id(&self) -> &SessionId {
        &self.session_id
    }

    /// What tells this opening of the session from all others: 32 hexadecimal digits, which are random. The numbers of
    /// events begin anew with each opening, so a client that comes back gives both.
    pub fn opening(&self) -> &str {
        &self.opening
    }

    /// Starts a run with a prompt, or queues it behind the run in progress.
    ///
    /// # Errors
    /// The session is closed.
    pub fn prompt(&self, prompt: impl Into<Prompt>) -> Result<(), SessionError> {
        self.give(Input::Prompt(prompt.into()))
    }

    /// Continues the run that waits for answers ([`Outcome::Pending`](windlass_types::Outcome::Pending)), also one of an
    /// earlier opening of the session: its open calls are read, shown to hooks and judged anew, and those run that were
    /// approved as they are now. What has no answer yet is asked, or stays open. Where no question is open, the run that
    /// this starts fails.
    ///
    /// # Errors
    /// The session is closed.
    pub fn continue_run(&self) -> Result<(), SessionError> {
        self.give(Input::Prompt(Prompt::continue_run()))
    }

    /// Adds something to the conversation without asking the model: it is read
    /// with the next prompt. It waits its turn like a prompt, and has a run of
    /// its own, which ends with an empty success once the text is durable.
    ///
    /// # Errors
    /// The session is closed.
    pub fn note(&self, content: Vec<ContentBlock>) -> Result<(), SessionError> {
        self.give(Input::Prompt(Prompt::note(content)))
    }

    /// Replaces the conversation by a summary of it that the model writes, with care for what
    /// `focus` says. It waits its turn like a prompt, and has a run of its own. The old
    /// conversation stays in the log.
    ///
    /// # Errors
    /// The session is closed.
    pub fn compact(&self, focus: Option<&str>) -> Result<(), SessionError> {
        self.give(Input::Prompt(Prompt::compact(focus.unwrap_or_default())))
    }

    /// Sends a message to the run in progress. The model reads it at the
    /// next safe point: after the tools of this turn, or before the run would end;
    /// the run continues with it, and has one result for all its messages.
    /// UserPromptSubmit hooks are asked about it while tools run, and may keep it out.
    ///
    /// If the run ends before (a limit, a failure, an interrupt), it is a prompt with a
    /// run of its own, before the prompts that wait; without a run it is a prompt at once,
    /// as are notes and compactions. Messages keep their order. What became of one is an event,
    /// [`EventKind::Steered`](windlass_types::EventKind::Steered), with the id of [`Prompt::with_id`].
    ///
    /// # Errors
    /// The session is closed.
    pub fn steer(&self, prompt: impl Into<Prompt>) -> Result<(), SessionError> {
        self.give(Input::Steer(prompt.into()))
    }

    /// Sends a message to the run in progress, as [`steer`](Self::steer) does, but only to
    /// it: what cannot be delivered does not become a prompt. It is given back, see
    /// [`SteeredFate::Returned`](windlass_types::SteeredFate::Returned).
    ///
    /// # Errors
    /// The session is closed.
    pub fn offer(&self, prompt: impl Into<Prompt>) -> Result<(), SessionError> {
        self.give(Input::Offer(prompt.into()))
    }

    /// Takes a message back that was sent to the run with this id, if the run has not read it
    /// yet. Whether that was so is an event: the message has been
    /// [`Returned`](windlass_types::SteeredFate::Returned), or something else has become of it before.
    ///
    /// # Errors
    /// The session is closed.
    pub fn withdraw(&self, id: EntryId) -> Result<(), SessionError> {
        self.give(Input::Withdraw(id))
    }

    /// Stops the run. Its result is that it was interrupted; the session continues.
    ///
    /// # Errors
    /// The session is closed.
    pub fn interrupt(&self) -> Result<(), SessionError> {
        self.give(Input::Interrupt)
    }

    /// Stops one call; the run continues, and the model reads that the call was stopped.
    ///
    /// # Errors
    /// The session is closed.
    pub fn stop_tool(&self, id: ToolUseId) -> Result<(), SessionError> {
        self.give(Input::StopTool(id))
    }

    /// Calls this model from the next request on: a name, id or alias that the session's provider knows, such as
    /// `haiku`, or a whole profile. A name that is not known and is near one that is known makes a
    /// [notice](windlass_types::Status::Notice).
    ///
    /// # Errors
    /// The session is closed, or the name is empty.
    pub fn set_model(&self, model: impl Into<ModelSelection>) -> Result<(), SessionError> {
        match model.into() {
            ModelSelection::Name(name) if name.trim().is_empty() => Err(SessionError::EmptyModelName),
            ModelSelection::Name(name) => self.order(Order::Model(name)),
            ModelSelection::Profile(profile) => self.give(Input::SetModel(profile)),
        }
    }

    /// The questions that wait for an answer, of all agents of the session, in the order in which they were asked. A
    /// question is there before its event, [`PermissionRequested`](windlass_types::EventKind::PermissionRequested), and
    /// until it is answered or withdrawn.
    pub fn open_questions(&self) -> Vec<PermissionRequest> {
        self.questions.list()
    }

    /// Answers a question by its [id](PermissionRequest::id). The first answer counts, of any handle or of the
    /// session's callback; hooks that deny count for more.
    ///
    /// # Errors
    /// The question is not open any more, or never was.
    pub fn answer(&self, id: &QuestionId, answer: PermissionAnswer) -> Result<(), AnswerError> {
        self.questions.answer(id, answer)
    }

    /// Watches the session from now on, beside its stream and other watchers.
    ///
    /// Events are kept for watchers from the first subscription, or from
    /// [`EventStream::detach`](crate::EventStream::detach), on: at most the last 4,096 and 4 MiB of them.
    pub fn subscribe(&self) -> EventFeed {
        EventFeed::now(self.clone())
    }

    /// Watches the session from the event with this number on: first what is kept of the past, then what comes. What is
    /// kept no longer is said ([`Watched::Missed`](crate::Watched::Missed)). A watcher that comes back begins behind the
    /// last event that it has seen.
    ///
    /// # Errors
    /// The session has not come that far. Numbers begin anew each time a session is opened, so this may be a position of
    /// an earlier time.
    pub fn subscribe_from(&self, seq: u64) -> Result<EventFeed, UnknownPosition> {
        EventFeed::from(self.clone(), seq)
    }

    pub(crate) fn events(&self) -> &Arc<EventQueue> {
        &self.events
    }

    /// Judges calls by this mode from now on. A mode that the session does not
    /// permit is refused with a notice.
    ///
    /// # Errors
    /// The session is closed.
    pub fn set_permission_mode(&self, mode: PermissionMode) -> Result<(), SessionError> {
        self.give(Input::SetPermissionMode(mode))
    }

    /// Reasons like this from the next request on.
    ///
    /// # Errors
    /// The session is closed.
    pub fn set_thinking(&self, thinking: Thinking) -> Result<(), SessionError> {
        self.give(Input::SetThinking(thinking))
    }

    /// Spends so much on an answer from the next request on; `None` leaves it to the model.
    ///
    /// # Errors
    /// The session is closed.
    pub fn set_effort(&self, effort: Option<Effort>) -> Result<(), SessionError> {
        self.give(Input::SetEffort(effort))
    }

    /// Offers these tools, and no others, from the next request on. Calls that
    /// were read already continue with the tool that they named. The provider's
    /// cache of the conversation is lost when the tools differ.
    ///
    /// # Errors
    /// The session is closed.
    pub fn set_tools(&self, tools: ToolSet) -> Result<(), SessionError> {
        self.order(Order::Tools(tools))
    }

    /// Takes what the servers of tools say of their use now. The model reads what is new with the next prompt or the next
    /// results of tools, once, and only if a tool of the server is offered.
    ///
    /// # Errors
    /// The session is closed.
    pub fn set_instructions(&self, instructions: Vec<ServerInstructions>) -> Result<(), SessionError> {
        self.give(Input::SetInstructions(instructions.into()))
    }

    /// Takes more instructions of files: the model reads those that are new to the conversation with its next prompt, or the next
    /// results of tools.
    ///
    /// # Errors
    /// The session is closed.
    pub fn add_instructions(&self, files: Vec<FileInstructions>) -> Result<(), SessionError> {
        self.give(Input::AddInstructions(files))
    }

    /// Reports something to whoever follows the events, as a [notice](windlass_types::Status::Notice): in the run in progress, or else when the
    /// next one begins.
    ///
    /// # Errors
    /// The session is closed.
    pub fn notice(&self, message: impl Into<String>) -> Result<(), SessionError> {
        self.give(Input::Notice(message.into()))
    }

    /// Has the model read texts with its next turn, once. What is too much for a turn is left out.
    ///
    /// # Errors
    /// The session is closed.
    pub fn add_context(&self, texts: Vec<String>) -> Result<(), SessionError> {
        self.give(Input::AddContext(texts))
    }

    /// Asks the hooks anew what they listen to. From then on they are asked on
    /// those occasions: calls that are being judged already may not count.
    ///
    /// # Errors
    /// The session is closed.
    pub fn renew_hooks(&self) -> Result<(), SessionError> {
        self.order(Order::Hooks)
    }

    /// Asks the hooks of the session about something that only the host sees, such as a
    /// [`ConfigChange`](windlass_types::hook::event::ConfigChange), and returns what they answer together. The run in
    /// progress does not wait for that. What hooks say to the model, it reads with its next turn.
    ///
    /// Cancel safe: the hooks are asked even if no one waits for the answer.
    ///
    /// # Errors
    /// The session is closed.
    pub async fn ask_hooks(&self, call: impl Into<HookCall>) -> Result<HookOutcome, SessionError> {
        let (sender, answer) = oneshot::channel();
        self.order(Order::AskHooks(Box::new(call.into()), sender))?;
        answer.await.map_err(|_| SessionError::Closed)
    }

    /// Changes what is permitted, as an answer to a permission request can:
    /// calls that have not begun are judged again. A change that cannot be used
    /// is ignored with a notice.
    ///
    /// # Errors
    /// The session is closed.
    pub fn update_permissions(&self, updates: Vec<PermissionUpdate>) -> Result<(), SessionError> {
        self.give(Input::UpdatePermissions(updates))
    }

    /// Takes over what settings files say of permissions now, in place of what they said before: calls that have not begun are
    /// judged again, those of agents too. What cannot be used changes nothing, and a notice says so.
    ///
    /// # Errors
    /// The session is closed.
    pub fn renew_settings(&self, before: SettingsRules, now: SettingsRules) -> Result<(), SessionError> {
        self.give(Input::RenewSettings(Box::new((before, now))))
    }

    /// Gives programs this environment, instead of the one before, from the
    /// next call on.
    ///
    /// # Errors
    /// The session is closed.
    pub fn set_environment(&self, env: Vec<(OsString, OsString)>) -> Result<(), SessionError> {
        self.order(Order::Environment(env))
    }

    /// Gives programs these variables from the next call on, beside those that they have, and takes away those without a value.
    ///
    /// # Errors
    /// The session is closed.
    pub fn change_environment(&self, changes: Vec<(OsString, Option<OsString>)>) -> Result<(), SessionError> {
        self.order(Order::Variables(changes))
    }

    /// Whether the session has ended: every order is an error from then on.
    pub fn has_ended(&self) -> bool {
        self.ended.borrow().is_some()
    }

    /// Ends the session, as [`close`](Self::close), without waiting for it.
    pub(crate) fn begin_close(&self) {
        self.closing.store(true, Ordering::Release);
        // A send fails only when the session has ended already.
        let _ = self.orders.send(Order::Input(Input::Close));
    }

    /// Ends the session: stops the run, settles every open call, and waits until
    /// everything is durable. Closing twice is fine.
    ///
    /// Bounded: a log that is silent is waited for until it has been so for 30 seconds.
    ///
    /// Cancel safe: the session closes even if nobody waits for it.
    ///
    /// # Errors
    /// Not everything is durable: the store refused, or did not answer. Or the
    /// session has ended by a bug. The event stream ends with the same error.
    pub async fn close(&self) -> Result<(), SessionError> {
        self.begin_close();
        let mut ended = self.ended.clone();
        match ended.wait_for(Option::is_some).await {
            Ok(ended) => ended.clone().unwrap_or(Ok(())),
            // It ended before the driver began.
            Err(_) => Err(SessionError::RuntimeEnded),
        }
    }

    /// Waits no longer for the log of a session that is being closed, after `waited`: a session whose log has not answered ends
    /// with an error that names what may not be stored. Without effect on a session whose log has answered, or that nobody
    /// closes.
    pub fn give_up_log(&self, waited: Duration) {
        // A send fails only when the session has ended already.
        let _ = self.orders.send(Order::Input(Input::GiveUpLog(waited)));
    }

    /// What takes up the context window, part by part, as of now: what the next request would have. No request is made.
    ///
    /// Cancel safety: the call may be dropped at any time.
    ///
    /// # Errors
    /// The session is closed.
    pub async fn context_usage(&self) -> Result<ContextUsage, SessionError> {
        let (sender, answer) = oneshot::channel();
        self.order(Order::ContextUsage(sender))?;
        answer.await.map_err(|_| SessionError::Closed)
    }

    /// The permission mode that calls are judged in, after all that was ordered before. Cancel safe.
    ///
    /// # Errors
    /// The session is closed.
    pub async fn permission_mode(&self) -> Result<PermissionMode, SessionError> {
        let (sender, answer) = oneshot::channel();
        self.order(Order::PermissionMode(sender))?;
        answer.await.map_err(|_| SessionError::Closed)
    }

    /// Waits until the session has ended, without ending it. Cancel safe. What is returned is no handle: a session whose
    /// stream is [detached](crate::EventStream::detach) ends when it alone is left.
    pub fn ended(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut ended = self.ended.clone();
        async move {
            let _ = ended.wait_for(Option::is_some).await;
        }
    }
}

/// Closes the session when the host lets go of its events.
#[derive(Debug)]
pub(crate) struct Guard {
    orders: mpsc::UnboundedSender<Order>,
    closing: Arc<AtomicBool>,
    is_armed: bool,
}

impl Guard {
    /// Lets the session be closed by its handles alone.
    pub(crate) fn disarm(mut self) {
        self.is_armed = false;
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if !self.is_armed {
            return;
        }
        self.closing.store(true, Ordering::Release);
        let _ = self.orders.send(Order::Input(Input::Close));
    }
}
