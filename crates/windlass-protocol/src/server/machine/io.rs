//! Inputs and outputs of the machine of a server.

use crate::channel::requests::{AskError, HostResponse};
use crate::input::Inbound;
use crate::server::frames::McpServerNews;
use crate::server::mcp::McpStatus;
use crate::server::plugins::{HostAgent, PluginListing, PluginOffer, PluginReload, PluginSource, PluginsReloaded};
use crate::server::scene::Scene;
use crate::server::setup::Initialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;
use windlass_conversation::{
    Input as ConversationInput, Order as ConversationOrder, Question, SessionFacts, SessionSettings,
};
use windlass_types::JsonText;

/// Interval of keep-alives to a host that can no longer write.
pub(crate) const KEEP_ALIVE: Duration = Duration::from_secs(5);

/// Number of a job of the host protocol whose outcome is awaited.
pub(crate) type JobNumber = u64;

/// An input of the machine.
#[derive(Debug, Clone)]
pub(crate) enum ServerInput {
    /// A message of the host.
    Line(Inbound),
    /// The end of the host's messages.
    HungUp,
    /// The lists of `system/init` besides the session. They come before the event of each run's start.
    Listed(Vec<McpStatus>, PluginListing),
    /// The requested session is open.
    Opened(Box<SessionFacts>, Box<HostFacts>, Option<PluginOffer>),
    /// A request to the host, and its line.
    Question(Question, Vec<u8>),
    /// A request or a receiver is withdrawn.
    Dropped(String),
    /// Messages of an in-process MCP server are requested.
    Listen(String),
    /// A receiver waits, under an id, for a message of such a server.
    Receive { server: String, receiver: String },
    /// A message could not be delivered, because its receiver is gone.
    Undelivered { server: String, message: JsonText },
    /// A report about an MCP server for the host.
    McpServer(McpServerNews),
    /// The outcome of a job.
    Done(JobNumber, ServerJobOutcome),
    /// The timer of [`ServerEffect::KeepAlive`] has run out.
    KeepAlive,
    /// Serving ends now, with the reason for the interrupted run.
    Close(String),
    /// An input of the conversation.
    Conversation(ConversationInput),
}

/// An output of the machine.
#[derive(Debug)]
pub(crate) enum ServerOutput {
    /// Lines for the host, in their order.
    Frames(Vec<u8>),
    /// An order to be carried out.
    Order(ServerEffect),
}

/// An effect that the pump carries out.
#[derive(Debug)]
pub(crate) enum ServerEffect {
    /// Opens a session: [`ServerInput::Opened`] answers, or
    /// [`ConversationInput::NotOpened`](windlass_conversation::Input::NotOpened).
    Open(Box<SessionOpening>),
    /// An order of the conversation, except the opening of a session.
    Conversation(ConversationOrder),
    /// Renews the host's hooks in the open session.
    RenewHooks,
    /// Does a job that may take time: [`ServerInput::Done`].
    Begin(JobNumber, ServerJob),
    /// Starts the timer of [`ServerInput::KeepAlive`].
    KeepAlive(Duration),
    /// Passes the state of the session to hooks of the host.
    Scene(Box<Scene>),
    /// Announces the in-process MCP servers of the host.
    Announce(BTreeMap<String, Option<JsonText>>),
    /// Answers a request to the host.
    Answer(String, Result<HostResponse, AskError>),
    /// Delivers a message of an in-process MCP server to the receiver with this id.
    Deliver { server: String, receiver: String, message: JsonText },
    /// Ends the wait of the receiver with this id.
    NoMessage(String),
}

/// Settings and `initialize` for opening a session.
#[derive(Debug, Clone, Default)]
pub(crate) struct SessionOpening {
    pub(crate) settings: SessionSettings,
    pub(crate) initialize: Option<Initialize>,
}

/// Facts about an open session for hosts alone.
#[derive(Debug, Clone, Default)]
pub(crate) struct HostFacts {
    pub(crate) settings: Option<JsonText>,
    pub(crate) agents: Option<Vec<HostAgent>>,
    pub(crate) output_style: Option<String>,
}

/// A job that may take time, because it concerns a disk or a server.
#[derive(Debug)]
pub(crate) enum ServerJob {
    Mcp(McpJob),
    McpStatus,
    Reload(PluginReload),
    Initialize(Initialization),
}

/// Parts of an `initialize` for plugins and MCP servers.
#[derive(Debug, Default)]
pub(crate) struct Initialization {
    pub(crate) plugins: Option<Vec<PluginSource>>,
    /// Configurations of MCP servers.
    pub(crate) servers: Option<JsonText>,
    /// In-process servers, and their settings.
    pub(crate) in_process: BTreeMap<String, Option<JsonText>>,
}

/// A control request that concerns MCP servers.
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

/// The outcome of a job.
#[derive(Debug, Clone)]
pub(crate) enum ServerJobOutcome {
    Mcp(Result<Value, String>),
    McpStatus(Vec<McpStatus>),
    Reloaded(Result<Box<Reloaded>, String>),
    Initialized(Initialized),
    /// The job could not be carried out at all.
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
    /// `true` if all named plugins are loaded; `None` if none were named.
    pub(crate) plugins: Option<bool>,
    /// `true` if the servers were taken; `None` if none were given.
    pub(crate) servers: Option<bool>,
    pub(crate) offer: Option<PluginOffer>,
}
