//! The host server as a pure machine around a [`Conversation`]. Lines of the host become inputs of the conversation,
//! and its updates become frames.
//!
//! The machine has no async, no clock, no files and no locks, and the same inputs give the same outputs. One task, the
//! pump, passes it its inputs one after another and carries out its orders.

mod answers;
mod control;
mod flag_settings;
mod inboxes;
mod initialize;
pub(crate) mod io;
mod jobs;
mod mcp;
mod messages;
mod notices;
mod plugins;
mod queries;
mod rewind;
mod tasks;
#[cfg(test)]
mod tests;
mod updates;

use crate::FrameMapper;
use crate::server::options::{HostModel, ServerOptions};
use crate::server::plugins::{HostAgent, PluginOffer};
use crate::server::scene::Scene;
use crate::server::setup::Initialize;
use inboxes::Inboxes;
use io::{HostFacts, KEEP_ALIVE, ServerEffect, ServerInput, ServerOutput};
use jobs::PendingJobs;
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use windlass_conversation::{
    Conversation, ConversationOptions, Generation, Input as Turn, Output as Outcome, Presenter,
};
use windlass_tool::Ids;
use windlass_types::{EntryId, JsonText};

/// Options of the host protocol that the machine reads.
#[derive(Debug)]
pub(crate) struct Config {
    session_state: bool,
    models: Vec<HostModel>,
    output_styles: Vec<String>,
    replay_user_messages: bool,
    api_key_source: String,
    has_mcp: bool,
    has_plugins: bool,
    /// In-process MCP servers from the host's command line.
    mcp_servers: Vec<String>,
    /// Agents that can be started before a session is open, except those that the host defines.
    agents: Vec<HostAgent>,
}

/// The server of one host.
pub(crate) struct ServerMachine {
    config: Config,
    conversation: Conversation,
    mapper: FrameMapper,
    ids: Arc<dyn Ids>,
    outputs: VecDeque<ServerOutput>,
    /// Session id in frames.
    session_id: String,
    scene: Scene,
    initialize: Option<Initialize>,
    /// Body of the `initialize` for the session that is being opened.
    opened_with: Option<JsonText>,
    /// Facts and plugin offer of the session that is being taken over.
    opened: Option<(HostFacts, Option<PluginOffer>)>,
    /// Settings for `get_settings`.
    settings: Option<JsonText>,
    /// Requests that the conversation answers: the subtype, and the value of an answer without content.
    requests: BTreeMap<String, (String, Option<Value>)>,
    /// Lines of the open requests to the host.
    questions: BTreeMap<String, Vec<u8>>,
    jobs: PendingJobs,
    inboxes: Inboxes,
}

impl fmt::Debug for ServerMachine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Machine").field("conversation", &self.conversation).finish_non_exhaustive()
    }
}

impl ServerMachine {
    pub(crate) fn new(options: &ServerOptions) -> Self {
        let ids = Arc::clone(&options.ids);
        let mut conversation = ConversationOptions::default();
        conversation.permission_mode = options.permissions.mode;
        conversation.bypass_allowed = options.permissions.bypass_allowed;
        conversation.auto_forbidden = options.permissions.auto_forbidden;
        conversation.has_commands = options.commands.enabled;
        conversation.commands.clone_from(&options.commands.known);
        conversation.names_messages = options.reports.replay_user_messages;
        conversation.copies_log = options.reports.mirror.is_some();
        conversation.background_wait = options.background_wait;
        Self {
            config: Config {
                session_state: options.reports.session_state,
                models: options.models.clone(),
                output_styles: options.output_styles.clone(),
                replay_user_messages: options.reports.replay_user_messages,
                api_key_source: options.frames.api_key_source.clone(),
                has_mcp: options.mcp.control.is_some(),
                has_plugins: options.plugins.is_some(),
                mcp_servers: options.mcp.named.clone(),
                agents: options.agents.clone(),
            },
            conversation: Conversation::new(conversation, Arc::clone(&options.ids)),
            mapper: FrameMapper::new(options.frames.clone(), move || ids.bits()),
            ids: Arc::clone(&options.ids),
            outputs: VecDeque::new(),
            session_id: options.session_id.clone().unwrap_or_default(),
            scene: Scene { permission_mode: options.permissions.mode, ..Scene::default() },
            initialize: None,
            opened_with: None,
            opened: None,
            settings: None,
            requests: BTreeMap::new(),
            questions: BTreeMap::new(),
            jobs: PendingJobs::default(),
            inboxes: Inboxes::default(),
        }
    }

    /// Handles an input. Its outputs are returned by [`poll`](Self::poll), and must be taken before the next input.
    pub(crate) fn handle(&mut self, input: ServerInput) {
        match input {
            ServerInput::Line(message) => self.host_line(message),
            ServerInput::HungUp => self.end_input(),
            ServerInput::Listed(servers, plugins) => self.mapper.lists(servers, plugins),
            ServerInput::Opened(session, facts, offer) => {
                self.opened = Some((*facts, offer));
                self.pass_to_conversation(Turn::Opened(session));
                self.opened = None;
            }
            ServerInput::Question(question, line) => {
                self.questions.insert(question.id.clone(), line);
                self.pass_to_conversation(Turn::Question(question));
            }
            ServerInput::Dropped(id) => {
                self.inboxes.dropped(&id);
                self.pass_to_conversation(Turn::Withdrawn(id.clone()));
                self.questions.remove(&id);
            }
            ServerInput::Listen(server) => self.inboxes.listen(server),
            ServerInput::Receive { server, receiver } => match self.inboxes.receive(&server, receiver) {
                Ok(next) => self.deliver(&server, next),
                Err(receiver) => self.emit_effect(ServerEffect::NoMessage(receiver)),
            },
            ServerInput::Undelivered { server, message } => {
                let next = self.inboxes.undelivered(&server, message);
                self.deliver(&server, next);
            }
            ServerInput::McpServer(news) => self.say_mcp_server(&news),
            ServerInput::Done(ticket, outcome) => self.done(ticket, outcome),
            ServerInput::KeepAlive => self.keep_alive(),
            ServerInput::Close(reason) => {
                if !self.conversation.is_closing() {
                    self.mapper.stops_because(reason);
                }
                self.pass_to_conversation(Turn::Close);
            }
            ServerInput::Conversation(input) => self.pass_to_conversation(input),
        }
    }

    /// Next output.
    pub(crate) fn poll(&mut self) -> Option<ServerOutput> {
        self.outputs.pop_front()
    }

    /// `true` while messages of the host are accepted.
    pub(crate) fn reads_lines(&self) -> bool {
        self.conversation.takes_messages()
    }

    /// `true` while events are accepted: not while the result of a run waits for a copy of the log.
    pub(crate) fn takes_events(&self) -> bool {
        self.conversation.takes_events()
    }

    /// `true` if the next event of the main agent of a session may be followed by a `system/init`, which needs
    /// [`ServerInput::Listed`] before.
    pub(crate) fn lists_next(&self, generation: Generation) -> bool {
        self.conversation.starts_next(generation)
    }

    /// `true` if the last result was an error.
    pub(crate) fn last_is_error(&self) -> bool {
        self.conversation.last_is_error()
    }

    /// Passes an input to the conversation, and translates its outputs.
    fn pass_to_conversation(&mut self, input: Turn) {
        self.conversation.handle(input);
        while let Some(output) = self.conversation.poll() {
            match output {
                Outcome::Update(update) => self.present(update),
                Outcome::Order(order) => self.pass_on(order),
            }
        }
    }

    /// Ends the input: all requests of the host are finished. A host that can no longer write gets keep-alives, because
    /// only writing shows whether it is gone.
    fn end_input(&mut self) {
        if self.conversation.takes_messages() {
            self.emit_effect(ServerEffect::KeepAlive(KEEP_ALIVE));
            self.pass_to_conversation(Turn::End);
        }
    }

    fn keep_alive(&mut self) {
        if self.conversation.is_draining() {
            self.send(b"{\"type\":\"keep_alive\"}\n".to_vec());
            self.emit_effect(ServerEffect::KeepAlive(KEEP_ALIVE));
        }
    }

    /// Writes lines for the host.
    fn send(&mut self, lines: Vec<u8>) {
        if lines.is_empty() {
            return;
        }
        match self.outputs.back_mut() {
            Some(ServerOutput::Frames(pending)) => pending.extend_from_slice(&lines),
            _ => self.outputs.push_back(ServerOutput::Frames(lines)),
        }
    }

    /// Writes frames with the session's mapper.
    fn frames(&mut self, write: impl FnOnce(&mut FrameMapper, &str, &mut Vec<u8>)) {
        let mut out = Vec::new();
        write(&mut self.mapper, &self.session_id, &mut out);
        self.send(out);
    }

    fn emit_effect(&mut self, effect: ServerEffect) {
        self.outputs.push_back(ServerOutput::Order(effect));
    }

    fn uuid(&self) -> String {
        EntryId::from_bits(self.ids.bits()).to_string()
    }

    /// Passes the current state to hooks of the host.
    fn show_scene(&mut self) {
        self.emit_effect(ServerEffect::Scene(Box::new(self.scene.clone())));
    }

    /// Delivers a message of an in-process MCP server.
    fn deliver(&mut self, server: &str, next: Option<(String, JsonText)>) {
        if let Some((receiver, message)) = next {
            self.emit_effect(ServerEffect::Deliver { server: server.to_owned(), receiver, message });
        }
    }
}
