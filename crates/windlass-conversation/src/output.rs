//! Outputs of a conversation.

use crate::command::SlashCommand;
use crate::context::ContextReport;
use crate::input::{Generation, RewindScope, Rewound};
use crate::settings::SessionSettings;
use crate::spent::Spent;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;
use windlass_types::{
    Effort, EntryId, Event, JsonText, PermissionMode, PermissionUpdate, Prompt, TaskId, Thinking, ToolUseId,
};

/// Number of a job or a wait whose outcome is awaited.
pub type Ticket = u64;

/// An output of a [`Conversation`](crate::Conversation).
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "a driver has to take each")]
pub enum Output {
    /// News for the people and hosts of the conversation, for a [`Presenter`](crate::Presenter).
    Update(Update),
    /// An effect for the driver.
    Order(Order),
}

/// An effect that the driver carries out.
#[derive(Debug)]
#[non_exhaustive]
pub enum Order {
    /// Opens a session: [`Input::Opened`](crate::Input::Opened) or [`Input::NotOpened`](crate::Input::NotOpened)
    /// answers.
    Open(Box<SessionSettings>),
    /// Closes a session: its events end, and [`Input::SessionClosed`](crate::Input::SessionClosed) answers.
    Close(Generation),
    /// An order for the session that was opened last.
    Session(SessionOrder),
    /// Reports when no run of that session continues: [`Input::Settled`](crate::Input::Settled).
    AwaitSettled(Ticket),
    /// Reports when no work of that session continues: [`Input::Quiet`](crate::Input::Quiet).
    AwaitQuiet(Ticket),
    /// Expands a command: [`Input::Expanded`](crate::Input::Expanded).
    Expand {
        /// Name of the command, without the slash.
        name: String,
        /// Text behind the name.
        arguments: String,
    },
    /// Does a job that may take time: [`Input::Done`](crate::Input::Done).
    Begin(Ticket, Job),
    /// Copies the durable lines of the log to those who keep a copy: [`Input::LogCopied`](crate::Input::LogCopied).
    CopyLog,
    /// Starts a timer: [`Input::Due`](crate::Input::Due).
    Wake(Timer, Duration),
    /// The asker of the question with this id gets no answer.
    Unanswered(String, Unanswered),
    /// The first session could not be opened: the conversation ends with that.
    FailToOpen,
    /// All work is done: sessions are closed next, and no new work begins.
    Finish,
    /// All sessions are closed, and all updates are given.
    Closed,
}

/// Reason why a question gets no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "an asker has to tell them apart")]
pub enum Unanswered {
    /// Nobody is left to answer.
    Gone,
    /// The run that asked was stopped.
    Withdrawn,
}

/// An order for a session.
#[derive(Debug)]
#[non_exhaustive]
pub enum SessionOrder {
    /// Starts a run with a prompt.
    Prompt(Prompt),
    /// Offers a prompt to the run that continues.
    Offer(Prompt),
    /// Takes an offered prompt back.
    Withdraw(EntryId),
    /// Stops the run.
    Interrupt,
    /// Sets the permission mode.
    PermissionMode(PermissionMode),
    /// Sets the model; `None` is the configured one.
    Model(Option<String>),
    /// Sets how the model reasons.
    Thinking(Thinking),
    /// Sets the effort; `None` is the configured one.
    Effort(Option<Effort>),
    /// Changes permission rules.
    Permissions(Vec<PermissionUpdate>),
    /// Stops background work.
    StopTask(TaskId),
    /// Sets environment variables of programs.
    Environment(BTreeMap<String, String>),
}

/// A job that concerns a disk, or needs facts that only an open session has.
#[derive(Debug)]
#[non_exhaustive]
pub enum Job {
    /// Names the session.
    Rename(String),
    /// Reads at most so many bytes at the end of a file.
    FileEnd(PathBuf, u64),
    /// Sets the model, by name; `None` is the configured one. The session takes it before prompts that are ordered
    /// later.
    Model(Option<String>),
    /// Rewinds the session, or previews it.
    Rewind {
        /// Entry of the message to rewind to.
        to: EntryId,
        /// Parts that are rewound.
        scope: RewindScope,
        /// `true` for a preview.
        dry_run: bool,
    },
    /// Reports the use of the context window.
    Context,
    /// Reports the permission mode that is in effect behind the orders before.
    PermissionMode,
    /// Moves one call, or all that can, to the background.
    MoveToBackground(Option<ToolUseId>),
}

/// A timer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Timer {
    /// Limit of the wait for background work at the end.
    BackgroundWait,
    /// Limit of the wait of a rewind for a run.
    Rewind(Ticket),
    /// Limit of the wait for the permission mode in effect.
    PermissionMode(Ticket),
}

/// Updates for the people and hosts of a conversation, in display order.
#[derive(Debug)]
#[non_exhaustive]
pub enum Update {
    /// A session is open, perhaps in the place of the one before.
    Opened(SessionOpened),
    /// An event of a session.
    Event(Box<Event>),
    /// State of a message with an id.
    Message(String, MessageState),
    /// A message is being answered, or joins the run that continues.
    Taken(TakenMessage),
    /// The output of a command that runs without the model, as the result of its turn.
    Local(LocalResult),
    /// A message got no run, with the reason.
    Refused(String),
    /// A warning for the person.
    Warning(String),
    /// State of the session.
    State(SessionState),
    /// The permission mode was set.
    PermissionMode(PermissionMode),
    /// The permission mode was set beside a run, so no event reports it.
    PermissionModeChanged(PermissionMode),
    /// The commands as they are now.
    Commands(Vec<SlashCommand>),
    /// The commands differ from those shown before.
    CommandsChanged(Vec<SlashCommand>),
    /// The conversation continues in a new, empty session, for the message with this id.
    Cleared(Option<String>),
    /// The session has a new title.
    Title(String),
    /// The question with this id is to be shown now: the call that it is about was shown before.
    Question(String),
    /// The question with this id, which was shown, is taken back.
    QuestionWithdrawn(String),
    /// The answer to a request.
    Answer(String, Result<Answer, Refusal>),
}

/// A session that is open.
#[derive(Debug)]
#[non_exhaustive]
pub struct SessionOpened {
    /// Id of the session.
    pub id: String,
    /// File of the transcript, if there is one.
    pub transcript: Option<PathBuf>,
    /// Permission mode.
    pub permission_mode: PermissionMode,
    /// All commands, in the order in which they are listed.
    pub commands: Vec<SlashCommand>,
}

/// State of a message, apart from [`Update::Taken`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MessageState {
    /// Waits for its turn.
    Queued,
    /// Has its result.
    Completed,
    /// Was taken back, or kept out by a hook.
    Cancelled,
}

/// A message whose turn begins, or that joins the run that continues.
#[derive(Debug)]
#[non_exhaustive]
pub struct TakenMessage {
    /// Id that the sender gave it.
    pub id: Option<String>,
    /// Id that the log has for a message without an own one; empty if none was made.
    pub entry: String,
    /// Message as it came, if it was kept.
    pub original: Option<JsonText>,
    /// `true` if it joins the run that continues. Otherwise a turn begins that answers it.
    pub joins: bool,
}

/// The output of a command that runs without the model.
#[derive(Debug)]
#[non_exhaustive]
pub struct LocalResult {
    /// Name of the command, without the slash.
    pub command: String,
    /// Output for people.
    pub text: String,
    /// Use of money and tokens so far.
    pub spent: Spent,
}

/// State of the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SessionState {
    /// Nothing runs, and no message waits.
    Idle,
    /// A turn continues.
    Running,
    /// A question waits for a person.
    RequiresAction,
}

/// The answer to a request.
#[derive(Debug)]
#[non_exhaustive]
pub enum Answer {
    /// The request was carried out.
    Done,
    /// The run is stopped, or none continued.
    Interrupted {
        /// Ids of the messages that still wait.
        still_queued: Vec<String>,
        /// Ids of the messages that were taken back, if that was asked for.
        cancelled: Option<Vec<String>>,
    },
    /// `true` if the message was taken back.
    TakenBack(bool),
    /// Permission mode in effect: the session may have refused the one that was asked for.
    PermissionMode(PermissionMode),
    /// Use of the context window.
    Context(Box<ContextReport>),
    /// Outcome of a rewind.
    Rewind {
        /// `true` for a preview.
        dry_run: bool,
        /// The rewound parts, or the reason why there are none.
        outcome: Result<Rewound, String>,
    },
    /// `true` if a call continues in the background.
    Moved(bool),
    /// End of the output of background work.
    Output {
        /// Text at the end.
        tail: String,
        /// Bytes of the whole output.
        total: u64,
        /// `true` if the output is longer than `tail`.
        is_truncated: bool,
    },
}

/// Reason why a request is not carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// Kind, for programs.
    pub kind: RefusalKind,
    /// Text for people.
    pub reason: String,
}

/// Kind of a [`Refusal`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RefusalKind {
    /// `bypassPermissions` was not allowed at the start.
    BypassNotAllowed,
    /// Settings forbid the mode `auto`.
    AutoForbidden,
    /// The session cannot do this.
    Unsupported,
    /// No session is open yet.
    NotOpen,
    /// Any other reason.
    Other,
}

impl Refusal {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self::of(RefusalKind::Other, reason)
    }

    pub(crate) fn of(kind: RefusalKind, reason: impl Into<String>) -> Self {
        Self { kind, reason: reason.into() }
    }

    pub(crate) fn not_open() -> Self {
        Self::of(RefusalKind::NotOpen, "The session is not open yet: it is opened by the first message.")
    }
}

/// Translator of [`Update`]s into frames, lines or a screen.
///
/// ```
/// use windlass_conversation::{Presenter, Update};
/// use windlass_types::{Delta, EventKind};
///
/// /// Collects the text of the answers.
/// #[derive(Default)]
/// struct Answers(String);
///
/// impl Presenter for Answers {
///     fn present(&mut self, update: Update) {
///         match update {
///             Update::Event(event) => {
///                 if let EventKind::BlockDelta { delta: Delta::Text(text), .. } = &event.kind {
///                     self.0.push_str(text);
///                 }
///             }
///             Update::Local(local) => self.0.push_str(&local.text),
///             Update::Refused(reason) | Update::Warning(reason) => self.0.push_str(&reason),
///             _ => {}
///         }
///     }
/// }
/// ```
pub trait Presenter {
    /// Shows an update.
    fn present(&mut self, update: Update);
}
