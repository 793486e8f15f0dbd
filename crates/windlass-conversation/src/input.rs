//! Inputs of a conversation.

use crate::command::{Expanded, SlashCommand};
use crate::message::Message;
use crate::output::{Ticket, Timer};
use crate::questions::{CallReference, Question};
use std::collections::BTreeMap;
use std::path::PathBuf;
use windlass_session::{Rewind, RewindPoint};
use windlass_types::{
    Behavior, ContentBlock, ContextUsage, Effort, EntryId, Event, PermissionMode, RuleValue, TaskId, Thinking,
    ToolUseId,
};

/// Number of a session within its conversation, from 1 on: `/clear` opens the next one.
pub type Generation = u64;

/// An input of a [`Conversation`](crate::Conversation): first those of people and hosts, then those of the driver.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Input {
    /// A message that becomes a prompt.
    Message(Box<Message>),
    /// A request, answered once by [`Update::Answer`](crate::Update::Answer) with this id.
    Request(String, Request),
    /// Environment variables of the programs that the session starts from now on, in addition to earlier ones.
    Environment(BTreeMap<String, String>),
    /// A question for the person, shown by [`Update::Question`](crate::Update::Question).
    Question(Question),
    /// The person has answered the question with this id.
    Answered(String),
    /// The asker withdraws the question with this id.
    Withdrawn(String),
    /// Messages and openings wait until [`Input::Released`]. Holds are counted.
    Held,
    /// Ends one hold.
    Released,
    /// Replaces the custom commands while no session is open.
    Commands(Vec<SlashCommand>),
    /// No further message comes: the conversation ends when everything asked for is done.
    End,
    /// The conversation ends now.
    Close,
    /// An event of a session.
    Event(Generation, Box<Event>),
    /// The events of a session have ended; with the reason, if it could not continue.
    Ended(Generation, Option<String>),
    /// A session is closed after [`Order::Close`](crate::Order::Close): everything is durable, and its work is over.
    SessionClosed(Generation),
    /// The session of [`Order::Open`](crate::Order::Open) is open.
    Opened(Box<SessionFacts>),
    /// The session could not be opened, with the reason.
    NotOpened(String),
    /// The expansion of a command after [`Order::Expand`](crate::Order::Expand).
    Expanded(Expanded),
    /// The open session has other commands from now on.
    CommandsChanged(Vec<SlashCommand>),
    /// The outcome of a job.
    Done(Ticket, Outcome),
    /// No run continues, and none is about to begin: answers [`Order::AwaitSettled`](crate::Order::AwaitSettled).
    Settled(Ticket),
    /// The same, and no background work continues: answers [`Order::AwaitQuiet`](crate::Order::AwaitQuiet).
    Quiet(Ticket),
    /// The durable lines of the log were copied: answers [`Order::CopyLog`](crate::Order::CopyLog).
    LogCopied,
    /// A timer has run out.
    Due(Timer),
}

/// A request of a person or a host.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Request {
    /// Stops the run. Answered by [`Answer::Interrupted`](crate::Answer::Interrupted).
    Interrupt {
        /// `true` if the messages that wait are taken back as well.
        cancels_queued: bool,
    },
    /// Takes back the message with this id, if it waits. Answered by [`Answer::TakenBack`](crate::Answer::TakenBack).
    TakeBack(String),
    /// Sets the permission mode. Answered by [`Answer::PermissionMode`](crate::Answer::PermissionMode) with the mode in
    /// effect.
    PermissionMode(PermissionMode),
    /// Sets the model, by name; `None` is the one that the session is configured with.
    Model(Option<String>),
    /// Sets how the model reasons; `None` is the configured way.
    Thinking(Option<Thinking>),
    /// Changes settings: all of them at once.
    Settings(SettingsChange),
    /// Names the session.
    Rename(String),
    /// Rewinds files, the conversation, or both. Answered by [`Answer::Rewind`](crate::Answer::Rewind).
    Rewind {
        /// Entry of the message to rewind to.
        to: EntryId,
        /// Parts that are rewound.
        scope: RewindScope,
        /// `true` for a preview.
        dry_run: bool,
    },
    /// Reports the use of the context window. Answered by [`Answer::Context`](crate::Answer::Context).
    Context,
    /// Stops background work. An unknown id is no error: the work may just have ended.
    StopTask(TaskId),
    /// Moves a call that is waited for to the background, or all that can. Answered by
    /// [`Answer::Moved`](crate::Answer::Moved).
    MoveToBackground(Option<ToolUseId>),
    /// Reads the end of the output of background work. Answered by [`Answer::Output`](crate::Answer::Output).
    TaskOutput(String),
}

/// Changes of settings in an open session.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct SettingsChange {
    /// Rules that replace those of earlier changes, by behavior.
    pub rules: BTreeMap<Behavior, Vec<RuleValue>>,
    /// New model, `Some(None)` for the configured one.
    pub model: Option<Option<String>>,
    /// New effort, `Some(None)` for the configured one.
    pub effort: Option<Option<Effort>>,
    /// Environment variables to add.
    pub environment: BTreeMap<String, String>,
}

/// Parts of a session that are rewound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "there are two parts and both")]
pub enum RewindScope {
    /// Files alone.
    Files,
    /// The conversation alone.
    Conversation,
    /// Both in one step.
    Both,
}

/// Facts about a session that was opened.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct SessionFacts {
    /// Id of the session.
    pub session_id: String,
    /// File of the transcript, if there is one.
    pub transcript: Option<PathBuf>,
    /// Custom commands that the session can expand.
    pub commands: Option<Vec<SlashCommand>>,
    /// Configured reasoning.
    pub thinking: Thinking,
    /// `true` if the conversation is compacted on request alone.
    pub compacts_on_request_only: bool,
    /// Permission mode, if the session began in another one than was asked for.
    pub permission_mode: Option<PermissionMode>,
    /// Blocks in front of the first prompt.
    pub initial_prompt: Vec<ContentBlock>,
    /// Calls that an earlier opening left open, with questions.
    pub pending: Vec<CallReference>,
    /// Title that a new session gets once its log has a message.
    pub title: Option<String>,
    /// `true` if the session can be renamed.
    pub can_be_renamed: bool,
}

/// Outcome of a job.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Outcome {
    /// The session was renamed, or the reason why not.
    Renamed(Result<(), String>),
    /// End of a file, and the bytes of the whole file.
    FileEnd(String, u64),
    /// The session was rewound, or not.
    Rewound(Result<Rewound, NotRewound>),
    /// Use of the context window; `None` if the session has ended.
    Context(Option<Box<ContextUsage>>),
    /// Permission mode in effect; `None` if the session has ended.
    PermissionMode(Option<PermissionMode>),
    /// The model was set, or the reason why not.
    Model(Result<(), String>),
    /// `true` if a call continues in the background.
    Moved(bool),
    /// The job could not be carried out at all.
    Failed(&'static str),
}

/// Parts of a session that were rewound, or would be.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Rewound {
    /// Files, if they were asked for.
    pub files: Option<Rewind>,
    /// New end of the conversation, if that was asked for.
    pub conversation: Option<RewindPoint>,
    /// Entry that takes the rewind of a conversation back.
    pub undo: Option<EntryId>,
}

impl Rewound {
    /// A rewind of these parts.
    pub fn new(files: Option<Rewind>, conversation: Option<RewindPoint>, undo: Option<EntryId>) -> Self {
        Self { files, conversation, undo }
    }
}

/// Reason why a session was not rewound.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "drivers make it")]
pub struct NotRewound {
    /// `true` if a run was in the way: the conversation tries again when it has ended.
    pub is_running: bool,
    /// Text for people.
    pub reason: String,
}

impl NotRewound {
    /// A run is in the way.
    pub fn running() -> Self {
        Self { is_running: true, reason: "a run is in progress: wait for its result, or stop it".to_owned() }
    }
}
