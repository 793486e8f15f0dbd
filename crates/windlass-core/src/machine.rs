//! The machine: its state, its inputs, and how a run begins and ends.

use crate::batch::Batch;
use crate::behind::Unsent;
use crate::calling::ModelCall;
use crate::compaction::{Compaction, Then};
use crate::naming::Naming;
use crate::outbox::Outbox;
use crate::retry::Retry;
use crate::run::Run;
use crate::steering::{Halt, Said};
use crate::tasks::Tasks;
use crate::{Effect, EffectId, Input, MachineConfig, Output, Prompt, PromptKind, State, StoreFailure};
use std::collections::{HashSet, VecDeque};
use std::time::Duration;
use windlass_permission::Policy;
use windlass_types::{
    CompactTrigger, ContentBlock, Entry, EntryId, EntryKind, EventKind, Interrupted, Outcome, PermissionMode,
    RateLimit, RunFailure, RunFailureKind, RunId, RunRecord, RunResult, SessionId, StateChange, Status, Timestamp,
    UserEntry,
};

/// Where the run is. Each phase names the effect that it waits for.
///
/// ```text
///            Prompt             SessionStart, UserPromptSubmit
///   Idle ───────────▶ Opening ─────────▶ Submitting
///    ▲                                       │
///    │                                       ▼        failure
///    │  end    ┌────────────────────────▶ Calling ───────────▶ BackingOff
///    ├─────────┤ results, steered,           │ ▲                   │
///    │         │ stop hook, max output       │ └───────────────────┘
///    │         │                     message │   retry, fallback
///    │         │                     complete▼      (Compacting and Behind stand before a call)
///    │         ├───────────────────────── Tools
///    │         │                             │ no calls
///    └─────────┴──────────────────────── Stopping
/// ```
#[derive(Debug)]
pub(crate) enum Phase {
    /// No run.
    Idle,
    /// SessionStart hooks are asked before the first prompt.
    Opening(EffectId, Prompt),
    /// UserPromptSubmit hooks are asked.
    Submitting(EffectId, Prompt),
    /// The model is called. Read-only calls may run already.
    Calling(Box<ModelCall>),
    /// A failed call waits for its repeat.
    BackingOff(EffectId, Retry),
    /// The conversation is being replaced by a summary.
    Compacting(Box<Compaction>),
    /// A request waits until the log has answered for what came before the last one.
    Behind(Unsent),
    /// The message is complete; its calls are judged, run and answered.
    Tools,
    /// A safe point: hooks are asked about what the user said meanwhile.
    Halted(Box<Halt>),
    /// The model is done; Stop hooks are asked.
    Stopping(EffectId),
    /// SessionEnd hooks are asked.
    Closing(EffectId),
    /// Nothing happens any more.
    Closed,
}

/// The agent loop of one session, without any input or output of its own.
///
/// Give it an [`Input`] with [`Machine::handle`], then drain [`Machine::poll`]
/// until it returns nothing; carry out the effects and hand their results back
/// as inputs, in any order. Inputs that answer an effect that is no longer
/// waited for are ignored.
///
/// # Invariants
/// - Every tool use gets exactly one result, in call order, in the message after it.
/// - Each run ends with exactly one [`EventKind::RunFinished`].
/// - No call that can have an effect runs before its message and its intent are durable.
/// - After [`Output::Closed`] or [`Output::Broken`] nothing comes out.
#[derive(Debug)]
pub struct Machine {
    pub(crate) config: MachineConfig,
    pub(crate) policy: Policy,
    /// Increases when the policy changes: verdicts given before are looked at again.
    pub(crate) policy_epoch: u64,
    pub(crate) state: State,
    pub(crate) out: Outbox,
    pub(crate) phase: Phase,
    pub(crate) naming: Naming,
    pub(crate) batch: Batch,
    pub(crate) run: Option<Run>,
    pub(crate) now: Timestamp,
    pub(crate) prompts: VecDeque<Prompt>,
    pub(crate) steered: VecDeque<Said>,
    /// How many of the prompts were said to a run that has ended: the first ones.
    pub(crate) deferred: usize,
    /// The run that ended last.
    pub(crate) last_run: Option<RunId>,
    /// The ids of all entries: none is given twice.
    taken: HashSet<EntryId>,
    pub(crate) opened: bool,
    pub(crate) falling_back: bool,
    pub(crate) prefix: Option<crate::calling::Prefix>,
    pub(crate) warned_unpriced: bool,
    /// What the host knows of the subscription's allowance.
    pub(crate) rate_limit: Option<RateLimit>,
    /// Where an approved plan leads back to.
    pub(crate) mode_before_plan: PermissionMode,
    /// Whether the conversation was compacted since the last request.
    pub(crate) history_replaced: bool,
    pub(crate) tasks: Tasks,
    /// What the host hears when the next run begins.
    pub(crate) notices: Vec<String>,
    /// For how long the log had been silent when the host heard of it. Nothing when it has answered since.
    pub(crate) silence: Option<Duration>,
    closing: bool,
    final_append: Option<EffectId>,
    resumed: bool,
    next_effect: u64,
    next_id: u64,
}

impl Machine {
    /// A machine over the entries of a session's log, empty for a new session.
    /// The log must have been repaired: every tool use answered.
    pub fn new(config: MachineConfig, log: &[Entry]) -> Self {
        let mut state = State::new(config.cwd.clone());
        let mut config = config;
        let mut taken = std::mem::take(&mut config.taken_ids);
        for entry in log {
            state.apply(entry);
            taken.insert(entry.id.clone());
        }
        if config.agent.is_none() {
            config.ledger.spend(state.cost());
        }
        let mut policy = config.policy.clone();
        // A file on disk never widens what may happen: of the modes that a log can end with, only plan is
        // restored, which is narrower than the default. A mode that was chosen for this opening stays.
        if state.permission_mode() == Some(PermissionMode::Plan) && policy.mode() == PermissionMode::Default {
            let _ = policy.set_mode(PermissionMode::Plan);
        }
        policy.offer(&config.tools);
        Self {
            out: Outbox::new(config.session_id.clone()),
            resumed: !state.is_empty(),
            policy,
            config,
            policy_epoch: 0,
            state,
            phase: Phase::Idle,
            naming: Naming::default(),
            batch: Batch::default(),
            run: None,
            now: Timestamp::default(),
            prompts: VecDeque::new(),
            steered: VecDeque::new(),
            deferred: 0,
            last_run: None,
            taken,
            opened: false,
            falling_back: false,
            prefix: None,
            warned_unpriced: false,
            rate_limit: None,
            mode_before_plan: PermissionMode::Default,
            history_replaced: false,
            tasks: Tasks::left_by(log),
            notices: Vec::new(),
            silence: None,
            closing: false,
            final_append: None,
            next_effect: 0,
            next_id: 0,
        }
    }

    /// What the log says: the conversation, the cost, the current directory.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// What may run, with the answers given in this session.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Increases whenever the policy changes.
    pub fn policy_epoch(&self) -> u64 {
        self.policy_epoch
    }

    /// The session.
    pub fn session_id(&self) -> &SessionId {
        &self.config.session_id
    }

    /// Whether no run is going on and none is waiting.
    pub fn is_idle(&self) -> bool {
        matches!(self.phase, Phase::Idle | Phase::Closed) && self.prompts.is_empty()
    }

    /// Takes an input at a point in time. Never fails: inputs that make no
    /// sense now are ignored.
    pub fn handle(&mut self, now: Timestamp, input: Input) {
        if matches!(self.phase, Phase::Closed) && !matches!(input, Input::Appended(..) | Input::LogSilent(_)) {
            return;
        }
        self.now = self.now.max(now);
        match input {
            // Nothing begins in a session that is being closed.
            Input::Prompt(_) | Input::Steer(_) | Input::Offer(_) if self.closing => {}
            Input::Prompt(prompt) => self.prompts.push_back(prompt),
            Input::Steer(prompt) => self.steer(prompt, false),
            Input::Offer(prompt) => self.steer(prompt, true),
            Input::Withdraw(id) => self.withdraw_steered(&id),
            Input::Interrupt => self.interrupt(),
            Input::StopTool(id) => self.stop_tool(&id),
            Input::SetModel(model) => self.set_model(*model),
            Input::SetPermissionMode(mode) => self.set_permission_mode(mode),
            Input::SetThinking(thinking) => self.config.thinking = thinking,
            Input::SetEffort(effort) => self.config.effort = effort,
            Input::SetTools(tools) => self.set_tools(tools),
            Input::SetInstructions(instructions) => self.set_instructions(instructions),
            Input::Notice(message) => self.notice(message),
            Input::UpdatePermissions(updates) => self.apply_updates(&updates),
            Input::AgentUsed(model, usage) => self.book_of_agent(&model, usage),
            Input::Inherit(above) => self.inherit(&above),
            Input::TaskProgress(id, usage, last_tool) => self.task_progress(&id, usage, last_tool),
            Input::SetHooks(hooks) => {
                self.config.hooks = hooks;
                // Calls that were allowed but have not begun pass the new ones, too.
                self.policy_epoch += 1;
                self.ask_again_about_steered();
            }
            Input::Close => {
                self.closing = true;
                self.prompts.clear();
                self.deferred = 0;
                self.forget_steered();
                self.interrupt();
            }
            Input::Model(effect, item) => {
                let item = self.with_own_id(effect, &item);
                self.model_item(effect, &item);
            }
            Input::ModelFailed(effect, failure) => self.model_failed(effect, &failure),
            Input::Prepared(effect, result) => self.prepared(effect, result),
            Input::Hooked(effect, outcome) => self.hooked(effect, *outcome),
            Input::AskedHooks(effect, outcome) => self.asked_hooks(effect, &outcome),
            Input::Answered(effect, answer) => self.answered(effect, answer),
            Input::Snapshotted(effect, result) => self.snapshotted(effect, result),
            Input::Progress(effect, message) => self.progress(effect, message),
            Input::TaskStarted(call, info) => self.task_started(call, *info),
            Input::TaskEnded(ended) => self.task_ended(*ended),
            Input::Ran(effect, outcome) => self.ran(effect, outcome),
            Input::Appended(effect, result) => self.appended(effect, result),
            Input::LogSilent(silence) => self.log_is_silent(silence),
            Input::Woke(effect) => self.woke(effect),
        }
        self.send_unsent();
        self.ask_about_steered();
        self.leave_safe_point();
        self.advance();
    }

    /// The next output, until there is none. Call it after every input.
    pub fn poll(&mut self) -> Option<Output> {
        self.out.poll()
    }

    /// Goes on with whatever can go on now.
    fn advance(&mut self) {
        loop {
            match &self.phase {
                Phase::Tools | Phase::Calling(_) => {
                    self.advance_calls();
                    if matches!(self.phase, Phase::Tools) && self.batch.is_settled() {
                        self.after_tools();
                        continue;
                    }
                    return;
                }
                Phase::Idle => {
                    if let Some(prompt) = self.prompts.pop_front() {
                        self.deferred = self.deferred.saturating_sub(1);
                        self.begin(prompt);
                    } else if self.closing {
                        if !self.stop_tasks() {
                            self.close();
                        }
                        return;
                    } else if !self.wake() {
                        return;
                    }
                }
                _ => return,
            }
        }
    }

    pub(crate) fn effect(&mut self, effect: Effect) -> EffectId {
        if matches!(effect, Effect::CallModel(_)) {
            self.out.requested();
        }
        self.next_effect += 1;
        let id = EffectId(self.next_effect);
        self.out.effect(id, effect);
        id
    }

    /// Queues an event of the run that is going on.
    pub(crate) fn event(&mut self, kind: EventKind, after: Option<EffectId>) {
        if let Some(run) = &self.run {
            self.out.event(run.id.clone(), run.turns, kind, after);
        }
    }

    fn fresh_bits(&mut self) -> u128 {
        self.next_id += 1;
        // An odd factor spreads the counter over all bits and keeps ids distinct.
        self.config.seed.wrapping_add(u128::from(self.next_id).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835))
    }

    pub(crate) fn fresh_run_id(&mut self) -> RunId {
        RunId::from_bits(self.fresh_bits())
    }

    pub(crate) fn fresh_id(&mut self) -> EntryId {
        EntryId::from_bits(self.fresh_bits())
    }

    /// Makes an entry, applies it to the state and returns it for appending.
    /// There is no other way to change the state.
    pub(crate) fn record(&mut self, parent: Option<EntryId>, kind: EntryKind) -> Entry {
        let id = match &kind {
            EntryKind::Assistant(message) => message.block_ids.last().cloned(),
            _ => None,
        };
        let id = id.unwrap_or_else(|| self.fresh_id());
        self.record_as(id, parent, kind)
    }

    fn record_as(&mut self, id: EntryId, parent: Option<EntryId>, kind: EntryKind) -> Entry {
        self.taken.insert(id.clone());
        let entry = Entry::new(id, parent, self.now, kind);
        self.state.apply(&entry);
        entry
    }

    /// Records text on the user's side and returns it for appending.
    pub(crate) fn record_user(&mut self, content: Vec<ContentBlock>, is_meta: bool) -> Entry {
        let id = self.fresh_id();
        self.record_user_as(id, content, is_meta)
    }

    /// Records the prompt of the run that goes on.
    pub(crate) fn record_prompt(&mut self, prompt: Prompt) -> Entry {
        let id = prompt.id.filter(|id| id.is_uuid() && !self.taken.contains(id));
        let id = id.unwrap_or_else(|| self.fresh_id());
        if let Some(run) = &mut self.run {
            run.prompt = Some(id.clone());
        }
        self.tasks.prompt = Some(id.clone());
        self.record_user_as(id, prompt.content, false)
    }

    fn record_user_as(&mut self, id: EntryId, content: Vec<ContentBlock>, is_meta: bool) -> Entry {
        let mut user = UserEntry::new(content);
        user.is_meta = is_meta;
        self.record_user_entry(id, user)
    }

    /// Records an entry of the user's side, with the run and the mode that it belongs to.
    pub(crate) fn record_user_entry(&mut self, id: EntryId, mut user: UserEntry) -> Entry {
        user.run = self.run.as_ref().map(|run| run.id.clone());
        user.permission_mode = Some(self.policy.mode());
        let parent = self.state.leaf().cloned();
        self.record_as(id, parent, EntryKind::User(user))
    }

    pub(crate) fn append(&mut self, entries: Vec<Entry>, durable: bool) -> EffectId {
        let append = self.effect(Effect::Append { entries, durable });
        if durable {
            self.out.await_durable(append);
        }
        append
    }

    /// Starts a run with a prompt.
    fn begin(&mut self, prompt: Prompt) {
        let id = self.fresh_run_id();
        self.run = Some(Run::new(id, self.now));
        self.tasks.prompted();
        self.batch = Batch::default();
        self.event(EventKind::RunStarted(self.run_started(self.resumed)), None);
        self.resumed = true;
        self.tell_notices();
        if prompt.kind == PromptKind::Compact {
            let focus: Vec<&str> = prompt.content.iter().filter_map(ContentBlock::as_text).collect();
            let focus = Some(focus.join("\n")).filter(|focus| !focus.trim().is_empty());
            return self.compact(CompactTrigger::Manual, focus, Then::Finish);
        }
        self.open_or_submit(prompt);
    }

    /// Ends the run: its record becomes durable, then the host hears of it.
    pub(crate) fn finish(&mut self, outcome: Outcome) {
        self.defer_steered();
        let Some(run) = &self.run else { return };
        let mut result = RunResult::new(outcome, self.config.session_id.clone());
        result.origin = run.origin;
        result.text.clone_from(&run.text);
        result.turns = run.turns;
        result.duration_ms = duration_ms(self.now, run.started);
        result.duration_api_ms = run.api_ms;
        result.stop_reason.clone_from(&run.stop_reason);
        result.usage = run.usage;
        result.permission_denials.clone_from(&run.denials);
        result.structured_output.clone_from(&run.structured);
        result.model_usage.clone_from(self.state.model_usage());
        result.cost = self.state.cost();
        let record = RunRecord::new(
            run.id.clone(),
            outcome_name(&result.outcome),
            run.turns,
            result.cost,
            result.model_usage.clone(),
        );
        let entry = self.record(None, EntryKind::RunFinished(record));
        let append = self.append(vec![entry], true);
        self.event(EventKind::RunFinished(result), Some(append));
        self.last_run = self.run.take().map(|run| run.id);
        self.phase = Phase::Idle;
        self.batch = Batch::default();
    }

    /// Ends the run with a failure.
    pub(crate) fn fail(&mut self, kind: RunFailureKind, message: impl Into<String>) {
        self.finish(Outcome::Failed(RunFailure::new(kind, message)));
    }

    /// Stops the run wherever it is.
    fn interrupt(&mut self) {
        self.tell_of_silence();
        self.tasks.hold();
        let phase = std::mem::replace(&mut self.phase, Phase::Idle);
        // SessionStart hooks that had no say are asked again by the next prompt.
        self.opened &= !matches!(phase, Phase::Opening(..));
        match phase {
            Phase::Opening(effect, _) | Phase::Submitting(effect, _) => {
                self.effect(Effect::Cancel(effect));
                self.finish(Outcome::Interrupted { during: Interrupted::Starting });
            }
            Phase::Calling(call) => self.interrupt_call(*call),
            Phase::Compacting(compaction) => self.interrupt_compaction(*compaction),
            Phase::Behind(unsent) => self.interrupt_unsent(unsent),
            Phase::BackingOff(effect, _) => {
                self.effect(Effect::Cancel(effect));
                self.interrupted_streaming();
            }
            Phase::Stopping(effect) => {
                self.effect(Effect::Cancel(effect));
                self.interrupted_streaming();
            }
            Phase::Halted(_) => self.interrupted_streaming(),
            Phase::Tools => {
                self.phase = Phase::Tools;
                self.interrupt_tools();
            }
            other @ (Phase::Idle | Phase::Closing(_) | Phase::Closed) => self.phase = other,
        }
    }

    fn set_model(&mut self, model: crate::ModelProfile) {
        let same = model.id == self.current_model().id;
        self.falling_back = false;
        let id = model.id.clone();
        self.config.model = model;
        if same {
            return;
        }
        let entry = self.record(None, EntryKind::Model(id.clone()));
        let append = self.append(vec![entry], true);
        self.event(EventKind::StateChanged(StateChange::Model { model: id }), Some(append));
    }

    pub(crate) fn set_permission_mode(&mut self, mode: PermissionMode) {
        if mode == self.policy.mode() {
            return;
        }
        let before = self.policy.mode();
        if let Err(error) = self.policy.set_mode(mode) {
            self.event(EventKind::Status(Status::Notice { message: error.to_string() }), None);
            return;
        }
        self.note_mode(before, mode);
        self.policy_epoch += 1;
        let entry = self.record(None, EntryKind::Mode(mode));
        let append = self.append(vec![entry], true);
        self.event(EventKind::StateChanged(StateChange::PermissionMode { mode }), Some(append));
    }

    /// An append is done, or the store refused it.
    fn appended(&mut self, effect: EffectId, result: Result<(), StoreFailure>) {
        self.silence = None;
        match result {
            Ok(()) if !self.out.durable(effect) => {}
            Ok(()) => {
                self.intent_durable(effect);
                if self.final_append == Some(effect) {
                    self.out.last(Output::Closed);
                }
            }
            Err(failure) => self.broken(failure),
        }
    }

    /// The store refused an entry: nothing may be claimed any more, and no
    /// effect may begin.
    pub(crate) fn broken(&mut self, failure: StoreFailure) {
        if matches!(self.phase, Phase::Closed) && self.run.is_none() {
            self.out.forget_unacknowledged(&failure.message);
            self.out.last(Output::Broken(failure));
            return;
        }
        self.cancel_everything();
        self.out.forget_unacknowledged(&failure.message);
        if let Some(run) = &self.run {
            let outcome = Outcome::Failed(RunFailure::new(RunFailureKind::Store, failure.message.clone()));
            let mut result = RunResult::new(outcome, self.config.session_id.clone());
            result.origin = run.origin;
            result.turns = run.turns;
            result.duration_ms = duration_ms(self.now, run.started);
            result.usage = run.usage;
            result.cost = self.state.cost();
            self.event(EventKind::RunFinished(result), None);
        }
        self.run = None;
        self.prompts.clear();
        self.tasks.forget();
        self.phase = Phase::Closed;
        self.out.last(Output::Broken(failure));
    }

    fn cancel_everything(&mut self) {
        let waiting: Vec<EffectId> = self.batch.calls.iter().filter_map(|call| call.waits_for()).collect();
        for effect in waiting {
            self.effect(Effect::Cancel(effect));
        }
        let effect = match std::mem::replace(&mut self.phase, Phase::Idle) {
            Phase::Opening(effect, _)
            | Phase::Submitting(effect, _)
            | Phase::BackingOff(effect, _)
            | Phase::Stopping(effect)
            | Phase::Closing(effect) => Some(effect),
            Phase::Calling(call) => {
                let effect = call.effect;
                self.forsake_call(*call);
                Some(effect)
            }
            Phase::Compacting(compaction) => {
                let effect = compaction.effect;
                self.forsake_compaction(*compaction);
                Some(effect)
            }
            Phase::Idle | Phase::Tools | Phase::Halted(_) | Phase::Behind(_) | Phase::Closed => None,
        };
        if let Some(effect) = effect {
            self.effect(Effect::Cancel(effect));
        }
        self.forget_steered();
        self.batch = Batch::default();
    }

    pub(crate) fn closed(&mut self) {
        self.phase = Phase::Closed;
        let record = self.state.unrecorded().map(|record| self.record(None, EntryKind::RunFinished(record)));
        // A durable append, empty or not: when it is answered, everything before it is durable.
        self.final_append = Some(self.append(record.into_iter().collect(), true));
    }
}

pub(crate) fn duration_ms(now: Timestamp, since: Timestamp) -> u64 {
    u64::try_from(now.since(since).as_millis()).unwrap_or(u64::MAX)
}

/// The outcome as the log and the wire name it.
fn outcome_name(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Success | Outcome::Refused | Outcome::PromptBlocked { .. } | Outcome::StoppedByHook { .. } => {
            "success"
        }
        Outcome::MaxTurns { .. } => "error_max_turns",
        Outcome::MaxBudget { .. } => "error_max_budget_usd",
        Outcome::NoStructuredOutput { .. } => "error_max_structured_output_retries",
        _ => "error_during_execution",
    }
}
