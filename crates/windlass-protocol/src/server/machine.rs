//! The host server as a pure machine: messages of the host, events of sessions and outcomes of orders come in; frames
//! and orders come out.
//!
//! It has no async, no clock, no files and no locks, and the same inputs give the same outputs. One task, the pump,
//! gives it its inputs one after another and carries out what it orders.

mod answers;
mod asking;
mod closing;
mod control;
mod current;
mod events;
mod flag_settings;
mod giving;
mod inboxes;
mod initialize;
pub(crate) mod io;
mod joining;
mod mcp;
mod messages;
mod notices;
mod outputs;
mod plugins;
mod queries;
pub(crate) mod questions;
mod queue;
mod receipts;
mod results;
mod rewind;
mod shown;
mod spent;
mod tasks;
#[cfg(test)]
mod tests;
mod tickets;
mod turn;
mod turns;
mod wishes;

use crate::FrameMapper;
use crate::server::commands::Commands;
use crate::server::options::{HostModel, ServerOptions};
use crate::server::plugins::HostAgent;
use current::Current;
use inboxes::Inboxes;
use io::{Generation, Input, Order, Output, SessionOrder};
use questions::Questions;
use results::Results;
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tickets::Tickets;
use turns::Turns;
use windlass_tool::Ids;
use windlass_types::{EntryId, PermissionMode};
use wishes::Wishes;

/// What the machine knows of its options.
#[derive(Debug)]
pub(crate) struct Config {
    bypass_allowed: bool,
    auto_forbidden: bool,
    session_state: bool,
    models: Vec<HostModel>,
    output_styles: Vec<String>,
    replay_user_messages: bool,
    api_key_source: String,
    /// Whether there are MCP servers, and plugins, at all.
    has_mcp: bool,
    has_plugins: bool,
    /// The in-process MCP servers that the host's command line names.
    mcp_servers: Vec<String>,
    /// The agents that can be started before a session is open, except those that the host defines.
    agents: Vec<HostAgent>,
    background_wait: Option<Duration>,
}

/// How far serving is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// The host sends messages.
    Reading,
    /// It sends no more: what it asked for is finished, and background work.
    Draining {
        /// The number of the wait for background work.
        wait: Option<u64>,
        /// Whether that work has taken too long.
        is_late: bool,
    },
    /// Sessions are being closed.
    Closing,
    /// They are closed.
    Closed,
}

/// The server of one host.
pub(crate) struct Machine {
    config: Config,
    mapper: FrameMapper,
    ids: Arc<dyn Ids>,
    outputs: VecDeque<Output>,
    wishes: Wishes,
    turns: Turns,
    session: Current,
    questions: Questions,
    tickets: Tickets,
    inboxes: Inboxes,
    results: Results,
    end: End,
}

impl fmt::Debug for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Machine").field("turns", &self.turns).field("end", &self.end).finish_non_exhaustive()
    }
}

impl Machine {
    pub(crate) fn new(options: &ServerOptions) -> Self {
        let ids = Arc::clone(&options.ids);
        let mut session = Current { id: options.session_id.clone().unwrap_or_default(), ..Current::default() };
        session.scene.permission_mode = options.permissions.mode;
        let commands = Commands::new(options.commands.enabled, options.commands.known.clone());
        Self {
            config: Config {
                bypass_allowed: options.permissions.bypass_allowed,
                auto_forbidden: options.permissions.auto_forbidden,
                session_state: options.reports.session_state,
                models: options.models.clone(),
                output_styles: options.output_styles.clone(),
                replay_user_messages: options.reports.replay_user_messages,
                api_key_source: options.frames.api_key_source.clone(),
                has_mcp: options.mcp.control.is_some(),
                has_plugins: options.plugins.is_some(),
                mcp_servers: options.mcp.named.clone(),
                agents: options.agents.clone(),
                background_wait: options.background_wait,
            },
            mapper: FrameMapper::new(options.frames.clone(), move || ids.bits()),
            ids: Arc::clone(&options.ids),
            outputs: VecDeque::new(),
            wishes: Wishes::default(),
            turns: Turns { commands, ..Turns::default() },
            session,
            questions: Questions::default(),
            tickets: Tickets::default(),
            inboxes: Inboxes::default(),
            results: Results::new(options.reports.mirror.is_some()),
            end: End::Reading,
        }
    }

    /// Takes in what happened. What follows from it is handed out by [`poll`](Self::poll), and has to be before the next
    /// input comes in.
    pub(crate) fn handle(&mut self, input: Input) {
        match input {
            Input::Line(message) => self.host_line(message),
            Input::HungUp => self.hung_up(),
            Input::Event(generation, event) => self.event(generation, event),
            Input::Listed(servers, plugins) => self.mapper.lists(servers, plugins),
            Input::Relisted(commands) => self.relisted(commands),
            Input::Ended(generation, broken) => self.ended(generation, broken.as_deref()),
            Input::SessionClosed(generation) => self.session_closed(generation),
            Input::Opened(facts, offer) => self.opened(*facts, offer.as_ref()),
            Input::NotOpened(error) => self.not_opened(&error),
            Input::Expanded(expanded) => self.expanded(expanded),
            Input::Question(question) => self.ask(question),
            Input::Dropped(id) => self.dropped(&id),
            Input::Listen(server) => self.inboxes.listen(server),
            Input::Receive { server, receiver } => match self.inboxes.receive(&server, receiver) {
                Ok(next) => self.deliver(&server, next),
                Err(receiver) => self.order(Order::NoMessage(receiver)),
            },
            Input::Undelivered { server, message } => {
                let next = self.inboxes.undelivered(&server, message);
                self.deliver(&server, next);
            }
            Input::McpServer(news) => self.say_mcp_server(&news),
            Input::Done(ticket, outcome) => self.done(ticket, outcome),
            Input::Settled(wait) => self.settled(wait),
            Input::Quiet(wait) => self.quiet(wait),
            Input::Mirrored => self.mirrored(),
            Input::Due(timer) => self.due(timer),
            Input::Close(reason) => {
                if !self.is_closing() {
                    self.mapper.stops_because(reason);
                }
                self.close();
            }
        }
        self.check_end();
    }

    /// What is to be done next.
    pub(crate) fn poll(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// Whether messages of the host are taken in.
    pub(crate) fn reads_lines(&self) -> bool {
        self.end == End::Reading
    }

    /// Whether events are taken in: not while the result of a run waits for the log's lines.
    pub(crate) fn takes_events(&self) -> bool {
        !self.results.waits()
    }

    /// Whether the next event of the main agent of a session may be followed by a `system/init`, which needs
    /// [`Input::Listed`] before.
    pub(crate) fn lists_next(&self, generation: Generation) -> bool {
        self.session.streams.get(&generation).is_some_and(|stream| stream.begun.is_some())
    }

    /// Whether the last result was an error.
    pub(crate) fn last_is_error(&self) -> bool {
        self.turns.last_is_error
    }

    /// Writes lines for the host.
    fn send(&mut self, lines: Vec<u8>) {
        if lines.is_empty() {
            return;
        }
        match self.outputs.back_mut() {
            Some(Output::Frames(before)) => before.extend_from_slice(&lines),
            _ => self.outputs.push_back(Output::Frames(lines)),
        }
    }

    /// Writes frames with the session's mapper.
    fn frames(&mut self, write: impl FnOnce(&mut FrameMapper, &str, &mut Vec<u8>)) {
        let mut out = Vec::new();
        write(&mut self.mapper, &self.session.id, &mut out);
        self.send(out);
    }

    fn order(&mut self, order: Order) {
        self.outputs.push_back(Output::Order(order));
    }

    /// Gives the session an order, if one is open. A session that has ended by itself is given none.
    fn order_session(&mut self, order: SessionOrder) {
        if self.session.is_open() {
            self.order(Order::Session(order));
        }
    }

    fn uuid(&self) -> String {
        EntryId::from_bits(self.ids.bits()).to_string()
    }

    fn set_scene_mode(&mut self, mode: PermissionMode) {
        self.session.scene.permission_mode = mode;
        self.show_scene();
    }

    /// Gives hooks of the host the present state.
    fn show_scene(&mut self) {
        self.order(Order::Scene(Box::new(self.session.scene.clone())));
    }
}
