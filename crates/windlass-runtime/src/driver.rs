//! The task of one session: machine, effects, results.

use crate::SessionError;
use crate::agents::{Below, Parent};
use crate::append::{Appending, Log};
use crate::background::{self, Registry};
use crate::budget::{Account, Budget};
use crate::checkpoints::{FileOrder, Keeper, RewindError, rewound};
use crate::events::EventQueue;
use crate::handle::Order;
use crate::held::Held;
use crate::model::ModelCall;
use crate::ports::Ports;
use crate::prepare::{ReadCall, Surroundings, prepare};
use crate::question;
use crate::session::{Nested, Persistence, listened};
use crate::tasks::Tasks;
use crate::tool::{Running, permit, run};
use futures_util::FutureExt;
use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use windlass_core::{Effect, EffectId, Input, Machine, Output, RunCall, StoreFailureKind, Unprepared};
use windlass_hook::HookContext;
use windlass_permission::Policy;
use windlass_tool::{Background, Cancel, Resumed, SessionState, ToolCx, ToolCxParts};
use windlass_types::{Access, DecisionReason, EntryId, HookCall, PermissionRequest, ToolOutcome, ToolUse, ToolUseId};

/// The latest word of a running call. However often it speaks, one is kept.
type LatestWord = Arc<Mutex<Option<String>>>;

/// How long SessionEnd hooks may take.
const SESSION_END: Duration = Duration::from_secs(10);
/// How long files of a session that has ended are waited for.
const TIDYING: Duration = Duration::from_secs(10);

/// The task of one session.
pub(crate) struct Driver {
    machine: Machine,
    account: Account,
    ports: Ports,
    orders: mpsc::UnboundedReceiver<Order>,
    inputs: mpsc::UnboundedReceiver<Input>,
    /// Cloned into tasks, whose results come back through it.
    results: mpsc::UnboundedSender<Input>,
    queue: Arc<EventQueue>,
    log: Log,
    model: Option<ModelCall>,
    tasks: Tasks,
    background: Registry,
    below: Below,
    /// Those that wait until nothing goes on.
    quiet: Vec<oneshot::Sender<()>>,
    /// Those who wait for the end of runs.
    settled: Vec<oneshot::Sender<()>>,
    keeper: Option<Keeper>,
    /// Orders wait for it.
    rewinding: Option<JoinHandle<()>>,
    held: Held,
    /// Calls that were read, by the effect that read them.
    prepared: HashMap<EffectId, ReadCall>,
    arrived: mpsc::UnboundedReceiver<(EffectId, ReadCall)>,
    arriving: mpsc::UnboundedSender<(EffectId, ReadCall)>,
    state: Arc<SessionState>,
    policy: Option<(u64, Arc<Policy>)>,
    /// The latest word of each running call that the machine has not heard yet.
    progress: HashMap<EffectId, LatestWord>,
    /// Calls that said something. Heard last: however much they say, results,
    /// orders and the model come first.
    spoken: mpsc::UnboundedReceiver<EffectId>,
    speaking: mpsc::UnboundedSender<EffectId>,
    /// Whether anybody can still give orders.
    listening: bool,
    /// How the session ended, when it has.
    over: Option<Result<(), SessionError>>,
}

/// What a driver is made from.
pub(crate) struct DriverParts {
    pub(crate) machine: Machine,
    pub(crate) ports: Ports,
    pub(crate) orders: mpsc::UnboundedReceiver<Order>,
    pub(crate) inputs: mpsc::UnboundedReceiver<Input>,
    pub(crate) results: mpsc::UnboundedSender<Input>,
    pub(crate) queue: Arc<EventQueue>,
    pub(crate) log: Log,
    pub(crate) nested: Nested,
    /// How the session is kept, if it is.
    pub(crate) kept: Option<Persistence>,
}

impl Driver {
    pub(crate) fn new(parts: DriverParts) -> Self {
        let DriverParts { machine, ports, orders, inputs, results, queue, log, nested, kept } = parts;
        let (arriving, arrived) = mpsc::unbounded_channel();
        let (speaking, spoken) = mpsc::unbounded_channel();
        let state = Arc::new(SessionState::default());
        if let Some(todos) = machine.state().todos() {
            state.get::<Resumed>().set_todos(todos.clone());
        }
        let budget = nested.budget.clone().unwrap_or_else(|| Budget::new(machine.state().cost()));
        let account = budget.open(results.clone());
        let (below, keeper) = Below::new(nested, kept, account.places());
        Self {
            machine,
            account,
            keeper,
            below,
            rewinding: None,
            ports,
            orders,
            inputs,
            background: Registry::new(results.clone()),
            results,
            held: Held::new(Arc::clone(&queue)),
            queue,
            log,
            model: None,
            tasks: Tasks::default(),
            quiet: Vec::new(),
            settled: Vec::new(),
            prepared: HashMap::new(),
            arrived,
            arriving,
            state,
            policy: None,
            progress: HashMap::new(),
            spoken,
            speaking,
            listening: true,
            over: None,
        }
    }

    /// Drives the session until it is closed or broken, and says which.
    pub(crate) async fn drive(mut self) -> Result<(), SessionError> {
        let ended = loop {
            if let Some(ended) = self.over.take() {
                break ended;
            }
            for (id, effect) in self.held.look(self.machine.backlog()) {
                self.begin(id, effect);
            }
            let input = self.next_input().await;
            if let Some(input) = input {
                self.take(input);
            }
            if !self.settled.is_empty() && self.machine.is_settled() {
                for waiting in self.settled.drain(..) {
                    // Whoever waited may be gone.
                    let _ = waiting.send(());
                }
            }
            if !self.quiet.is_empty() && self.machine.is_quiet() {
                for waiting in self.quiet.drain(..) {
                    // Nobody may wait any more.
                    let _ = waiting.send(());
                }
            }
        };
        tokio::join!(self.background.close(), self.below.close());
        let tidied = async {
            if let Some(scratch) = &self.ports.scratch {
                background::remove(scratch).await;
            }
            // Whoever opens the session again must not find its checkpoints in use.
            if let Some(keeper) = &self.keeper {
                keeper.ready().await;
            }
        };
        if tokio::time::timeout(TIDYING, tidied).await.is_err() {
            tracing::warn!("the session ends before its files are tidied up: the disk does not answer");
        }
        ended
    }

    /// Waits for whatever comes first. Results come before orders, so that an
    /// order finds the machine as it is.
    async fn next_input(&mut self) -> Option<Input> {
        let crowded = self.held.is_crowded();
        let ids = Arc::clone(&self.ports.ids);
        let jitter = move || ids.bits() as u32;
        tokio::select! {
            biased;
            input = self.inputs.recv() => input,
            () = rewound(&mut self.rewinding) => None,
            Some(order) = self.below.next() => {
                let (machine, ports, results) = (&self.machine, &self.ports, &self.results);
                self.below.obey(order, &Parent { machine, ports, keeper: self.keeper.as_ref(), results });
                None
            }
            order = self.orders.recv(), if self.listening && self.rewinding.is_none() => {
                self.listening = order.is_some();
                self.obey(order.unwrap_or(Order::Input(Input::Close)))
            }
            item = next_item(&mut self.model, jitter), if !crowded && self.model.is_some() => {
                if item.is_none() {
                    self.model = None;
                }
                item
            }
            () = self.held.room() => None,
            Some(effect) = self.spoken.recv() => self.word(effect),
        }
    }

    /// Carries out what concerns the driver alone, and hands on the rest.
    fn obey(&mut self, order: Order) -> Option<Input> {
        match order {
            Order::Input(input) => Some(input),
            Order::Tools(tools) => {
                let specs = tools.specs();
                self.ports.tools = tools.into();
                self.below.follow_tools(&self.ports.tools, &self.machine);
                Some(Input::SetTools(specs))
            }
            Order::Hooks => {
                self.ports.hooks = self.ports.hooks.renewed();
                self.below.follow_hooks();
                Some(Input::SetHooks(listened(&self.ports.hooks)))
            }
            Order::Files(order) => {
                self.files(order);
                None
            }
            Order::StopTask(id) => {
                self.background.stop(&id);
                self.below.stop_task(&id);
                None
            }
            Order::StopTasks => {
                self.background.stop_all();
                None
            }
            Order::Quiet(waiting) => {
                self.quiet.retain(|waiting| !waiting.is_closed());
                self.quiet.push(waiting);
                None
            }
            Order::Settled(waiting) => {
                self.settled.retain(|waiting| !waiting.is_closed());
                self.settled.push(waiting);
                None
            }
            Order::Environment(env) => {
                self.below.follow_environment(&env);
                self.ports.env = env.into();
                None
            }
        }
    }

    /// Lists or rewinds what was kept of files.
    fn files(&mut self, order: FileOrder) {
        let Some(keeper) = self.keeper.clone() else { return order.refuse(RewindError::Off) };
        let is_rewind = order.is_rewind();
        if is_rewind && (!self.machine.is_idle() || self.below.goes_on()) {
            return order.refuse(RewindError::Running);
        }
        let work = tokio::spawn(keeper.obey(order, self.machine.policy().directories().to_vec()));
        if is_rewind {
            self.rewinding = Some(work);
        }
    }

    /// What a running call said last, if the machine has not heard it.
    fn word(&self, effect: EffectId) -> Option<Input> {
        let word = self.progress.get(&effect)?.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        Some(Input::Progress(effect, word))
    }

    fn take(&mut self, input: Input) {
        if let Input::Ran(effect, _) = &input
            && let Some(word) = self.word(*effect)
        {
            self.handle(word);
        }
        if let Input::Ran(effect, _) | Input::Hooked(effect, _) | Input::Answered(effect, _) | Input::Woke(effect) =
            &input
        {
            self.tasks.done(*effect);
            self.progress.remove(effect);
        }
        self.handle(input);
        if self.machine.is_idle() {
            while self.arrived.try_recv().is_ok() {}
            self.prepared.clear();
        }
        self.tasks.sweep();
        self.below.follow_policy(&self.machine);
    }

    fn handle(&mut self, input: Input) {
        let spent = self.account.spent();
        if spent != self.machine.session_spent() {
            self.give(Input::SessionSpent(spent));
        }
        self.give(input);
    }

    fn give(&mut self, input: Input) {
        let now = self.ports.clock.now();
        if let Err(unfit) = self.machine.handle(now, input) {
            // The machine is as it was, and the session can be continued.
            tracing::error!(%unfit, "an answer does not fit");
            debug_assert!(false, "{unfit}");
        }
        while let Some(output) = self.machine.poll() {
            match output {
                Output::Event(event) => self.queue.push(*event),
                Output::Effect(id, effect) => self.carry_out(id, effect),
                Output::Closed => self.end(None),
                Output::Broken(failure) => {
                    tracing::error!(%failure, "the session log was refused, or does not answer");
                    let message = failure.message;
                    self.end(Some(match failure.kind {
                        StoreFailureKind::Unanswered => SessionError::LogSilent { message },
                        _ => SessionError::Store { message },
                    }));
                }
            }
        }
    }

    fn end(&mut self, error: Option<SessionError>) {
        self.queue.end(error.clone());
        self.over = Some(error.map_or(Ok(()), Err));
    }

    fn carry_out(&mut self, id: EffectId, effect: Effect) {
        match effect {
            Effect::Append { entries, durable } => self.append(id, entries, durable),
            Effect::Cancel(other) => self.cancel(other),
            Effect::StopTask(id) => self.background.stop(&id),
            Effect::Reserve(cost) => self.account.reserve(id, cost),
            Effect::Settle { reservation, cost } => self.account.settle(reservation, cost),
            Effect::Sleep(wait) => {
                let results = self.results.clone();
                self.tasks.start(id, async move {
                    tokio::time::sleep(wait).await;
                    answer(&results, Input::Woke(id));
                });
            }
            // Closing does not wait for a host that does not read.
            Effect::RunHooks { call: HookCall::SessionEnd { .. }, .. } => self.begin(id, effect),
            effect if self.held.is_crowded() => self.held.hold(id, effect),
            effect => self.begin(id, effect),
        }
    }

    fn begin(&mut self, id: EffectId, effect: Effect) {
        match effect {
            Effect::CallModel(request) => {
                self.model = Some(ModelCall::new(id, Arc::clone(&self.ports.provider), request));
            }
            Effect::Prepare { call, cwd } => self.prepare(id, call, cwd),
            Effect::RunHooks { call, cwd } => self.run_hooks(id, call, cwd),
            Effect::Ask { request, cwd } => self.ask(id, *request, cwd),
            Effect::Snapshot { tool_use_id, prompt, paths } => self.keep(id, tool_use_id, prompt, paths),
            Effect::Run(call) => self.run(id, &call),
            Effect::Append { .. }
            | Effect::Cancel(_)
            | Effect::StopTask(_)
            | Effect::Sleep(_)
            | Effect::Reserve(_)
            | Effect::Settle { .. } => self.carry_out(id, effect),
        }
    }

    /// Keeps the files that a call is about to change.
    fn keep(&mut self, id: EffectId, call: ToolUseId, prompt: EntryId, paths: Vec<PathBuf>) {
        let Some(keeper) = self.keeper.clone() else {
            return answer(&self.results, Input::Snapshotted(id, Ok(())));
        };
        let results = self.results.clone();
        self.tasks.start(id, async move {
            let kept = keeper.keep(prompt, call, paths).await;
            answer(&results, Input::Snapshotted(id, kept));
        });
    }

    fn append(&mut self, effect: EffectId, entries: Vec<windlass_types::Entry>, durable: bool) {
        if let Some(keeper) = &mut self.keeper {
            keeper.heard(&entries);
        }
        match &self.log {
            Log::Nowhere => answer(&self.results, Input::Appended(effect, Ok(()))),
            Log::Store(log) => {
                if log.send(Appending { effect, entries, durable }).is_err() {
                    let failure = windlass_core::StoreFailure::new("the log writer has ended after an earlier failure");
                    answer(&self.results, Input::Appended(effect, Err(failure)));
                }
            }
        }
    }

    fn cancel(&mut self, effect: EffectId) {
        if self.model.as_ref().is_some_and(|call| call.effect() == effect) {
            self.model = None;
        }
        if let Some(Effect::Run(_)) = self.held.remove(effect) {
            answer(&self.results, Input::Ran(effect, Box::new(not_run())));
        }
        self.account.release(effect);
        self.tasks.cancel(effect);
        self.prepared.remove(&effect);
    }

    fn prepare(&mut self, id: EffectId, call: ToolUse, cwd: PathBuf) {
        let at = Surroundings {
            tools: self.ports.tools.clone(),
            workspace: Arc::clone(&self.ports.workspace),
            directories: self.machine.policy().directories().into(),
            env: Arc::clone(&self.ports.env),
        };
        let (results, arriving) = (self.results.clone(), self.arriving.clone());
        self.tasks.start(id, async move {
            let read = AssertUnwindSafe(prepare(&at, &call, &cwd)).catch_unwind().await;
            let failed =
                || Unprepared::new(DecisionReason::ToolCheck, "The call could not be read: its paths panicked.");
            let result = read.unwrap_or_else(|_| Err(failed())).map(|ready| {
                // Sent first: the machine may ask for the run as soon as it has the facts.
                let _ = arriving.send((id, ready.call));
                Box::new(ready.prepared)
            });
            answer(&results, Input::Prepared(id, result));
        });
    }

    fn run_hooks(&mut self, id: EffectId, call: HookCall, cwd: PathBuf) {
        let (hooks, results) = (self.ports.hooks.clone(), self.results.clone());
        let cx = self.hook_context(cwd);
        self.tasks.start(id, async move {
            let outcome = match &call {
                // Nothing else is left to end a session whose last hook does not answer.
                HookCall::SessionEnd { .. } => {
                    tokio::time::timeout(SESSION_END, hooks.run(&cx, &call)).await.unwrap_or_default()
                }
                _ => hooks.run(&cx, &call).await,
            };
            answer(&results, Input::Hooked(id, Box::new(outcome)));
        });
    }

    fn hook_context(&self, cwd: PathBuf) -> HookContext {
        let cx = HookContext::new(self.machine.session_id().clone(), cwd).with_agent(self.machine.agent().cloned());
        cx.with_permission_mode(self.machine.policy().mode())
    }

    fn ask(&mut self, id: EffectId, request: PermissionRequest, cwd: PathBuf) {
        let (host, hooks) = (self.ports.can_use_tool.clone(), self.ports.hooks.clone());
        let cx = self.hook_context(cwd);
        let (results, concerned) = (self.results.clone(), self.below.concerned());
        self.tasks.start(id, async move {
            let tell = |outcome| answer(&results, Input::AskedHooks(id, Box::new(outcome)));
            let said = question::ask(host, hooks, cx, request, tell).await;
            concerned.hear(&said);
            answer(&results, Input::Answered(id, said));
        });
    }

    fn policy(&mut self) -> Arc<Policy> {
        let epoch = self.machine.policy_epoch();
        match &self.policy {
            Some((of, policy)) if *of == epoch => Arc::clone(policy),
            _ => {
                let policy = Arc::new(self.machine.policy().clone());
                self.policy = Some((epoch, Arc::clone(&policy)));
                policy
            }
        }
    }

    /// What a call leaves work behind with.
    fn background_of(&self, id: EffectId, run_call: &RunCall) -> Arc<dyn Background> {
        let folder = self.ports.artifacts.clone().or_else(|| self.ports.scratch.clone());
        let only_reads = matches!(run_call.facts.access, Access::Reads(_));
        self.background.of_call(id, run_call.call.id.clone(), Arc::clone(&self.ports.ids), folder, only_reads)
    }

    fn run(&mut self, id: EffectId, run_call: &RunCall) {
        while let Ok((effect, call)) = self.arrived.try_recv() {
            self.prepared.insert(effect, call);
        }
        let Some(ReadCall { call, tool }) = self.prepared.remove(&run_call.prepared) else {
            return answer(&self.results, Input::Ran(id, Box::new(not_run())));
        };
        let policy = self.policy();
        let cancel = Cancel::new();
        let directories: Arc<[PathBuf]> = policy.directories().into();
        let (ids, results) = (Arc::clone(&self.ports.ids), self.results.clone());
        let word = LatestWord::default();
        self.progress.insert(id, Arc::clone(&word));
        let speaking = self.speaking.clone();
        let background = self.ports.background.then(|| self.background_of(id, run_call));
        let (cwd, call_id) = (run_call.facts.cwd.clone(), run_call.call.id.clone());
        let agents = self.below.of_call(call_id, cwd, &self.ports, &self.queue, &self.results);
        let cx = ToolCx::new(ToolCxParts {
            session_id: self.machine.session_id().clone(),
            tool_use_id: run_call.call.id.clone(),
            cancel: cancel.clone(),
            permit: permit(&run_call.facts, policy),
            workspace: Arc::clone(&self.ports.workspace),
            process: Arc::clone(&self.ports.process),
            clock: Arc::clone(&self.ports.clock),
            ids: Arc::clone(&ids),
            cwd: run_call.facts.cwd.clone(),
            directories,
            env: Arc::clone(&self.ports.env),
            artifacts: self.ports.artifacts.clone(),
            state: Arc::clone(&self.state),
            background,
            agents: Some(agents),
            progress: Arc::new(move |message| {
                let before = word.lock().unwrap_or_else(PoisonError::into_inner).replace(message);
                if before.is_none() {
                    // It fails only when the session has ended.
                    let _ = speaking.send(id);
                }
            }),
        });
        let running = Running { tool, call, cx, cancel: cancel.clone(), ids };
        let keeper = self.keeper.clone().filter(|_| matches!(run_call.facts.access, Access::Writes(_)));
        let written = run_call.facts.paths.iter().filter(|path| path.write).map(|path| path.resolved.clone());
        let noted = keeper.map(|keeper| keeper.changed(run_call.call.id.clone(), written.collect()));
        self.tasks.start_stoppable(id, cancel, async move {
            let outcome = run(running).await;
            if let Some(noted) = noted {
                noted.await;
            }
            answer(&results, Input::Ran(id, Box::new(outcome)));
        });
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

fn not_run() -> ToolOutcome {
    ToolOutcome::error(windlass_context::runtime_text::NOT_RUN)
}
