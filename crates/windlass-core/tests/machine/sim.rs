//! A driver without any input or output: it keeps every open effect and answers them in the order, and with the
//! results, that choices determine.

use crate::check::Checks;
use crate::choices::Choices;
use crate::tools;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;
use windlass_context::Environment;
use windlass_core::{
    Effect, EffectId, Input, Ledger, Limits, Machine, MachineConfig, ModelFailure, ModelProfile, Output, Prompt,
    Reservation, RunCall, StoreFailure, Unanswered,
};
use windlass_permission::Classified;
use windlass_session::TokenSecret;
use windlass_types::{
    AgentIdentity, AgentPath, Behavior, BlockStart, CallDigest, ContentBlock, Decision, DecisionReason, Entry, EntryId,
    EntryKind, Event, HookCall, HookEventName, HookOutcome, HookVerdict, JsonText, MessageId, ModelErrorKind,
    ModelEvent, ModelInfo, ModelItem, ModelRequest, NanoUsd, PermissionAnswer, PermissionMode, PermissionRequest,
    PermissionUpdate, Price, RateLimit, RateLimitStatus, SessionId, StopReason, StreamDelta, TaskEnded, TaskInfo,
    TaskKind, TaskStatus, Timestamp, ToolMatcher, ToolOutcome, ToolUse, UpdateDestination, Usage, WaitingAgent,
};

/// An effect that waits for its answer.
#[derive(Debug, Clone)]
pub(crate) enum Going {
    Model {
        events: Vec<ModelEvent>,
        at: usize,
        fails: Option<ModelErrorKind>,
    },
    Prepare {
        call: ToolUse,
        cwd: std::path::PathBuf,
    },
    Hooks(HookCall),
    Classify,
    Ask(PermissionRequest),
    Snapshot,
    Run(RunCall),
    /// A call that was asked to stop: it still answers.
    Stopping(RunCall),
    Append,
    Sleep,
    Rewind(EntryId),
    /// Answer of the ledger. `None`: open requests of other agents have reserved the amount.
    Reserve(Option<Reservation>),
}

/// All inputs of a machine with their times, and its outputs as text.
pub(crate) type Recorded = (Vec<(u64, Input)>, Vec<String>);

/// Abilities of a simulated world beyond the plain case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wild {
    /// The user stops, steers, changes mode and model, closes.
    pub(crate) user: bool,
    /// Model requests fail, and messages are odd.
    pub(crate) model: bool,
    /// Hooks and host do more than allow.
    pub(crate) gate: bool,
    /// The store refuses.
    pub(crate) store: bool,
    /// The user rewinds the conversation: delivered messages and reports may be gone then.
    pub(crate) rewinds: bool,
}

pub(crate) const TAME: Wild = Wild { user: false, model: false, gate: false, store: false, rewinds: false };
pub(crate) const WILD: Wild = Wild { user: true, model: true, gate: true, store: false, rewinds: false };

pub(crate) struct Sim {
    pub(crate) machine: Machine,
    pub(crate) going: Vec<(EffectId, Going)>,
    /// Cancelled effects, which may answer all the same.
    cancelled: Vec<(EffectId, Going)>,
    pub(crate) events: Vec<Event>,
    pub(crate) log: Vec<Entry>,
    pub(crate) requests: Vec<Arc<ModelRequest>>,
    pub(crate) checks: Checks,
    /// Answers of the model in order; when used up, a plain text.
    pub(crate) script: Vec<Vec<ContentBlock>>,
    /// Stop reasons of the answers, if not the usual one.
    pub(crate) reasons: Vec<StopReason>,
    choices: Choices,
    wild: Wild,
    /// `true` if runs wait for answers.
    waits: bool,
    pub(crate) now: u64,
    messages: u32,
    /// Background tasks of calls, each with `true` if it was asked to stop.
    pub(crate) tasks: Vec<(TaskInfo, bool)>,
    named: u32,
    /// Calls made by calls, and their outcomes.
    pub(crate) made: BTreeSet<(EffectId, u64)>,
    pub(crate) returned: BTreeMap<(EffectId, u64), ToolOutcome>,
    /// Messages sent to runs: `true` if the sender wants the message back.
    pub(crate) said: Vec<bool>,
    pub(crate) over: bool,
    /// Spending of the session, and this agent's key in the ledger.
    ledger: Rc<RefCell<Ledger>>,
    key: u64,
    /// Answers of the ledger for other agents.
    pub(crate) for_others: Vec<(u64, EffectId, Reservation)>,
    /// All inputs with their times, and all outputs, if they are recorded.
    pub(crate) recorded: Option<Recorded>,
    /// `true` if the model counts its input tokens. Otherwise each request has 100 tokens.
    pub(crate) counts: bool,
}

pub(crate) fn model(id: &str) -> ModelProfile {
    let mut info = ModelInfo::new(200_000, 8_000);
    info.price = Some(Price::new(3_000, 15_000));
    ModelProfile::new(id, info)
}

pub(crate) fn config() -> MachineConfig {
    let policy = tools::policy(PermissionMode::Default);
    let mut config = MachineConfig::new(SessionId::from("s"), 7, model("m"), policy, "/w".into());
    config.listeners.can_ask = true;
    config.listeners.classifies = true;
    config
}

/// Returns a configuration with hooks, a fallback and tight limits, determined by choices.
pub(crate) fn odd_config(choices: &mut Choices) -> MachineConfig {
    let mut config = config();
    config.fallback = (choices.pick(2) == 1).then(|| model("f"));
    config.listeners.can_ask = choices.pick(4) != 3;
    let hooks = [
        (HookEventName::PreToolUse, Some(ToolMatcher::exact("Hooked"))),
        (HookEventName::PreToolUse, None),
        (HookEventName::PermissionRequest, None),
        (HookEventName::PostToolUse, None),
        (HookEventName::PostToolUseFailure, None),
        (HookEventName::UserPromptSubmit, None),
        (HookEventName::Stop, None),
        (HookEventName::PreCompact, None),
        (HookEventName::SessionStart, None),
        (HookEventName::SessionEnd, None),
    ];
    config.listeners.waits = (choices.pick(3) == 1).then(|| TokenSecret::new(1, 2));
    config.listeners.hooks = hooks.into_iter().filter(|_| choices.pick(3) == 1).collect();
    config.tools.structured_output = (choices.pick(4) == 1).then(|| "Net".to_owned());
    config.auto_compact.window = [None, Some(2_000), Some(100)][choices.pick(3)];
    let mut limits = Limits::default();
    limits.max_turns = (choices.pick(4) == 1).then_some(3);
    limits.max_budget = (choices.pick(3) == 1).then(|| NanoUsd::new(60_000_000 + 10_000_000 * choices.pick(20) as u64));
    limits.max_parallel_tools = [10, 2, 1, 0][choices.pick(4)];
    limits.max_retries = 2;
    limits.max_output_continuations = 1;
    limits.max_stop_continuations = 2;
    limits.max_failing_turns = 4;
    config.limits = limits;
    config.context.environment = (choices.pick(2) == 1).then(|| Environment::new("linux"));
    config
}

impl Sim {
    pub(crate) fn new(config: MachineConfig, choices: Choices, wild: Wild) -> Self {
        let checks = Checks::new(&config);
        Self {
            waits: config.listeners.waits.is_some() && config.agent.as_ref().is_none_or(|agent| agent.waits),
            machine: Machine::new(config, &[]),
            going: Vec::new(),
            cancelled: Vec::new(),
            events: Vec::new(),
            log: Vec::new(),
            requests: Vec::new(),
            checks,
            script: Vec::new(),
            reasons: Vec::new(),
            choices,
            wild,
            now: 1_000,
            messages: 0,
            tasks: Vec::new(),
            named: 0,
            made: BTreeSet::new(),
            returned: BTreeMap::new(),
            said: Vec::new(),
            over: false,
            ledger: Rc::default(),
            key: 0,
            for_others: Vec::new(),
            recorded: None,
            counts: false,
        }
    }

    /// Shares a ledger with other agents.
    pub(crate) fn with_ledger(mut self, ledger: &Rc<RefCell<Ledger>>, key: u64) -> Self {
        (self.ledger, self.key) = (Rc::clone(ledger), key);
        self
    }

    pub(crate) fn prompt(&mut self, text: &str) {
        self.input(Input::Prompt(Prompt::text(text)));
    }

    /// Passes an input and processes all outputs.
    pub(crate) fn input(&mut self, input: Input) {
        self.now += 1;
        let spent = self.ledger.borrow().spent();
        if spent != self.machine.session_spent() {
            self.give(Input::SessionSpent(spent));
        }
        self.give(input);
        self.checks.after_step(&self.machine, &self.log, &self.going);
    }

    fn give(&mut self, input: Input) {
        if let Some((inputs, _)) = &mut self.recorded {
            inputs.push((self.now, input.clone()));
        }
        self.machine.handle(Timestamp::from_millis(self.now), input).unwrap();
        while let Some(output) = self.machine.poll() {
            if let Some((_, outputs)) = &mut self.recorded {
                outputs.push(format!("{output:?}"));
            }
            assert!(!self.over, "after the end came {output:?}");
            match output {
                Output::Event(event) => {
                    self.checks.event(&event, &self.log);
                    self.events.push(*event);
                }
                Output::Effect(id, effect) => self.effect(id, effect),
                Output::Closed | Output::Broken(_) => {
                    self.over = true;
                    self.checks.end(matches!(output, Output::Broken(_)));
                }
            }
        }
    }

    /// Passes the ledger's answer to a reservation that waited.
    pub(crate) fn reserved(&mut self, effect: EffectId, answer: Reservation) {
        let waits = |(id, going): &&mut (EffectId, Going)| *id == effect && matches!(going, Going::Reserve(None));
        let (_, going) = self.going.iter_mut().find(waits).expect("it does not wait");
        *going = Going::Reserve(Some(answer));
    }

    fn effect(&mut self, id: EffectId, effect: Effect) {
        self.checks.effect(id, &effect, &self.log, &self.going, &self.machine);
        let going = match effect {
            Effect::CallModel(request) => {
                self.requests.push(Arc::clone(&request));
                self.answer_of_model(&request)
            }
            Effect::Prepare { call, cwd } => Going::Prepare { call, cwd },
            Effect::RunHooks { call, .. } => Going::Hooks(call),
            Effect::Classify { facts, .. } => {
                assert_eq!(self.machine.policy().mode(), PermissionMode::Auto, "it is asked about {facts:?}");
                let asks = self.machine.policy().decide(&facts, None, None).behavior == Behavior::Ask;
                assert!(asks, "it is asked about {facts:?}");
                Going::Classify
            }
            Effect::Ask { request, .. } => Going::Ask(*request),
            Effect::Snapshot { .. } => Going::Snapshot,
            Effect::Run(call) => Going::Run(*call),
            Effect::Append { entries, durable } => {
                self.log.extend(entries);
                self.checks.appended(id, self.log.len(), durable);
                Going::Append
            }
            Effect::Sleep(_) => Going::Sleep,
            Effect::Rewind(to) => Going::Rewind(to),
            Effect::Reserve(cost) => {
                let is_answered = cost.budget.is_some();
                let answer = self.ledger.borrow_mut().reserve(self.key, id, cost);
                if !is_answered {
                    return;
                }
                Going::Reserve(answer)
            }
            Effect::Return { to, number, outcome } => {
                let key = (to, number);
                assert!(self.made.contains(&key), "a call is returned that was not made");
                assert!(self.returned.insert(key, *outcome).is_none(), "a call is returned twice");
                return;
            }
            Effect::Settle { reservation, model, call } => {
                let answers = self.ledger.borrow_mut().settle(self.key, reservation, &model, &call);
                return self.for_others.extend(answers);
            }
            Effect::StopTask(task) => {
                let named = self.tasks.iter_mut().find(|(info, _)| info.id == task);
                return named.into_iter().for_each(|(_, stopped)| *stopped = true);
            }
            Effect::Cancel(other) => {
                // A running call is asked to stop, and answers; all other effects are forgotten.
                let Some(at) = self.going.iter().position(|(id, _)| *id == other) else { return };
                let (id, going) = self.going.remove(at);
                if let Going::Reserve(_) = going {
                    let answers = self.ledger.borrow_mut().release(self.key, other);
                    self.for_others.extend(answers);
                }
                match going {
                    Going::Run(call) | Going::Stopping(call) => self.going.push((id, Going::Stopping(call))),
                    Going::Append => self.going.insert(at, (id, Going::Append)),
                    Going::Reserve(None) => {}
                    going => self.cancelled.push((id, going)),
                }
                return;
            }
        };
        self.going.push((id, going));
    }

    /// Plays to the end: until no effect is open and no choice is left.
    pub(crate) fn play(&mut self) {
        for _ in 0..20_000 {
            if self.is_done() {
                return;
            }
            self.step();
        }
        panic!("it does not end: {:?}", self.going);
    }

    /// `true` if no step is left.
    pub(crate) fn is_done(&self) -> bool {
        let waits = |(_, going): &(EffectId, Going)| matches!(going, Going::Reserve(None));
        let idle = self.going.iter().all(waits) && self.tasks.is_empty();
        self.over || (idle && (self.choices.are_used_up() || !self.wild.user))
    }

    /// Plays all other effects, and leaves the matching ones open.
    pub(crate) fn play_except(&mut self, left: impl Fn(&Going) -> bool) {
        for _ in 0..20_000 {
            let Some(at) = self.going.iter().position(|(_, going)| !left(going)) else { return };
            let (id, going) = self.going.remove(at);
            self.answer(id, going);
        }
        panic!("it does not end: {:?}", self.going);
    }

    /// Removes an effect, to answer it by hand.
    pub(crate) fn take(&mut self, which: impl Fn(&Going) -> bool) -> EffectId {
        let at = self.going.iter().position(|(_, going)| which(going)).expect("no such effect");
        self.going.remove(at).0
    }

    /// Answers the one open permission request as the host.
    pub(crate) fn says(&mut self, answer: PermissionAnswer) {
        let at = self.going.iter().position(|(_, going)| matches!(going, Going::Ask(_))).expect("nothing is asked");
        let (id, Going::Ask(request)) = self.going.remove(at) else { unreachable!() };
        self.checks.answered(&request, &answer);
        self.input(Input::Answered(id, answer));
    }

    /// Answers an effect as the world does.
    pub(crate) fn let_go(&mut self, which: impl Fn(&Going) -> bool) {
        let at = self.going.iter().position(|(_, going)| which(going)).expect("no such effect");
        let (id, going) = self.going.remove(at);
        self.answer(id, going);
    }

    /// Answers the effect with this id as the world does.
    pub(crate) fn let_go_of(&mut self, id: EffectId) {
        let at = self.going.iter().position(|(other, _)| *other == id).expect("no such effect");
        let (id, going) = self.going.remove(at);
        self.answer(id, going);
    }

    /// Plays `count` steps.
    pub(crate) fn steps(&mut self, count: usize) {
        for _ in 0..count {
            if !self.over && !self.going.is_empty() {
                self.step();
            }
        }
    }

    pub(crate) fn step(&mut self) {
        if self.wild.user && self.choices.once_in(12) {
            return self.user();
        }
        if !self.cancelled.is_empty() && self.choices.once_in(6) {
            let at = self.choices.pick(self.cancelled.len());
            let (id, going) = self.cancelled.remove(at);
            if let Going::Model { events, at, .. } = &going {
                // One more item of a cancelled stream.
                let item = events.get(*at).cloned().unwrap_or(ModelEvent::Ping);
                return self.input(Input::Model(id, item.into()));
            }
            return self.answer(id, going);
        }
        // The log answers in order; all else in any order.
        let first_append = self.going.iter().position(|(_, going)| matches!(going, Going::Append));
        let ready: Vec<usize> = (0..self.going.len())
            .filter(|at| {
                Some(*at) == first_append || !matches!(self.going[*at].1, Going::Append | Going::Reserve(None))
            })
            .collect();
        if !self.tasks.is_empty() && (ready.is_empty() || self.choices.once_in(8)) {
            let at = self.choices.pick(self.tasks.len());
            return self.end_task(at);
        }
        if ready.is_empty() {
            return;
        }
        let at = ready[self.choices.pick(ready.len())];
        let (id, going) = self.going.remove(at);
        self.answer(id, going);
    }

    /// Starts a background task of a running call.
    pub(crate) fn leave_work(&mut self, call: EffectId) {
        let mut info = self.work();
        let running = self.going.iter().find_map(|(id, going)| match going {
            Going::Run(run) | Going::Stopping(run) if *id == call => Some(run.call.id.clone()),
            _ => None,
        });
        info.tool_use_id = running.unwrap_or(info.tool_use_id);
        self.tasks.push((info.clone(), false));
        self.input(Input::TaskStarted(call, Box::new(info)));
    }

    fn work(&mut self) -> TaskInfo {
        self.named += 1;
        TaskInfo::new(format!("b{}", self.named).into(), TaskKind::LocalBash, "work", "t".into())
    }

    /// Ends a background task, by itself or because it was asked to stop.
    pub(crate) fn end_task(&mut self, at: usize) {
        let (info, stopped) = self.tasks.remove(at);
        let statuses = [TaskStatus::Completed, TaskStatus::Failed, TaskStatus::Stopped];
        let status = if stopped { TaskStatus::Stopped } else { statuses[self.choices.pick(3)] };
        self.input(Input::TaskEnded(Box::new(TaskEnded::new(info, status, "It ended."))));
    }

    fn user(&mut self) {
        let calls: Vec<_> = self.requests.iter().flat_map(|_| self.checks.last_calls()).collect();
        let input = match self.choices.pick(22) {
            20 | 21 => Input::Prompt(Prompt::continue_run()),
            18 => return self.say(true),
            19 => return self.withdraw(),
            16 => {
                // The end of an unknown task.
                let ended = TaskEnded::new(self.work(), TaskStatus::Completed, "It ended.");
                Input::TaskEnded(Box::new(ended))
            }
            17 if !self.cancelled.is_empty() => {
                // A cancelled call starts a background task.
                let (call, _) = self.cancelled[self.choices.pick(self.cancelled.len())];
                return self.leave_work(call);
            }
            0 | 1 => Input::Interrupt,
            2 => return self.say(false),
            3 => Input::Steer(" ".into()),
            4 | 5 if !calls.is_empty() => Input::StopTool(calls[self.choices.pick(calls.len())].clone()),
            6 => Input::SetPermissionMode(PermissionMode::ALL[self.choices.pick(6)]),
            7 => Input::SetModel(Box::new(model(["m", "n", "f"][self.choices.pick(3)]))),
            8 if self.choices.once_in(3) => Input::Close,
            9 => Input::Prompt(Prompt::text("")),
            10 => Input::Prompt(Prompt::compact("the files")),
            15 if self.wild.rewinds && !self.log.is_empty() => {
                Input::Rewind(self.log[self.choices.pick(self.log.len())].id.clone())
            }
            11 => Input::Prompt(Prompt::note(vec![ContentBlock::text("by the way")])),
            _ => Input::Prompt(Prompt::text("more")),
        };
        self.checks.user(&input);
        self.input(input);
    }

    /// Sends a message of the user to the run, with the text `said` and a number. `returns`: the user wants it back if
    /// undelivered.
    pub(crate) fn say(&mut self, returns: bool) {
        let prompt = Prompt::text(format!("said {}", self.said.len())).with_id(said(self.said.len()));
        self.said.push(returns);
        self.input(if returns { Input::Offer(prompt) } else { Input::Steer(prompt) });
    }

    /// Withdraws a message of the user, perhaps too late.
    pub(crate) fn withdraw(&mut self) {
        let id = self.choices.pick(self.said.len() + 1);
        self.input(Input::Withdraw(said(id)));
    }

    fn answer(&mut self, id: EffectId, going: Going) {
        let input = match going {
            Going::Model { events, at, fails } => {
                if let Some(event) = events.get(at) {
                    let item = ModelItem::from(event.clone());
                    if *event != ModelEvent::MessageStop {
                        self.going.push((id, Going::Model { events, at: at + 1, fails }));
                    }
                    Input::Model(id, item)
                } else {
                    let mut failure = ModelFailure::new(fails.unwrap_or(ModelErrorKind::Cut), "it failed");
                    failure.jitter = 1 << 30;
                    Input::ModelFailed(id, failure)
                }
            }
            Going::Prepare { call, cwd } => Input::Prepared(id, tools::prepare(&call, &cwd)),
            Going::Hooks(call) => Input::Hooked(id, Box::new(self.hooks(&call))),
            Going::Classify => Input::Classified(
                id,
                match self.choices.pick(3) {
                    0 => Classified::Allow("It is harmless".to_owned()),
                    1 => Classified::Ask("It reaches others".to_owned()),
                    _ => Classified::Failed("it took too long".to_owned()),
                },
            ),
            Going::Ask(_) if self.waits && self.choices.once_in(3) => Input::Unanswered(id, Unanswered::Yet),
            Going::Ask(_) if self.waits && self.choices.once_in(9) => {
                Input::Unanswered(id, Unanswered::Unusable("its token is wrong".to_owned()))
            }
            Going::Ask(request) => {
                let answer = self.host(&request);
                self.checks.answered(&request, &answer);
                Input::Answered(id, answer)
            }
            Going::Snapshot if self.wild.store && self.choices.once_in(8) => {
                Input::Snapshotted(id, Err("no room".into()))
            }
            Going::Snapshot => Input::Snapshotted(id, Ok(())),
            Going::Run(call) if call.call.name == "Program" && self.continues(id) => {
                self.going.push((id, Going::Run(call)));
                return self.make_one(id);
            }
            Going::Run(call) if call.may_wait && self.choices.once_in(4) => {
                let asks = Box::new(waiting_agent(&call).identity);
                self.going.push((id, Going::Run(call)));
                Input::AgentAsks(id, asks)
            }
            Going::Run(call) => {
                if self.wild.user && self.choices.once_in(6) {
                    self.going.push((id, Going::Run(call)));
                    return self.leave_work(id);
                }
                if self.wild.user && self.choices.once_in(4) {
                    self.going.push((id, Going::Run(call)));
                    Input::Progress(id, "still".to_owned())
                } else {
                    Input::Ran(id, Box::new(self.ran(&call)))
                }
            }
            Going::Stopping(call) => Input::Ran(id, Box::new(self.ran(&call))),
            Going::Append => {
                let refused = self.wild.store && self.choices.once_in(12);
                if !refused {
                    self.checks.synced(id);
                }
                Input::Appended(id, if refused { Err(StoreFailure::new("the disk is full")) } else { Ok(()) })
            }
            Going::Sleep => Input::Woke(id),
            Going::Rewind(to) => return self.rewind(id, &to),
            Going::Reserve(answer) => Input::Reserved(id, Ok(answer.expect("the ledger has answered"))),
        };
        self.input(input);
    }

    /// Returns the outcome of a call, or that its agent waits, determined by choices.
    fn ran(&mut self, call: &RunCall) -> ToolOutcome {
        let mut outcome = tools::run(call);
        if call.may_wait && self.choices.once_in(3) {
            outcome.waits = Some(Box::new(waiting_agent(call)));
        }
        outcome
    }

    /// Rewinds the log to a prompt, if it contains that.
    fn rewind(&mut self, id: EffectId, to: &EntryId) {
        // The writer of a log answers in the order of the requests.
        let before = |(other, going): &(EffectId, Going)| matches!(going, Going::Append) && *other < id;
        while let Some(at) = self.going.iter().position(before) {
            let (append, going) = self.going.remove(at);
            self.answer(append, going);
        }
        // A log that refuses ends the session, and does not rewind.
        if self.over {
            return;
        }
        let is_prompt =
            |entry: &&Entry| matches!(&entry.kind, EntryKind::User(user) if !user.is_meta && !user.is_summary);
        let at = self.log.iter().position(|entry| entry.id == *to && is_prompt(&entry));
        if let Some(at) = at {
            // Later entries are on a branch that the conversation has left.
            let left = self.log.split_off(at);
            self.log.extend(left.into_iter().filter(|entry| !entry.is_conversation()));
            self.checks.rewound(&self.log);
        }
        self.input(Input::Rewound(id, at.map(|at| self.log[..at].to_vec())));
    }

    /// Makes a call from a running call.
    pub(crate) fn make(&mut self, by: EffectId, tool: &str, input: &str) -> (EffectId, u64) {
        let number = self.made.len() as u64;
        self.made.insert((by, number));
        self.input(Input::Made(by, number, tool.to_owned(), JsonText::parse(input).unwrap()));
        (by, number)
    }

    /// `true` if a program makes one more call, determined by choices.
    fn continues(&mut self, by: EffectId) -> bool {
        let made = self.made.iter().filter(|(of, _)| *of == by).count();
        self.wild.gate && made < 4 && !self.choices.once_in(3)
    }

    /// Makes a call of a program, perhaps before its earlier ones have ended.
    fn make_one(&mut self, by: EffectId) {
        let tool =
            ["Read", "Write", "Net", "Banned", "Cd", "Hooked", "Program", "Nothing", "Agent"][self.choices.pick(9)];
        let path = ["a", "b", "alias"][self.choices.pick(3)];
        self.make(by, tool, &format!(r#"{{"path":"{path}"}}"#));
    }

    fn hooks(&mut self, call: &HookCall) -> HookOutcome {
        let mut outcome = HookOutcome::default();
        outcome.ran.push("h".to_owned());
        if !self.wild.gate {
            return outcome;
        }
        match self.choices.pick(9) {
            1 => outcome.additional_context.push("mind this".to_owned()),
            2 => outcome.verdict = Some(HookVerdict::new(Behavior::Allow, "h", "")),
            3 => outcome.verdict = Some(HookVerdict::new(Behavior::Deny, "h", "no")),
            4 => outcome.verdict = Some(HookVerdict::new(Behavior::Ask, "h", "sure?")),
            5 => outcome.block = Some(HookVerdict::new(Behavior::Deny, "h", "not so")),
            6 => outcome.stop = Some("enough".to_owned()),
            7 => outcome.updated_output = Some("seen by the hook".into()),
            8 => outcome.verdict = Some(HookVerdict::defer("h", "later")),
            _ => {}
        }
        if matches!(call, HookCall::PreToolUse(_)) && self.choices.once_in(5) {
            outcome.updated_input = Some(JsonText::parse(r#"{"path":"by-hook"}"#).unwrap());
        }
        outcome
    }

    fn host(&mut self, request: &PermissionRequest) -> PermissionAnswer {
        let choice = if self.wild.gate { self.choices.pick(7) } else { request.input.as_str().len() % 2 };
        let updates = match choice {
            5 => vec![PermissionUpdate::SetMode {
                mode: PermissionMode::ALL[self.choices.pick(6)],
                destination: UpdateDestination::Session,
            }],
            _ => Vec::new(),
        };
        match choice {
            1 => PermissionAnswer::deny("not that"),
            2 => {
                let input = JsonText::parse(r#"{"path":"b"}"#).unwrap();
                PermissionAnswer::Allow { updated_input: Some(input), updates }
            }
            3 => PermissionAnswer::Deny { message: "stop".to_owned(), interrupt: true },
            _ => PermissionAnswer::Allow { updated_input: None, updates },
        }
    }

    fn answer_of_model(&mut self, request: &ModelRequest) -> Going {
        self.messages += 1;
        let number = self.messages;
        let (content, reason) = if self.script.is_empty() {
            self.message()
        } else {
            (self.script.remove(0), (!self.reasons.is_empty()).then(|| self.reasons.remove(0)))
        };
        let calls = content.iter().any(|block| block.as_tool_use().is_some());
        let reason = reason.unwrap_or(if calls { StopReason::ToolUse } else { StopReason::EndTurn });
        let sent = || request.messages.iter().map(|message| windlass_context::estimate_message(message)).sum();
        let input = if self.counts { sent() } else { 100 };
        let mut events = stream(number, &request.model, &content, reason, input);
        let mut fails = None;
        if self.wild.model {
            let full = events.len();
            match self.choices.pick(8) {
                6 => events.truncate(self.choices.pick(full)),
                7 => {
                    events.truncate(self.choices.pick(full));
                    let kinds = [
                        ModelErrorKind::Overloaded,
                        ModelErrorKind::Server,
                        ModelErrorKind::Authentication,
                        ModelErrorKind::PromptTooLong,
                    ];
                    fails = Some(kinds[self.choices.pick(kinds.len())]);
                }
                4 => {
                    let at = self.choices.pick(full);
                    let limit = RateLimit::new(RateLimitStatus::Rejected);
                    events.insert(at, ModelEvent::RateLimit(Box::new(limit)));
                }
                5 => {
                    let at = self.choices.pick(full);
                    events.insert(at, ModelEvent::BlockStop { index: 99 });
                }
                _ => {}
            }
        }
        Going::Model { events, at: 0, fails }
    }

    /// Returns a message determined by choices: by default one text, which ends a run.
    fn message(&mut self) -> (Vec<ContentBlock>, Option<StopReason>) {
        let number = self.messages;
        let mut content = Vec::new();
        for at in 0..self.choices.pick(5) {
            content.push(self.block(number, at));
        }
        if content.is_empty() {
            return (vec![ContentBlock::text(format!("answer {number}"))], None);
        }
        let reasons = [
            StopReason::MaxTokens,
            StopReason::Refusal,
            StopReason::PauseTurn,
            StopReason::Other("new".into()),
            StopReason::MalformedToolCall,
            StopReason::ContentFilter,
        ];
        let reason = match self.choices.pick(12) {
            at @ 6.. => reasons.get(at - 6).cloned(),
            _ => None,
        };
        (content, reason.filter(|_| self.wild.model))
    }

    fn block(&mut self, number: u32, at: usize) -> ContentBlock {
        let paths = ["a", "b", "/w/a", "alias", "/etc/passwd", "sub", ".git/config"];
        let input = |path: &str| format!(r#"{{"path":"{path}"}}"#);
        let path = paths[self.choices.pick(paths.len())];
        let (name, input) = match self.choices.pick(14) {
            0 => return ContentBlock::text(format!("text {number}.{at}")),
            1 => {
                let signature = format!("signed {number}.{at}");
                return ContentBlock::Thinking { thinking: "hm".to_owned(), signature };
            }
            2 => return ContentBlock::text(" "),
            3 | 4 => ("Read", input(path)),
            5..=7 => ("Write", input(path)),
            8 => (["Net", "Agent"][self.choices.pick(2)], "{}".to_owned()),
            9 => ("Cd", input(["sub", "/w"][self.choices.pick(2)])),
            10 => ("Banned", input(path)),
            11 => ("Hooked", input(path)),
            12 => (["Nope", "Read"][self.choices.pick(2)], "{}".to_owned()),
            _ => ("Write", r#"{"path":"a","path":"b"}"#.to_owned()),
        };
        let input = JsonText::parse(input).unwrap();
        let id = match self.wild.model && self.choices.once_in(6) {
            // An id that may have been used before, or looks like a generated one, or is empty.
            true => ["t1.0", "t1.1", "t1.0_2", ""][self.choices.pick(4)].to_owned(),
            false => format!("t{number}.{at}"),
        };
        ContentBlock::ToolUse(ToolUse::new(id, name, input))
    }

    /// Returns the texts of the conversation as the next request would contain them.
    pub(crate) fn conversation(&self) -> Vec<String> {
        self.machine.state().transcript().messages().iter().map(|message| message.json().to_owned()).collect()
    }
}

/// Returns the agent of a call, which waits for the answer to a permission request.
pub(crate) fn waiting_agent(call: &RunCall) -> WaitingAgent {
    let agent = call.continues.clone().unwrap_or_else(|| format!("a-{}", call.call.id).as_str().into());
    let asks = ToolUse::new("inner", "Write", JsonText::parse(r#"{"path":"a"}"#).unwrap());
    let decision = Decision::new(Behavior::Ask, DecisionReason::Default, "?");
    let mut question = PermissionRequest::new(asks, "Write a".to_owned(), decision, CallDigest::new("inner"));
    question.id = format!("question of {agent}").as_str().into();
    question.agent = AgentPath::default().child(call.call.id.clone());
    WaitingAgent::new(AgentIdentity::new(agent, "scout"), vec![question])
}

/// Returns the id of a message that was sent to a run.
pub(crate) fn said(number: usize) -> EntryId {
    format!("00000000-0000-4000-8000-{number:012x}").as_str().into()
}

/// Returns the events of a message.
fn stream(number: u32, model: &str, content: &[ContentBlock], reason: StopReason, input: u64) -> Vec<ModelEvent> {
    let id = MessageId::from(format!("msg{number}"));
    let usage = Usage::new(input, 0);
    let mut events = vec![ModelEvent::MessageStart { id, model: model.to_owned(), usage }];
    for (index, block) in content.iter().enumerate() {
        let (start, delta) = match block {
            ContentBlock::Text { text, .. } => (BlockStart::Text(String::new()), StreamDelta::Text(text.clone())),
            ContentBlock::Thinking { thinking, signature } => (
                BlockStart::Thinking { thinking: thinking.clone(), signature: String::new() },
                StreamDelta::Signature(signature.clone()),
            ),
            ContentBlock::ToolUse(call) => (
                BlockStart::ToolUse { id: call.id.clone(), name: call.name.clone() },
                StreamDelta::ToolInput(call.input.as_str().to_owned()),
            ),
            other => panic!("not streamed here: {other:?}"),
        };
        events.push(ModelEvent::BlockStart { index, block: start });
        events.push(ModelEvent::BlockDelta { index, delta });
        events.push(ModelEvent::BlockStop { index });
    }
    events.push(ModelEvent::MessageDelta { stop_reason: Some(reason), usage: Usage::new(input, 50) });
    events.push(ModelEvent::MessageStop);
    events
}
