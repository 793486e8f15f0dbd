//! Handle of a session, through which a host sends commands.

mod agents;
mod approval;
pub(crate) mod conversation;
pub(crate) mod event_feed;
pub(crate) mod event_stream;
mod files;
pub(crate) mod session;
mod side_call;
mod tasks;
mod watched_json;

use crate::SessionError;
use crate::budget::price_check::PriceCheck;
use crate::commands::SessionCommand;
use crate::events::queue::EventQueue;
use crate::questions::open_questions::{AnswerError, OpenQuestions};
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

/// Result of a session, once it has ended.
pub(crate) type Ended = Option<Result<(), SessionError>>;

/// Handle for commands to a session. Cheap to clone; outlives the event stream.
///
/// Commands are carried out in the order in which they are sent. Sending one to a closed session is an error, never a
/// silent loss.
#[derive(Debug, Clone)]
pub struct SessionHandle {
    session_id: SessionId,
    commands: CommandSender,
    /// `true` once somebody has closed the session. Later commands are refused, because they would be lost.
    closing: Arc<AtomicBool>,
    ended: watch::Receiver<Ended>,
    questions: OpenQuestions,
    events: Arc<EventQueue>,
    prices: PriceCheck,
    /// Random id of this opening; differs each time the session is opened.
    opening: Arc<str>,
}

/// Sender of commands to a session.
#[derive(Debug, Clone)]
enum CommandSender {
    /// Keeps the session open.
    Strong(mpsc::UnboundedSender<SessionCommand>),
    /// Does not keep the session open.
    Weak(mpsc::WeakUnboundedSender<SessionCommand>),
}

impl CommandSender {
    fn send(&self, command: SessionCommand) -> Result<(), SessionError> {
        let sent = match self {
            Self::Strong(commands) => commands.send(command).ok(),
            Self::Weak(commands) => commands.upgrade().and_then(|commands| commands.send(command).ok()),
        };
        sent.ok_or(SessionError::Closed)
    }

    fn weak(&self) -> mpsc::WeakUnboundedSender<SessionCommand> {
        match self {
            Self::Strong(commands) => commands.downgrade(),
            Self::Weak(commands) => commands.clone(),
        }
    }
}

/// The model that a session is to call.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum ModelSelection {
    /// By its name, id or alias, as the session's provider knows it.
    Name(String),
    /// A whole profile: id, limits and price.
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
        commands: mpsc::UnboundedSender<SessionCommand>,
        ended: watch::Receiver<Ended>,
        (questions, events, opening): (OpenQuestions, Arc<EventQueue>, Arc<str>),
        prices: PriceCheck,
    ) -> Self {
        let commands = CommandSender::Strong(commands);
        Self { session_id, commands, closing: Arc::default(), ended, questions, events, prices, opening }
    }

    /// Returns a weak handle, which does not keep a session open whose stream is
    /// [detached](crate::EventStream::detach): for code that follows the session without being its user.
    #[must_use]
    pub fn weak(&self) -> Self {
        Self { commands: CommandSender::Weak(self.commands.weak()), ..self.clone() }
    }

    /// Returns a guard that closes the session when the guard is dropped.
    pub(crate) fn guard(&self, commands: mpsc::UnboundedSender<SessionCommand>) -> Guard {
        Guard { commands, closing: Arc::clone(&self.closing), is_armed: true }
    }

    fn send_input(&self, input: Input) -> Result<(), SessionError> {
        self.command(SessionCommand::Input(input))
    }

    pub(crate) fn command(&self, command: SessionCommand) -> Result<(), SessionError> {
        if self.closing.load(Ordering::Acquire) {
            return Err(SessionError::Closed);
        }
        self.commands.send(command)
    }

    /// Returns the id of the session.
    pub fn session_id(&self) -> &SessionId {
        &self.session_id
    }

    /// Random id of this opening of the session, 32 hexadecimal digits. Each opening numbers its events from zero, so a
    /// client that comes back gives the id and the number.
    pub fn opening(&self) -> &str {
        &self.opening
    }

    /// Starts a run with a prompt, or queues it behind the run in progress.
    ///
    /// # Errors
    /// The session is closed.
    pub fn prompt(&self, prompt: impl Into<Prompt>) -> Result<(), SessionError> {
        self.send_input(Input::Prompt(prompt.into()))
    }

    /// Continues the last run in a new run. The last run may belong to an earlier opening of the session.
    ///
    /// If the run waits for answers ([`Outcome::Pending`](windlass_types::Outcome::Pending)), its open calls are
    /// prepared, shown to hooks and decided again. Approved calls run only if they are unchanged. For calls without an
    /// answer, the question is asked again or stays open.
    ///
    /// A run whose process ended, or that was [handed over](Self::hand_over), continues where the log ends. Stored work
    /// is not repeated, a call whose outcome is unknown does not run again, and accepted messages join the run. A run
    /// that was resumed three times fails if it gained neither a model message nor a result. If there is nothing to
    /// continue, the new run fails.
    ///
    /// # Errors
    /// The session is closed.
    pub fn continue_run(&self) -> Result<(), SessionError> {
        self.send_input(Input::Prompt(Prompt::continue_run()))
    }

    /// Adds content that the model reads with the next prompt. No model request is made. The content waits its turn
    /// like a prompt, and has a run of its own, which ends with an empty success once the text is durable.
    ///
    /// # Errors
    /// The session is closed.
    pub fn note(&self, content: Vec<ContentBlock>) -> Result<(), SessionError> {
        self.send_input(Input::Prompt(Prompt::note(content)))
    }

    /// Replaces the conversation by a summary that the model writes, with an emphasis on `focus`. The compaction waits
    /// its turn like a prompt, and has a run of its own. The old conversation stays in the log.
    ///
    /// # Errors
    /// The session is closed.
    pub fn compact(&self, focus: Option<&str>) -> Result<(), SessionError> {
        self.send_input(Input::Prompt(Prompt::compact(focus.unwrap_or_default())))
    }

    /// Sends a message to the run in progress. The model reads it at the next safe point: after the tools of this turn,
    /// or before the run would end. The run continues with it, and has one result for all its messages.
    /// UserPromptSubmit hooks judge the message while tools run, and may reject it.
    ///
    /// If the run ends before the model reads the message (a limit, a failure, an interrupt), the message becomes a
    /// prompt with a run of its own, before the waiting prompts. Without a run in progress it becomes a prompt at once;
    /// a note or compaction always does. Messages keep their order. The fate of a message is an event,
    /// [`EventKind::Steered`](windlass_types::EventKind::Steered), with the id of [`Prompt::with_id`].
    ///
    /// # Errors
    /// The session is closed.
    pub fn steer(&self, prompt: impl Into<Prompt>) -> Result<(), SessionError> {
        self.send_input(Input::Steer(prompt.into()))
    }

    /// Sends a message to the run in progress, as [`steer`](Self::steer) does, but only to this run: an undeliverable
    /// message does not become a prompt. It is given back, see
    /// [`SteeredFate::Returned`](windlass_types::SteeredFate::Returned).
    ///
    /// # Errors
    /// The session is closed.
    pub fn offer(&self, prompt: impl Into<Prompt>) -> Result<(), SessionError> {
        self.send_input(Input::Offer(prompt.into()))
    }

    /// Withdraws the message with this id, if the run has not read it yet. An event reports the result: the message has
    /// been [`Returned`](windlass_types::SteeredFate::Returned), or had another fate before.
    ///
    /// # Errors
    /// The session is closed.
    pub fn withdraw(&self, id: EntryId) -> Result<(), SessionError> {
        self.send_input(Input::Withdraw(id))
    }

    /// Stops the run. Its outcome is an interrupt; the session continues.
    ///
    /// # Errors
    /// The session is closed.
    pub fn interrupt(&self) -> Result<(), SessionError> {
        self.send_input(Input::Interrupt)
    }

    /// Stops one call; the run continues, and the model reads that the call was stopped.
    ///
    /// # Errors
    /// The session is closed.
    pub fn stop_tool(&self, id: ToolUseId) -> Result<(), SessionError> {
        self.send_input(Input::StopTool(id))
    }

    /// Sets the model from the next request on: by a name, id or alias that the session's provider knows, such as
    /// `haiku`, or by a whole profile. An unknown name that is similar to a known one makes a
    /// [notice](windlass_types::Status::Notice).
    ///
    /// # Errors
    /// The session is closed, the name is empty, or the price of the model is not known and the session has a budget
    /// that refuses such models ([`SessionError::UnpricedModel`]). The model stays as it is then.
    pub fn set_model(&self, model: impl Into<ModelSelection>) -> Result<(), SessionError> {
        match model.into() {
            ModelSelection::Name(name) if name.trim().is_empty() => Err(SessionError::EmptyModelName),
            ModelSelection::Name(name) => {
                self.prices.check_named(&name)?;
                self.command(SessionCommand::Model(name))
            }
            ModelSelection::Profile(profile) => {
                self.prices.check(&profile)?;
                self.send_input(Input::SetModel(profile))
            }
        }
    }

    /// Returns the questions that wait for an answer, of all agents of the session, in the order in which they were
    /// asked. A question is listed before its event,
    /// [`PermissionRequested`](windlass_types::EventKind::PermissionRequested), and until it is answered or withdrawn.
    ///
    /// While no run is in progress, the list has the questions that the last run left open
    /// ([`Outcome::Pending`](windlass_types::Outcome::Pending)), also one of an earlier opening, unless another process
    /// has answered them. They can be answered once the run [continues](Self::continue_run); the next prompt withdraws
    /// them.
    pub fn open_questions(&self) -> Vec<PermissionRequest> {
        self.questions.list()
    }

    /// Answers a question by its [id](PermissionRequest::id). The first answer wins, whether from a handle or from
    /// the session's callback. Hooks that deny take precedence.
    ///
    /// # Errors
    /// The question is not open any more, or never was, or its run has to be [continued](Self::continue_run) first.
    pub fn answer(&self, id: &QuestionId, answer: PermissionAnswer) -> Result<(), AnswerError> {
        self.questions.answer(id, answer)
    }

    pub(crate) fn events(&self) -> &Arc<EventQueue> {
        &self.events
    }

    /// Sets the permission mode from now on. A mode that the session does not permit is refused with a notice.
    ///
    /// # Errors
    /// The session is closed.
    pub fn set_permission_mode(&self, mode: PermissionMode) -> Result<(), SessionError> {
        self.send_input(Input::SetPermissionMode(mode))
    }

    /// Sets the mode of reasoning from the next request on.
    ///
    /// # Errors
    /// The session is closed.
    pub fn set_thinking(&self, thinking: Thinking) -> Result<(), SessionError> {
        self.send_input(Input::SetThinking(thinking))
    }

    /// Sets the effort from the next request on; `None` leaves it to the model.
    ///
    /// # Errors
    /// The session is closed.
    pub fn set_effort(&self, effort: Option<Effort>) -> Result<(), SessionError> {
        self.send_input(Input::SetEffort(effort))
    }

    /// Replaces the offered tools from the next request on. Calls that were already received keep the tool that they
    /// named. The provider's prompt cache of the conversation is lost when the tools differ.
    ///
    /// # Errors
    /// The session is closed.
    pub fn set_tools(&self, tools: ToolSet) -> Result<(), SessionError> {
        self.command(SessionCommand::Tools(tools))
    }

    /// Replaces the instructions of tool servers. The model reads new ones with the next prompt or the next tool
    /// results, once, and only if a tool of the server is offered.
    ///
    /// # Errors
    /// The session is closed.
    pub fn set_instructions(&self, instructions: Vec<ServerInstructions>) -> Result<(), SessionError> {
        self.send_input(Input::SetInstructions(instructions.into()))
    }

    /// Adds instruction files: the model reads those that are new to the conversation with its next prompt, or the next
    /// tool results.
    ///
    /// # Errors
    /// The session is closed.
    pub fn add_instructions(&self, files: Vec<FileInstructions>) -> Result<(), SessionError> {
        self.send_input(Input::AddInstructions(files))
    }

    /// Reports a [notice](windlass_types::Status::Notice) to everyone who follows the events: in the run in progress,
    /// or else when the next one begins.
    ///
    /// # Errors
    /// The session is closed.
    pub fn notice(&self, message: impl Into<String>) -> Result<(), SessionError> {
        self.send_input(Input::Notice(message.into()))
    }

    /// Adds texts that the model reads with its next turn, once. Texts beyond the limit of a turn are left out.
    ///
    /// # Errors
    /// The session is closed.
    pub fn add_context(&self, texts: Vec<String>) -> Result<(), SessionError> {
        self.send_input(Input::AddContext(texts))
    }

    /// Reloads the events to which hooks listen. Calls that are already being judged may still use the old events.
    ///
    /// # Errors
    /// The session is closed.
    pub fn renew_hooks(&self) -> Result<(), SessionError> {
        self.command(SessionCommand::Hooks)
    }

    /// Runs the hooks of the session for an event that only the host sees, such as a
    /// [`ConfigChange`](windlass_types::hook::event::ConfigChange), and returns their merged answers. The run in
    /// progress does not wait for them. The model reads feedback of the hooks with its next turn.
    ///
    /// Cancel safe: the hooks run even if no one waits for the answer.
    ///
    /// # Errors
    /// The session is closed.
    pub async fn ask_hooks(&self, call: impl Into<HookCall>) -> Result<HookOutcome, SessionError> {
        let (sender, answer) = oneshot::channel();
        self.command(SessionCommand::AskHooks(Box::new(call.into()), sender))?;
        answer.await.map_err(|_| SessionError::Closed)
    }

    /// Updates permissions, as an answer to a permission request can: calls that have not begun are judged again. An
    /// invalid update is ignored with a notice.
    ///
    /// # Errors
    /// The session is closed.
    pub fn update_permissions(&self, updates: Vec<PermissionUpdate>) -> Result<(), SessionError> {
        self.send_input(Input::UpdatePermissions(updates))
    }

    /// Replaces the permissions of settings files by their current ones: calls that have not begun are judged again,
    /// also those of agents. Invalid values change nothing, and a notice reports them.
    ///
    /// # Errors
    /// The session is closed.
    pub fn renew_settings(&self, before: SettingsRules, now: SettingsRules) -> Result<(), SessionError> {
        self.send_input(Input::RenewSettings(Box::new((before, now))))
    }

    /// Replaces the environment of programs from the next call on.
    ///
    /// # Errors
    /// The session is closed.
    pub fn set_environment(&self, env: Vec<(OsString, OsString)>) -> Result<(), SessionError> {
        self.command(SessionCommand::Environment(env))
    }

    /// Sets these variables in the environment of programs from the next call on, and removes those without a value.
    ///
    /// # Errors
    /// The session is closed.
    pub fn change_environment(&self, changes: Vec<(OsString, Option<OsString>)>) -> Result<(), SessionError> {
        self.command(SessionCommand::Variables(changes))
    }

    /// Returns `true` if the session has ended: every further command is an error.
    pub fn has_ended(&self) -> bool {
        self.ended.borrow().is_some()
    }

    /// Ends the session, as [`close`](Self::close), without waiting for it.
    pub(crate) fn begin_close(&self) {
        self.closing.store(true, Ordering::Release);
        // A send fails only when the session has ended already.
        let _ = self.commands.send(SessionCommand::Input(Input::Close));
    }

    /// Ends the session: stops the run, settles every open call, and waits until
    /// everything is durable. Closing twice is fine.
    ///
    /// Bounded: a log that does not answer is given up after 30 seconds of silence.
    ///
    /// Cancel safe: the session closes even if nobody waits for it.
    ///
    /// # Errors
    /// The store refused or did not answer, so something may not be durable; or a bug ended the session. The event
    /// stream ends with the same error.
    pub async fn close(&self) -> Result<(), SessionError> {
        self.begin_close();
        self.end_result().await
    }

    /// Hands the session over: the run leaves at its next safe point without an end, and the next process that opens
    /// the session continues it ([`continue_run`](Self::continue_run)). A model request is dropped at once. Running
    /// calls are waited for; after `grace` they are stopped, and the model will read that their outcome is unknown.
    /// Waiting messages stay in the log, and the conversation does not mention the handover. The result is
    /// [`Outcome::HandedOver`](windlass_types::Outcome::HandedOver). Background work ends as when the session is
    /// closed.
    ///
    /// Cancel safe: the handover continues without the future, but then no running call is stopped after `grace`.
    ///
    /// # Errors
    /// The end of the log may be missing in the store, for the reasons of [`close`](Self::close).
    pub async fn hand_over(&self, grace: Duration) -> Result<(), SessionError> {
        self.closing.store(true, Ordering::Release);
        // A send fails only when the session has ended already.
        let _ = self.commands.send(SessionCommand::Input(Input::HandOver));
        let mut ended = self.ended.clone();
        if tokio::time::timeout(grace, ended.wait_for(Option::is_some)).await.is_err() {
            let _ = self.commands.send(SessionCommand::Input(Input::HandOverNow));
        }
        self.end_result().await
    }

    /// Waits until the session has ended, and returns how.
    async fn end_result(&self) -> Result<(), SessionError> {
        let mut ended = self.ended.clone();
        match ended.wait_for(Option::is_some).await {
            Ok(ended) => ended.clone().unwrap_or(Ok(())),
            // The session ended before the driver began.
            Err(_) => Err(SessionError::RuntimeEnded),
        }
    }

    /// Ends the wait for the log of a closing session. A session whose log has not answered ends with an error that
    /// names the time `waited` and the entries which may not be stored. Has no effect on a session that is not being
    /// closed, or whose log has answered.
    pub fn give_up_log(&self, waited: Duration) {
        // A send fails only when the session has ended already.
        let _ = self.commands.send(SessionCommand::Input(Input::GiveUpLog(waited)));
    }

    /// Returns the use of the context window by the next request, part by part. No request is made.
    ///
    /// Cancel safety: the call may be dropped at any time.
    ///
    /// # Errors
    /// The session is closed.
    pub async fn context_usage(&self) -> Result<ContextUsage, SessionError> {
        let (sender, answer) = oneshot::channel();
        self.command(SessionCommand::ContextUsage(sender))?;
        answer.await.map_err(|_| SessionError::Closed)
    }

    /// Returns the permission mode in which calls are judged, after all earlier commands. Cancel safe.
    ///
    /// # Errors
    /// The session is closed.
    pub async fn permission_mode(&self) -> Result<PermissionMode, SessionError> {
        let (sender, answer) = oneshot::channel();
        self.command(SessionCommand::PermissionMode(sender))?;
        answer.await.map_err(|_| SessionError::Closed)
    }

    /// Waits until the session has ended, without ending it. Cancel safe. The future is no handle: a session whose
    /// stream is [detached](crate::EventStream::detach) ends when only the future is left.
    pub fn ended(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut ended = self.ended.clone();
        async move {
            let _ = ended.wait_for(Option::is_some).await;
        }
    }
}

/// Closes the session when the host drops its events.
#[derive(Debug)]
pub(crate) struct Guard {
    commands: mpsc::UnboundedSender<SessionCommand>,
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
        let _ = self.commands.send(SessionCommand::Input(Input::Close));
    }
}
