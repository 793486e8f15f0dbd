//! The task of one session: machine, effects, results.

mod around;
mod effects;
mod side;

use crate::SessionError;
use crate::agents::{AgentsCall, Below, Parent};
use crate::append::Log;
use crate::background::{self, Registry};
use crate::budget::{Account, Budget, Journal};
use crate::checkpoints::SessionFiles;
use crate::completions;
use crate::error::RewindError;
use crate::events::EventQueue;
use crate::held::Held;
use crate::made::MadeCalls;
use crate::model::ModelCall;
use crate::observer::Observer;
use crate::open_questions::OpenQuestion;
use crate::order::Order;
use crate::order::{ConversationOrder, Wanted};
use crate::orders::Orders;
use crate::ports::Ports;
use crate::prepare::ReadCalls;
use crate::progress::Progress;
use crate::rewind;
use crate::room::Room;
use crate::scope::completed;
use crate::session::{Nested, Persistence, listened};
use crate::side::SideCalls;
use crate::tasks::Tasks;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::future::poll_fn;
use std::path::PathBuf;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::mpsc;
use windlass_context::FileInstructions;
use windlass_core::{Input, Machine, Output, StoreFailureKind};
use windlass_hook::Occasions;
use windlass_permission::{Heard, Policy};
use windlass_tool::{Foreground, Recorded, SessionState, ToolSet};
use windlass_types::{EventKind, HookCall, QuestionId};

/// Time limit for SessionEnd hooks.
const SESSION_END: Duration = Duration::from_secs(10);
/// Time limit for tidying up the files of a session that has ended.
const TIDYING: Duration = Duration::from_secs(10);
/// Maximum number of items of a model's stream that are taken in a row.
const ROW: usize = 64;

/// The task of one session.
pub(crate) struct Driver {
    machine: Machine,
    ports: Ports,
    orders: Orders,
    answers: Answers,
    outgoing: Outgoing,
    account: Account,
    work: Work,
    below: Below,
    files: SessionFiles,
    shared: Shared,
    /// The instructions that the model reads when the first run begins.
    first: Vec<FileInstructions>,
    /// Result of the session, once it has ended.
    over: Option<Result<(), SessionError>>,
}

/// Outgoing data: entries to the log, events to the host, occasions to hooks.
struct Outgoing {
    log: Log,
    queue: Arc<EventQueue>,
    observer: Observer,
}

/// The answers to effects, and all other inputs for the machine.
struct Answers {
    inputs: mpsc::UnboundedReceiver<Input>,
    /// Cloned into tasks, which send their answers through it.
    sender: mpsc::UnboundedSender<Input>,
}

/// Effects that are carried out now, or soon.
struct Work {
    model: Option<ModelCall>,
    tasks: Tasks,
    background: Registry,
    held: Held,
    calls: ReadCalls,
    made: MadeCalls,
    progress: Progress,
    /// Remaining space for the results of the latest message.
    room: Room,
    /// Questions that can be answered, and whose hooks and callback are not asked yet.
    asked: BTreeMap<QuestionId, OpenQuestion>,
    side: SideCalls,
    /// A rewind of the conversation that is about to begin.
    rewind: Option<Wanted>,
}

/// State that all calls of the session share.
#[derive(Default)]
struct Shared {
    state: Arc<SessionState>,
    /// Session history that the classifier may read.
    heard: Heard,
    policy: Option<(u64, Arc<Policy>)>,
    directories: Arc<[PathBuf]>,
    completions: Option<Arc<completions::OfCalls>>,
}

impl Shared {
    /// The directories of the workspace, copied when they have changed.
    fn directories(&mut self, policy: &Policy) -> Arc<[PathBuf]> {
        if *self.directories != *policy.directories() {
            self.directories = policy.directories().into();
        }
        Arc::clone(&self.directories)
    }

    /// The policy of the machine as it is now, copied when it has changed.
    fn policy(&mut self, machine: &Machine) -> Arc<Policy> {
        let epoch = machine.policy_epoch();
        match &self.policy {
            Some((of, policy)) if *of == epoch => Arc::clone(policy),
            _ => {
                let policy = Arc::new(machine.policy().clone());
                self.policy = Some((epoch, Arc::clone(&policy)));
                policy
            }
        }
    }
}

/// Parts of a driver.
pub(crate) struct DriverParts {
    pub(crate) machine: Machine,
    pub(crate) ports: Ports,
    pub(crate) orders: mpsc::UnboundedReceiver<Order>,
    pub(crate) inputs: mpsc::UnboundedReceiver<Input>,
    pub(crate) results: mpsc::UnboundedSender<Input>,
    pub(crate) queue: Arc<EventQueue>,
    pub(crate) log: Log,
    pub(crate) nested: Nested,
    /// Persistence of the session, if it is kept.
    pub(crate) kept: Option<Persistence>,
    /// The instructions that the model reads when the first run begins, and hooks are asked about.
    pub(crate) first: Vec<FileInstructions>,
}

impl Driver {
    pub(crate) fn new(parts: DriverParts) -> Self {
        let DriverParts { machine, ports, orders, inputs, results, queue, log, nested, kept, first } = parts;
        let shared = Shared::default();
        let directories = machine.policy().directories().to_vec();
        let mut occasions = Occasions::new(machine.state().cwd(), directories);
        if let Some(todos) = machine.state().todos() {
            occasions.begins_with(todos);
            shared.state.get::<Recorded>().set_todos(Some(todos.clone()));
        }
        let journal = log.orders().map(|orders| Journal::new(orders, &ports.system));
        let budget = nested.budget.clone().unwrap_or_else(|| Budget::new(machine.state().spent().clone(), journal));
        let account = budget.open(results.clone());
        let (below, keeper) = Below::new(nested, kept, account.places());
        let work = Work {
            model: None,
            tasks: Tasks::default(),
            background: Registry::new(results.clone()),
            held: Held::new(Arc::clone(&queue)),
            calls: ReadCalls::new(),
            made: MadeCalls::default(),
            progress: Progress::new(),
            room: Room::default(),
            asked: BTreeMap::new(),
            side: SideCalls::default(),
            rewind: None,
        };
        let hooks = ports.hooks.clone();
        Self {
            machine,
            ports,
            orders: Orders::new(orders),
            answers: Answers { inputs, sender: results },
            outgoing: Outgoing { log, queue, observer: Observer::new(occasions, &hooks) },
            account,
            work,
            below,
            files: SessionFiles::new(keeper),
            shared,
            first,
            over: None,
        }
    }

    /// Drives the session until it is closed or broken, and returns which.
    pub(crate) async fn drive(mut self) -> Result<(), SessionError> {
        let ended = loop {
            if let Some(ended) = self.over.take() {
                break ended;
            }
            for (id, effect) in self.work.held.look(self.machine.backlog()) {
                self.begin(id, effect);
            }
            let input = self.next_input().await;
            let streams = matches!(input, Some(Input::Model(..) | Input::AnsweredBy(..)));
            if let Some(input) = input {
                self.take(input);
            }
            if streams {
                poll_fn(|cx| {
                    self.take_row(cx);
                    Poll::Ready(())
                })
                .await;
            }
            self.orders.answer(&self.machine);
        };
        tokio::join!(self.work.background.close(), self.below.close(), self.outgoing.observer.close());
        let tidied = async {
            if let Some(scratch) = &self.ports.storage.scratch {
                background::remove(scratch).await;
            }
            // The next opening of the session must not find its checkpoints in use.
            self.files.end().await;
        };
        if tokio::time::timeout(TIDYING, tidied).await.is_err() {
            tracing::warn!("the session ends before its files are tidied up: the disk does not answer");
        }
        ended
    }

    /// Takes the items of the model's stream that are there already, as further rounds would: while no other input
    /// comes before them, and while there is room for their effects.
    fn take_row(&mut self, cx: &mut Context<'_>) {
        for _ in 0..ROW {
            let earlier = !self.answers.inputs.is_empty() || self.below.has_next() || self.orders.have_next();
            if earlier || self.over.is_some() || self.files.are_rewound() {
                return;
            }
            for (id, effect) in self.work.held.look(self.machine.backlog()) {
                self.begin(id, effect);
            }
            if self.work.held.is_crowded() {
                return;
            }
            let ids = &self.ports.system.ids;
            let polled = self.work.model.as_mut().map(|call| call.poll_next(cx, || ids.bits() as u32));
            match polled {
                Some(Poll::Ready(Some(item))) => self.take(item),
                // The rest is left to the round.
                _ => return,
            }
        }
    }

    /// Waits for the next input or order. Results come before orders, so that an
    /// order finds the machine as it is.
    async fn next_input(&mut self) -> Option<Input> {
        let crowded = self.work.held.is_crowded();
        // Orders that change the session wait while files are rewound; read-only orders do not.
        let (takes_orders, only_looks) = (self.orders.are_open(), self.files.are_rewound());
        let ids = Arc::clone(&self.ports.system.ids);
        let jitter = move || ids.bits() as u32;
        let Work { model, held, progress, .. } = &mut self.work;
        tokio::select! {
            biased;
            input = self.answers.inputs.recv() => input,
            () = self.files.rewound() => None,
            Some(order) = self.below.next() => {
                let (machine, ports, results) = (&self.machine, &self.ports, &self.answers.sender);
                self.below.obey(order, &Parent { machine, ports, keeper: self.files.keeper(), results });
                None
            }
            order = self.orders.next(only_looks), if takes_orders => self.obey(order.unwrap_or(Order::Input(Input::Close))),
            item = next_item(model, jitter), if !crowded && model.is_some() => {
                if item.is_none() {
                    *model = None;
                }
                item
            }
            () = held.room() => None,
            Some(effect) = progress.next() => progress.take(effect),
        }
    }

    /// Carries out what concerns the driver alone, and hands on the rest.
    fn obey(&mut self, order: Order) -> Option<Input> {
        match order {
            Order::Input(input) => Some(input),
            Order::Model(name) => {
                if let Some(doubt) = self.ports.doubt(&name) {
                    self.handle(Input::Notice(doubt));
                }
                Some(Input::SetModel(Box::new(self.ports.model(&name))))
            }
            Order::Tools(tools) => Some(self.renew_tools(tools)),
            Order::Hooks => {
                self.ports.hooks = self.ports.hooks.renewed();
                self.outgoing.observer.follow(&self.ports.hooks);
                self.below.follow_hooks();
                Some(Input::SetHooks(listened(&self.ports.hooks)))
            }
            Order::Files(order) => {
                let busy = !self.machine.is_idle() || self.below.any_at_work();
                self.files.obey(order, busy, self.machine.policy().directories().to_vec());
                None
            }
            Order::Conversation(order) => self.obey_conversation(order),
            Order::StopTask(id) => {
                self.work.background.stop(&id);
                self.below.stop_task(&id);
                None
            }
            Order::StopTasks => {
                self.work.background.stop_all();
                None
            }
            look @ (Order::ContextUsage(_)
            | Order::PermissionMode(_)
            | Order::MoveToBackground(..)
            | Order::Quiet(_)
            | Order::Settled(_)
            | Order::Agents(..)) => {
                self.look(look);
                None
            }
            Order::SideCall(call, waiting) => {
                self.begin_side(*call, waiting);
                None
            }
            Order::Approve(approval, waiting) => {
                self.begin_approval(*approval, waiting);
                None
            }
            Order::AskHooks(call, waiting) => {
                self.reporter().send(*call, Some(waiting));
                None
            }
            Order::Environment(env) => self.give_environment(env),
            Order::Variables(changes) => self.change_environment(changes),
        }
    }

    /// Sets variables of the environment of programs, and removes those without a value.
    fn change_environment(&mut self, changes: Vec<(OsString, Option<OsString>)>) -> Option<Input> {
        let mut env = self.ports.system.env.to_vec();
        env.retain(|(known, _)| !changes.iter().any(|(name, _)| name == known));
        env.extend(changes.into_iter().filter_map(|(name, value)| Some((name, value?))));
        self.give_environment(env)
    }

    /// Replaces the tools, and returns the input that tells the machine.
    fn renew_tools(&mut self, tools: ToolSet) -> Input {
        let specs = tools.specs();
        self.ports.tools = tools.into();
        self.below.follow_tools(&self.ports.tools, &self.machine);
        Input::SetTools(specs)
    }

    /// Finds a point of the conversation, or begins to rewind it. A rewind is refused while the session or an agent of it
    /// is at work.
    fn obey_conversation(&mut self, order: ConversationOrder) -> Option<Input> {
        match order {
            ConversationOrder::Look(to, answer) => {
                rewind::look(&self.outgoing.log, to, answer);
                None
            }
            order if !self.machine.is_idle() || self.below.any_at_work() => {
                order.refuse(RewindError::Running);
                None
            }
            ConversationOrder::Rewind(wanted) => {
                let to = wanted.to.clone();
                self.work.rewind = Some(wanted);
                Some(Input::Rewind(to))
            }
        }
    }

    /// Gives programs of the session, and of agents below it, this environment.
    fn give_environment(&mut self, env: Vec<(OsString, OsString)>) -> Option<Input> {
        self.below.follow_environment(&env);
        self.ports.system.env = env.into();
        None
    }

    /// Carries out a read-only order.
    fn look(&mut self, order: Order) {
        match order {
            Order::ContextUsage(waiting) => {
                // The requester may have dropped its receiver.
                let _ = waiting.send(self.machine.context_usage());
            }
            Order::PermissionMode(waiting) => {
                // The requester may have dropped its receiver.
                let _ = waiting.send(self.machine.policy().mode());
            }
            Order::MoveToBackground(call, waiting) => {
                // The requester may have dropped its receiver.
                let _ = waiting.send(self.shared.state.get::<Foreground>().move_to_background(call.as_ref()));
            }
            Order::Quiet(waiting) => {
                self.orders.when_quiet(waiting);
            }
            Order::Settled(waiting) => {
                self.orders.when_settled(waiting);
            }
            Order::Agents(origin, waiting) => {
                let place = AgentsCall::standing_for(origin, self.machine.state().cwd().to_path_buf());
                let (caller, results) = (self.machine.agent(), &self.answers.sender);
                // The requester may have dropped its receiver.
                let _ = waiting.send(self.below.of_call(place, caller, &self.ports, &self.outgoing.queue, results));
            }
            _ => {}
        }
    }

    fn take(&mut self, input: Input) {
        if let Input::Ran(effect, _) = &input
            && let Some(progress) = self.work.progress.take(*effect)
        {
            self.handle(progress);
        }
        if let Input::Prepared(_, Ok(prepared)) = &input {
            self.foresee(&prepared.facts);
        }
        if let Input::Ran(effect, _)
        | Input::Hooked(effect, _)
        | Input::Classified(effect, _)
        | Input::Answered(effect, _)
        | Input::Unanswered(effect, _)
        | Input::Woke(effect) = &input
        {
            self.work.tasks.done(*effect);
            self.work.progress.end(*effect);
            self.work.made.end(*effect);
        }
        if let Input::Appended(append, _) = &input {
            self.below.kept_open().answered(*append);
        }
        let is_rewound = matches!(input, Input::Rewound(_, Some(_)));
        self.handle(input);
        if is_rewound {
            self.forget_conversation();
        }
        if self.machine.is_idle() {
            self.work.calls.clear();
        }
        self.work.tasks.sweep();
        if self.below.follow_policy(&self.machine) {
            let added = self.outgoing.observer.see_directories(self.machine.policy().directories());
            self.ask_beside(added);
        }
    }

    /// Replaces the state of tools and the classifier's history by those of the rewound log, as when a session is
    /// resumed. So an edit needs a file that was read in this conversation.
    fn forget_conversation(&mut self) {
        self.shared.state = Arc::default();
        self.shared.state.get::<Recorded>().set_todos(self.machine.state().todos().cloned());
        self.shared.heard = Heard::default();
    }

    /// Runs the hooks for the occasions that follow from an event.
    fn observe(&mut self, event: &EventKind) {
        let mut calls = match event {
            EventKind::RunStarted(_) => {
                self.below.questions().leave_pending(Vec::new());
                let first = std::mem::take(&mut self.first);
                self.outgoing.observer.see_instructions(&first, "session_start")
            }
            EventKind::RunFinished(result) => {
                self.below.questions().leave_pending(result.pending_questions.clone());
                self.work.side.end();
                Vec::new()
            }
            _ => Vec::new(),
        };
        calls.extend(self.outgoing.observer.see(event));
        self.ask_beside(calls);
    }

    /// Runs the hooks concurrently with the work.
    fn ask_beside(&mut self, calls: Vec<HookCall>) {
        if !calls.is_empty() {
            let reporter = self.reporter();
            calls.into_iter().for_each(|call| reporter.report(call));
        }
    }

    fn handle(&mut self, input: Input) {
        if let Input::AddInstructions(files) = &input {
            let loaded = self.outgoing.observer.see_instructions(files, "nested_traversal");
            self.ask_beside(loaded);
        }
        let (input, doubts) = completed(input, &self.ports);
        for doubt in doubts {
            self.give(Input::Notice(doubt));
        }
        let spent = self.account.spent();
        if spent != self.machine.session_spent() {
            self.give(Input::SessionSpent(spent));
        }
        self.give(input);
    }

    fn give(&mut self, input: Input) {
        let now = self.account.latest(self.ports.system.clock.now());
        if let Err(unfit) = self.machine.handle(now, input) {
            // The machine is as it was, and the session can be continued.
            tracing::error!(%unfit, "an answer does not fit");
            debug_assert!(false, "{unfit}");
        }
        while let Some(output) = self.machine.poll() {
            match output {
                Output::Event(event) => {
                    self.observe(&event.kind);
                    self.outgoing.queue.push(event);
                }
                Output::Effect(id, effect) => self.carry_out(id, effect),
                Output::Closed => self.over = Some(Ok(())),
                Output::Broken(failure) => {
                    tracing::error!(%failure, "the session log was refused, or does not answer");
                    let message = failure.message;
                    self.over = Some(Err(match failure.kind {
                        StoreFailureKind::Unanswered => SessionError::LogSilent { message },
                        _ => SessionError::Store { message },
                    }));
                }
            }
        }
    }
}

async fn next_item(model: &mut Option<ModelCall>, jitter: impl Fn() -> u32) -> Option<Input> {
    match model {
        Some(call) => call.next(jitter).await,
        None => std::future::pending().await,
    }
}

/// Hands a result back. It fails only when the session has ended.
fn answer(results: &mpsc::UnboundedSender<Input>, input: Input) {
    let _ = results.send(input);
}
