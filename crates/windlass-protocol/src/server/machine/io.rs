//! What the machine of a server takes in, and what comes out of it.

use super::questions::{About, Question};
use crate::channel::requests::{Answer, AskError};
use crate::input::Inbound;
use crate::server::commands::{Expanded, SlashCommand};
use crate::server::frames::McpServerNews;
use crate::server::mcp::McpStatus;
use crate::server::plugins::{HostAgent, PluginListing, PluginOffer, PluginReload, PluginSource, PluginsReloaded};
use crate::server::scene::Scene;
use crate::server::setup::Initialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;
use windlass_runtime::{Prompt, RewindError};
use windlass_session::{Rewind, RewindPoint};
use windlass_types::{
    ContentBlock, ContextUsage, Effort, EntryId, Event, JsonText, PermissionMode, PermissionUpdate, TaskId, Thinking,
    ToolUseId,
};

/// The number of a session: `/clear` opens another one.
pub(crate) type Generation = u64;

/// The number of a job whose outcome is awaited.
pub(crate) type Ticket = u64;

/// An event outside of the machine.
#[derive(Debug, Clone)]
pub(crate) enum Input {
    /// The host sent a message.
    Line(Inbound),
    /// The input has ended.
    HungUp,
    /// An event of a session.
    Event(Generation, Box<Event>),
    /// What `system/init` is to list besides the session. Comes before the event of each run's start.
    Listed(Vec<McpStatus>, PluginListing),
    /// The commands of the session have changed.
    Relisted(Vec<SlashCommand>),
    /// The events of a session have ended; with the reason, if it could not continue.
    Ended(Generation, Option<String>),
    /// A session that was ordered to close has done so: all of it is durable, and its work is over.
    SessionClosed(Generation),
    /// The session that was to be opened is open.
    Opened(Box<Facts>, Option<PluginOffer>),
    /// It could not be opened.
    NotOpened(String),
    /// What a slash command becomes.
    Expanded(Expanded),
    /// A question for the host.
    Question(Question),
    /// A question is withdrawn.
    Dropped(String),
    /// Messages of an in-process MCP server are wanted.
    Listen(String),
    /// A receiver waits, under an id, for a message of such a server.
    Receive { server: String, receiver: String },
    /// A message could not be handed over, since its receiver is gone.
    Undelivered { server: String, message: JsonText },
    /// The host is to read what has become of an MCP server.
    McpServer(McpServerNews),
    /// The outcome of a job.
    Done(Ticket, Outcome),
    /// No run continues, and none is about to begin. The answer to the wait with this number.
    Settled(u64),
    /// Nor does background work.
    Quiet(u64),
    /// The host has the lines of the log that were durable.
    Mirrored,
    /// A timer has run out.
    Due(Timer),
    /// Serving is to end.
    Close(String),
}

/// An output of the machine.
#[derive(Debug)]
pub(crate) enum Output {
    /// Lines for the host, in their order.
    Frames(Vec<u8>),
    /// An order to be carried out.
    Order(Order),
}

/// What the pump carries out.
#[derive(Debug)]
pub(crate) enum Order {
    /// Open a session: [`Input::Opened`] or [`Input::NotOpened`] answers.
    Open(Box<Wish>),
    /// Close a session: its events end, and [`Input::SessionClosed`] answers.
    Close(Generation),
    /// An order for the session that was opened last.
    Session(SessionOrder),
    /// Report when no run of it continues: [`Input::Settled`].
    AwaitSettled(u64),
    /// Report when no work of it continues: [`Input::Quiet`].
    AwaitQuiet(u64),
    /// Turn a command and its arguments into a prompt: [`Input::Expanded`].
    Expand { name: String, arguments: String },
    /// Do a job that may take time: [`Input::Done`].
    Begin(Ticket, Job),
    /// Give the host what is durable of the log: [`Input::Mirrored`].
    Mirror,
    /// Start a timer: [`Input::Due`].
    Wake(Timer, Duration),
    /// What hooks of the host receive from now on.
    Scene(Box<Scene>),
    /// The host has these in-process MCP servers.
    Announce(BTreeMap<String, Option<JsonText>>),
    /// The answer to a question.
    Answer(String, Result<Answer, AskError>),
    /// A message of an in-process MCP server for the receiver with this id.
    Deliver { server: String, receiver: String, message: JsonText },
    /// The receiver with this id gets no message of an MCP server.
    NoMessage(String),
    /// The session could not be opened: serving ends with that.
    FailToOpen,
    /// All work is done: close.
    Finish,
    /// All sessions are closed and all frames are written.
    Closed,
}

/// What a session is ordered.
#[derive(Debug)]
pub(crate) enum SessionOrder {
    Prompt(Prompt),
    Offer(Prompt),
    Withdraw(EntryId),
    Interrupt,
    PermissionMode(PermissionMode),
    Model(Option<String>),
    Thinking(Thinking),
    Effort(Option<Effort>),
    RenewHooks,
    Permissions(Vec<PermissionUpdate>),
    StopTask(TaskId),
    Environment(BTreeMap<String, String>),
}

/// A job that may take time, because it concerns a disk or a server, or needs what only an open session knows.
#[derive(Debug)]
pub(crate) enum Job {
    Mcp(McpJob),
    McpStatus,
    Rename(String),
    /// Read the end of a file.
    Tail(PathBuf, u64),
    Rewind {
        to: EntryId,
        scope: RewindScope,
        dry_run: bool,
    },
    Reload(PluginReload),
    Initialize(Initialization),
    /// Report what takes up the context window.
    Context,
    /// Report the permission mode that is in effect behind the orders before.
    PermissionMode,
    /// A call that is waited for is to continue in the background, or all that can.
    MoveToBackground(Option<ToolUseId>),
}

/// What `initialize` asks of plugins and MCP servers.
#[derive(Debug, Default)]
pub(crate) struct Initialization {
    pub(crate) plugins: Option<Vec<PluginSource>>,
    /// Configurations of MCP servers.
    pub(crate) servers: Option<JsonText>,
    /// In-process servers, and their settings.
    pub(crate) in_process: BTreeMap<String, Option<JsonText>>,
}

/// An order that concerns MCP servers.
#[derive(Debug)]
pub(crate) enum McpJob {
    Reconnect(String),
    Toggle(String, bool),
    SetServers(JsonText),
    Call { tool: String, arguments: JsonText, limit: Option<Duration> },
    ReadResource { server: String, uri: String },
    Authenticate(String),
    FinishLogin { server: String, address: String },
    ForgetLogin(String),
}

/// What of a session a host wants rewound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RewindScope {
    Files,
    Conversation,
    Both,
}

/// What was rewound for a host, or would be.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct HostRewind {
    pub(crate) files: Option<Rewind>,
    pub(crate) conversation: Option<RewindPoint>,
    /// What takes back the rewind of a conversation.
    pub(crate) undo: Option<EntryId>,
}

/// The outcome of a job.
#[derive(Debug, Clone)]
pub(crate) enum Outcome {
    Mcp(Result<Value, String>),
    McpStatus(Vec<McpStatus>),
    Renamed(Result<(), String>),
    /// The end of a file, and how long all of it is.
    Tail(String, u64),
    Rewound(Result<HostRewind, RewindError>),
    Reloaded(Result<Box<Reloaded>, String>),
    Initialized(Initialized),
    Context(Option<Box<ContextUsage>>),
    /// The mode in effect; `None` if the session has ended.
    PermissionMode(Option<PermissionMode>),
    /// Whether a call continues in the background.
    Moved(bool),
    /// It could not be carried out at all.
    Failed(&'static str),
}

/// The outcome of loading plugins again.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reloaded {
    pub(crate) reloaded: PluginsReloaded,
    pub(crate) offer: PluginOffer,
    pub(crate) listing: PluginListing,
    pub(crate) servers: Vec<McpStatus>,
}

/// The outcome of `initialize`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Initialized {
    /// Whether each plugin is loaded, if some were named.
    pub(crate) plugins: Option<bool>,
    /// Whether the servers were taken, if some were given.
    pub(crate) servers: Option<bool>,
    pub(crate) offer: Option<PluginOffer>,
}

/// What a session is to be opened with.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wish {
    pub(crate) initialize: Option<Initialize>,
    pub(crate) permission_mode: Option<PermissionMode>,
    pub(crate) model: Option<Option<String>>,
    pub(crate) thinking: Option<Option<Thinking>>,
    pub(crate) environment: BTreeMap<String, String>,
    pub(crate) fresh: bool,
}

/// How an open session describes itself.
#[derive(Debug, Clone, Default)]
pub(crate) struct Facts {
    pub(crate) session_id: String,
    pub(crate) transcript: Option<PathBuf>,
    pub(crate) commands: Option<Vec<SlashCommand>>,
    pub(crate) settings: Option<JsonText>,
    pub(crate) thinking: Thinking,
    pub(crate) compacts_on_request_only: bool,
    pub(crate) permission_mode: Option<PermissionMode>,
    pub(crate) initial_prompt: Vec<ContentBlock>,
    /// The calls that an earlier opening left open, with questions.
    pub(crate) pending: Vec<About>,
    pub(crate) agents: Option<Vec<HostAgent>>,
    pub(crate) output_style: Option<String>,
    /// The title that it gets once its log has a message.
    pub(crate) title: Option<String>,
    pub(crate) can_be_renamed: bool,
}

/// What the machine waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Timer {
    /// A host that has ended its input is asked for a sign of life.
    KeepAlive,
    /// Background work is waited for no longer.
    BackgroundWait,
    /// A rewind waits no longer for a run.
    Rewind(Ticket),
}
