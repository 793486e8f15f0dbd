//! Environment of a machine: a host, sessions and jobs, each of which acts on demand.

use super::super::ServerMachine;
use super::super::io::{
    Initialized, JobNumber, Reloaded, ServerEffect, ServerInput, ServerJob, ServerJobOutcome, ServerOutput,
};
use crate::input::Inbound;
use crate::server::mirror::Mirror;
use crate::server::options::ServerOptions;
use crate::server::plugins::PluginListing;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use windlass_conversation::{
    Asker, CallReference, Expansion, Generation, Input as Turn, Job as SessionJob, NotRewound,
    Order as ConversationOrder, Outcome as JobOutcome, Question, Rewound, SessionFacts, SessionOrder, SlashCommand,
    Timer,
};
use windlass_types::{
    ContentBlock, EntryId, Event, EventKind, JsonText, MessageId, Outcome as RunOutcome, PermissionMode, RunId,
    RunResult, RunStarted, SessionId, Steered, SteeredFate, ToolUse, Usage,
};

#[derive(Debug, Default)]
struct Counting(AtomicU64);

impl windlass_tool::Ids for Counting {
    fn bits(&self) -> u128 {
        u128::from(self.0.fetch_add(1, Ordering::Relaxed)) + 1
    }
}

/// An action in the environment.
#[derive(Debug, Clone)]
pub(super) enum Action {
    /// The host sends a message, with an id or not.
    Say { text: &'static str, priority: &'static str, named: bool },
    /// The host sends a control request.
    Order(&'static str, Value),
    /// The host answers one of the shown requests.
    Answer(usize),
    /// A session continues.
    Step(usize),
    /// The session's next event reaches the machine.
    Deliver,
    /// Hooks or permissions send a request about a call that the machine may not know yet.
    Ask(usize, bool),
    /// A request is withdrawn.
    Drop(usize),
    /// A job ends, or an opening.
    Finish(usize, bool),
    /// A timer runs out.
    Tick(usize),
    /// The host has ended its input.
    HangUp,
}

/// A session that is open.
#[derive(Debug, Default)]
struct Sim {
    generation: Generation,
    prompts: VecDeque<Option<EntryId>>,
    offered: VecDeque<EntryId>,
    runs: bool,
    interrupted: bool,
    closing: bool,
    events: VecDeque<Event>,
    ended: bool,
}

/// Environment of the machine.
pub(super) struct MachineWorld {
    machine: ServerMachine,
    pub(super) inputs: Vec<ServerInput>,
    pub(super) outputs: Vec<String>,
    pub(super) host: ScriptedHost,
    sessions: Vec<Sim>,
    begun: BegunJob,
    /// Answers of the pump itself, in order.
    due: VecDeque<ServerInput>,
    calls: u64,
    /// Open requests, and their calls.
    pub(super) asked: BTreeMap<String, String>,
    pub(super) answered: Vec<String>,
    pub(super) is_closed: bool,
}

/// Lines read and sent by the host.
#[derive(Default)]
pub(super) struct ScriptedHost {
    /// Lines that the host has read.
    pub(super) lines: Vec<Value>,
    /// Ids of the control requests that it has sent.
    pub(super) requests: Vec<String>,
    /// Number of messages that it has sent.
    messages: u64,
    /// `true` if its output is read no more.
    is_unread: bool,
}

/// Work that the machine has begun and that has not ended.
#[derive(Default)]
struct BegunJob {
    opening: bool,
    jobs: Vec<(JobNumber, ServerJob)>,
    session_jobs: Vec<(JobNumber, SessionJob)>,
    waits: Vec<Turn>,
    timers: BTreeSet<Timer>,
    keep_alive: bool,
    mirrors: usize,
}

pub(super) fn machine(is_mirrored: bool) -> ServerMachine {
    let mut options = ServerOptions::default();
    (options.permissions.prompts, options.reports.session_state, options.reports.replay_user_messages) =
        (true, true, true);
    options.reports.mirror = is_mirrored.then(Mirror::new);
    options.ids = Arc::new(Counting::default());
    ServerMachine::new(&options)
}

impl MachineWorld {
    pub(super) fn new(is_mirrored: bool) -> Self {
        Self {
            machine: machine(is_mirrored),
            inputs: Vec::new(),
            outputs: Vec::new(),
            host: ScriptedHost::default(),
            sessions: Vec::new(),
            begun: BegunJob::default(),
            due: VecDeque::new(),
            calls: 0,
            asked: BTreeMap::new(),
            answered: Vec::new(),
            is_closed: false,
        }
    }

    fn give(&mut self, input: ServerInput) {
        self.due.push_back(input);
        while let Some(input) = self.due.pop_front() {
            self.inputs.push(input.clone());
            self.machine.handle(input);
            while let Some(output) = self.machine.poll() {
                self.outputs.push(format!("{output:?}"));
                match output {
                    ServerOutput::Frames(lines) => {
                        let text = String::from_utf8(lines).unwrap();
                        self.host.lines.extend(text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()));
                    }
                    ServerOutput::Order(order) => self.order(order),
                }
            }
        }
    }

    fn order(&mut self, order: ServerEffect) {
        match order {
            ServerEffect::Open(_) => self.begun.opening = true,
            ServerEffect::Conversation(order) => self.converse(order),
            ServerEffect::Begin(ticket, job) => self.begun.jobs.push((ticket, job)),
            ServerEffect::KeepAlive(_) => self.begun.keep_alive = true,
            ServerEffect::Answer(id, _) => {
                assert!(self.asked.remove(&id).is_some(), "{id} is answered, but is not open");
                self.answered.push(id);
            }
            ServerEffect::RenewHooks
            | ServerEffect::Scene(_)
            | ServerEffect::Announce(_)
            | ServerEffect::Deliver { .. }
            | ServerEffect::NoMessage(_) => {}
        }
    }

    fn converse(&mut self, order: ConversationOrder) {
        match order {
            ConversationOrder::Close(generation) => {
                match self.sessions.iter_mut().find(|sim| sim.generation == generation) {
                    Some(sim) => sim.closing = true,
                    None => self.due.push_back(ServerInput::Conversation(Turn::SessionClosed(generation))),
                }
            }
            ConversationOrder::Session(order) => self.order_session(order),
            ConversationOrder::AwaitSettled(wait) => self.begun.waits.push(Turn::Settled(wait)),
            ConversationOrder::AwaitQuiet(wait) => self.begun.waits.push(Turn::Quiet(wait)),
            ConversationOrder::Expand { name, .. } => {
                self.due.push_back(ServerInput::Conversation(Turn::Expanded(Ok(match name.as_str() {
                    "greet" => Some(windlass_types::Prompt::text("hello").into()),
                    "memory" => Some(Expansion::Output("two notes".to_owned())),
                    _ => None,
                }))));
            }
            ConversationOrder::Begin(ticket, job) => self.begun.session_jobs.push((ticket, job)),
            ConversationOrder::CopyLog => self.begun.mirrors += 1,
            ConversationOrder::Wake(timer, _) => drop(self.begun.timers.insert(timer)),
            ConversationOrder::FailToOpen => self.due.push_back(ServerInput::Close("no session".to_owned())),
            ConversationOrder::Finish => {
                (self.begun.opening, self.host.is_unread, self.begun.keep_alive) = (false, true, false);
                self.begun.timers.clear();
            }
            ConversationOrder::Closed => {
                assert!(!self.is_closed, "it is closed twice");
                self.is_closed = true;
            }
            order => panic!("{order:?}"),
        }
    }

    fn order_session(&mut self, order: SessionOrder) {
        let Some(sim) = self.sessions.last_mut().filter(|sim| !sim.closing && !sim.ended) else { return };
        match order {
            SessionOrder::Prompt(prompt) => sim.prompts.push_back(prompt.id),
            SessionOrder::Offer(prompt) if sim.runs || !sim.prompts.is_empty() => sim.offered.extend(prompt.id),
            SessionOrder::Offer(prompt) => {
                let returned = prompt.id.map(|id| event(sim.generation, steered(id, SteeredFate::Returned)));
                sim.events.extend(returned);
            }
            SessionOrder::Withdraw(id) => {
                if let Some(at) = sim.offered.iter().position(|offered| *offered == id) {
                    sim.offered.remove(at);
                    let steered = steered(id, SteeredFate::Returned);
                    sim.events.push_back(event(sim.generation, steered));
                }
            }
            SessionOrder::Interrupt => sim.interrupted = sim.runs,
            _ => {}
        }
    }

    pub(super) fn act(&mut self, action: &Action) {
        match action {
            Action::Say { text, priority, named } => {
                self.host.messages += 1;
                let uuid = named.then(|| format!("m{}", self.host.messages));
                let message = json!({ "content": text });
                self.line(&json!({ "type": "user", "uuid": uuid, "priority": priority, "message": message }));
            }
            Action::Order(subtype, body) => {
                if self.machine.reads_lines() {
                    let id = format!("r{}", self.host.requests.len());
                    let mut body = body.clone();
                    body["subtype"] = json!(subtype);
                    self.host.requests.push(id.clone());
                    self.line(&json!({ "type": "control_request", "request_id": id, "request": body }));
                }
            }
            Action::Answer(at) => {
                let shown: Vec<String> = self.shown();
                if let Some(id) = pick(&shown, *at) {
                    let response = json!({ "subtype": "success", "request_id": id, "response": {} });
                    self.line(&json!({ "type": "control_response", "response": response }));
                }
            }
            Action::Step(at) => self.step(*at),
            Action::Deliver => self.deliver(),
            Action::Ask(at, is_permission) => self.ask(*at, *is_permission),
            Action::Drop(at) => {
                let open: Vec<String> = self.asked.keys().cloned().collect();
                if let Some(id) = pick(&open, *at) {
                    self.asked.remove(id);
                    self.give(ServerInput::Dropped(id.clone()));
                }
            }
            Action::Finish(at, succeeds) => self.finish(*at, *succeeds),
            Action::Tick(at) => {
                let timers: Vec<Timer> = self.begun.timers.iter().copied().collect();
                if let Some(timer) = pick(&timers, *at) {
                    self.begun.timers.remove(timer);
                    self.give(ServerInput::Conversation(Turn::Due(*timer)));
                } else if self.begun.keep_alive {
                    self.begun.keep_alive = false;
                    self.give(ServerInput::KeepAlive);
                }
            }
            Action::HangUp => {
                if !self.host.is_unread && self.machine.reads_lines() {
                    self.give(ServerInput::HungUp);
                }
            }
        }
    }

    /// Requests that were shown to the host and are unanswered.
    fn shown(&self) -> Vec<String> {
        let asked = self.host.lines.iter().filter(|line| line["type"] == "control_request");
        asked.filter_map(|line| line["request_id"].as_str().map(str::to_owned)).collect()
    }

    fn line(&mut self, line: &Value) {
        if !self.host.is_unread && self.machine.reads_lines() {
            let message = Inbound::parse(line.to_string().as_bytes()).unwrap();
            self.give(ServerInput::Line(message));
        }
    }

    /// A session continues: a run begins, makes a call, or ends.
    fn step(&mut self, what: usize) {
        let Some(sim) = self.sessions.iter_mut().find(|sim| !sim.ended) else { return };
        let generation = sim.generation;
        let mut emit = |kind| sim.events.push_back(event(generation, kind));
        if !sim.runs {
            let Some(prompt) = sim.prompts.pop_front() else {
                sim.ended = sim.closing;
                return;
            };
            drop(prompt);
            sim.runs = true;
            let started = RunStarted::new("/w".into(), "m".into(), vec!["act".into()], PermissionMode::Default, false);
            return emit(EventKind::RunStarted(started));
        }
        match what % 4 {
            0 | 1 if !sim.interrupted && !sim.closing => {
                self.calls += 1;
                let call = ToolUse::new(format!("t{}", self.calls), "act", JsonText::empty_object());
                emit(EventKind::BlockFinished {
                    message_id: MessageId::from("m"),
                    model: "m".into(),
                    index: 0,
                    line: EntryId::from(format!("l{}", self.calls)),
                    block: ContentBlock::ToolUse(call),
                    usage: Usage::default(),
                });
            }
            2 if !sim.offered.is_empty() => {
                let id = sim.offered.pop_front().unwrap();
                emit(steered(id.clone(), SteeredFate::Joined { entry: id }));
            }
            _ => {
                for id in std::mem::take(&mut sim.offered) {
                    sim.events.push_back(event(generation, steered(id, SteeredFate::Returned)));
                }
                let result = RunResult::new(RunOutcome::Success, session(generation));
                sim.events.push_back(event(generation, EventKind::RunFinished(result)));
                (sim.runs, sim.interrupted) = (false, false);
            }
        }
    }

    /// Delivers the next event, or the report that a session has ended or that there is no event.
    fn deliver(&mut self) {
        if !self.machine.takes_events() {
            return;
        }
        for at in 0..self.sessions.len() {
            let sim = &mut self.sessions[at];
            let generation = sim.generation;
            if let Some(event) = sim.events.pop_front() {
                if self.machine.lists_next(generation) {
                    self.give(ServerInput::Listed(Vec::new(), PluginListing::default()));
                }
                return self.give(ServerInput::Conversation(Turn::Event(generation, Box::new(event))));
            }
            if sim.ended {
                let sim = self.sessions.remove(at);
                let mut inputs = vec![Turn::Ended(generation, None)];
                if sim.closing {
                    // Either may come first.
                    inputs.insert(generation as usize % 2, Turn::SessionClosed(generation));
                }
                for input in inputs {
                    self.give(ServerInput::Conversation(input));
                }
                return;
            }
        }
        let is_quiet = self.sessions.last().is_none_or(|sim| !sim.runs && sim.prompts.is_empty());
        if is_quiet {
            for wait in std::mem::take(&mut self.begun.waits) {
                self.give(ServerInput::Conversation(wait));
            }
        }
    }

    fn ask(&mut self, at: usize, is_permission: bool) {
        if !self.sessions.iter().any(|sim| sim.runs) || self.calls == 0 {
            return;
        }
        // One of the last calls.
        let call = format!("t{}", self.calls - (at as u64 % 3).min(self.calls - 1));
        self.ask_about(&call, is_permission);
    }

    /// Lets a hook or a permission check send a request about a call.
    pub(super) fn ask_about(&mut self, call: &str, is_permission: bool) {
        let id = format!("q{}", self.inputs.len());
        let body = json!({ "subtype": "can_use_tool", "tool_use_id": call });
        let line = json!({ "type": "control_request", "request_id": id, "request": body });
        self.asked.insert(id.clone(), call.to_owned());
        let about = Some(CallReference::of(None, &call.into()));
        let line = format!("{line}\n").into_bytes();
        self.give(ServerInput::Question(Question::new(id, Asker::Run, about, is_permission), line));
    }

    fn finish(&mut self, at: usize, succeeds: bool) {
        if self.begun.mirrors > 0 && at.is_multiple_of(3) {
            self.begun.mirrors -= 1;
            return self.give(ServerInput::Conversation(Turn::LogCopied));
        }
        if self.begun.opening && at % 3 == 1 {
            self.begun.opening = false;
            let generation =
                self.inputs.iter().filter(|input| matches!(input, ServerInput::Opened(..))).count() as u64 + 1;
            // The first session has to open, or serving ends.
            if !succeeds && generation > 1 {
                return self.give(ServerInput::Conversation(Turn::NotOpened("no session can be opened".into())));
            }
            self.sessions.push(Sim { generation, ..Sim::default() });
            let commands = Some(vec![SlashCommand::new("greet", ""), SlashCommand::new("gone", "")]);
            let mut facts = SessionFacts::default();
            (facts.session_id, facts.commands) = (session(generation).to_string(), commands);
            facts.can_be_renamed = true;
            return self.give(ServerInput::Opened(Box::new(facts), Box::default(), None));
        }
        if at.is_multiple_of(2) && !self.begun.session_jobs.is_empty() || self.begun.jobs.is_empty() {
            return self.finish_in_session(at, succeeds);
        }
        let (ticket, job) = self.begun.jobs.remove(at % self.begun.jobs.len());
        let outcome = match job {
            ServerJob::Mcp(_) => ServerJobOutcome::Mcp(Ok(json!({}))),
            ServerJob::McpStatus => ServerJobOutcome::McpStatus(Vec::new()),
            ServerJob::Reload(_) => ServerJobOutcome::Reloaded(Ok(Box::new(Reloaded::default()))),
            ServerJob::Initialize(_) => ServerJobOutcome::Initialized(Initialized::default()),
        };
        self.give(ServerInput::Done(ticket, outcome));
    }

    fn finish_in_session(&mut self, at: usize, succeeds: bool) {
        if self.begun.session_jobs.is_empty() {
            return;
        }
        let (ticket, job) = self.begun.session_jobs.remove(at % self.begun.session_jobs.len());
        let runs = self.sessions.iter().any(|sim| sim.runs);
        let outcome = match job {
            SessionJob::Rename(_) => JobOutcome::Renamed(if succeeds { Ok(()) } else { Err("no".into()) }),
            SessionJob::FileEnd(..) => JobOutcome::FileEnd(String::new(), 0),
            SessionJob::Rewind { .. } if runs => JobOutcome::Rewound(Err(NotRewound::running())),
            SessionJob::Rewind { .. } => JobOutcome::Rewound(Ok(Rewound::default())),
            SessionJob::Context => JobOutcome::Context(None),
            SessionJob::PermissionMode => JobOutcome::PermissionMode(None),
            SessionJob::Model(_) => JobOutcome::Model(if succeeds { Ok(()) } else { Err("no".into()) }),
            SessionJob::MoveToBackground(_) => JobOutcome::Moved(succeeds),
            job => panic!("{job:?}"),
        };
        self.give(ServerInput::Conversation(Turn::Done(ticket, outcome)));
    }

    /// Ends serving.
    pub(super) fn end(&mut self) {
        self.act(&Action::HangUp);
        for round in 0..1_000 {
            if self.is_closed {
                return;
            }
            self.act(&Action::Finish(round, true));
            self.act(&Action::Step(3));
            self.act(&Action::Deliver);
        }
        panic!("it does not end: {:?}", self.machine);
    }
}

fn pick<T>(all: &[T], at: usize) -> Option<&T> {
    if all.is_empty() { None } else { all.get(at % all.len()) }
}

fn session(generation: Generation) -> SessionId {
    SessionId::from(format!("s{generation}"))
}

fn event(generation: Generation, kind: EventKind) -> Event {
    Event::new(0, session(generation), RunId::from("r"), 0, kind)
}

fn steered(id: EntryId, fate: SteeredFate) -> EventKind {
    EventKind::Steered(Steered::new(Some(id), fate))
}
