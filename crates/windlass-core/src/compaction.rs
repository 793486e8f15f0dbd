//! Compaction: the conversation is replaced by a summary that the model writes.
//!
//! It happens when the user asks for it, before a turn when most of the context
//! window is used, and when the model refuses a request as too long. The model
//! is asked over the whole conversation, with the same tools and system prompt,
//! so that the provider's cache serves it. The old entries stay in the log.

use crate::assemble::{AssembledMessage, MessageAssembler, Step};
use crate::behind::Unsent;
use crate::billing::Bill;
use crate::calling::NotAffordable;
use crate::machine::{Phase, duration_ms};
use crate::retry::{Next, Retry, out_of_patience};
use crate::{Effect, EffectId, Machine, ModelFailure};
use std::sync::Arc;
use windlass_context::{
    SessionFacts, compaction_prompt, from_message, named_files, older_half, summary_of, summary_text, with_last_word,
};
use windlass_types::text::clause;
use windlass_types::{
    CompactRecord, CompactTrigger, Compacted, ContentBlock, Continuation, EntryKind, EventKind, HookCall,
    HookEventName, HookOutcome, Interrupted, ModelErrorKind, ModelEvent, ModelItem, Outcome, RunFailure,
    RunFailureKind, Status, StopReason, TaskInfo, Timestamp, UserEntry,
};

/// Most output tokens of a summary.
const SUMMARY_TOKENS: u32 = 20_000;
/// How often a summary is asked for that does not come.
const ATTEMPTS: u32 = 2;
/// Automatic compactions of a run that may fail before no more are tried.
const FAILURES: u32 = 2;
/// What is kept free of a large window for the turn that fills it.
const RESERVE_TOKENS: u64 = 33_000;
/// Compactions in a row with no more than one turn between them.
const CLOSE_TOGETHER: u32 = 3;

/// A compaction that is going on.
#[derive(Debug)]
pub(crate) struct Compaction {
    /// What it waits for: hooks, the model, or the time to ask it again.
    pub(crate) effect: EffectId,
    call: Option<Call>,
    trigger: CompactTrigger,
    focus: Option<String>,
    then: Then,
    started: Timestamp,
    /// Messages at the beginning that even the summary must do without.
    skip: usize,
    attempts: u32,
    retry: Retry,
}

/// The call that writes the summary.
#[derive(Debug)]
struct Call {
    assembler: MessageAssembler,
    /// What it is booked with when it ends.
    bill: Bill,
}

/// What comes after a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    /// The run ends.
    Finish,
    /// The turn before which it happened.
    Turn(Continuation),
    /// The request that was too long, with the status that the provider gave.
    Request {
        /// The HTTP status, if there was one.
        status: Option<u16>,
    },
}

/// How close compactions of a run come.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Pace {
    /// Whether the model has said nothing since the last one.
    pub(crate) unanswered: bool,
    /// The turn of the last one, and how many came close together.
    last: Option<u32>,
    close: u32,
    /// How many automatic ones failed, and what the conversation took up at the last of them.
    failed: u32,
    failed_at: u64,
}

impl Pace {
    /// Counts one. Returns whether the run gets nowhere.
    fn spins(&mut self, turn: u32) -> bool {
        let is_close = self.last.is_some_and(|last| turn.saturating_sub(last) <= 1);
        self.close = if is_close { self.close + 1 } else { 1 };
        (self.last, self.unanswered) = (Some(turn), true);
        self.failed = 0;
        self.close > CLOSE_TOGETHER
    }

    /// Counts an automatic one that failed. Returns whether it was the last one.
    fn fails(&mut self, context: u64) -> bool {
        self.failed += 1;
        self.failed_at = context;
        self.failed == FAILURES
    }

    /// Whether no more are tried by themselves: a conversation that has not become shorter would fail again.
    fn is_given_up(&self, context: u64) -> bool {
        self.failed >= FAILURES && context >= self.failed_at
    }
}

impl Machine {
    /// Whether the conversation should be compacted before the next turn.
    pub(crate) fn is_nearly_full(&self) -> bool {
        let context = self.state.context_tokens();
        let is_futile = |pace: &Pace| pace.unanswered || pace.is_given_up(context);
        if !self.config.auto_compact || self.run.as_ref().is_none_or(|run| is_futile(&run.pace)) {
            return false;
        }
        let window = self.current_model().info.context_window;
        let window = self.config.auto_compact_window.map_or(window, |own| own.min(window));
        let limit = window.saturating_sub(RESERVE_TOKENS.min(window / 4));
        window > 0 && context > limit
    }

    /// Whether a request that was too long can become shorter: once, and if there is more than the prompt.
    pub(crate) fn may_compact_overflow(&self) -> bool {
        self.config.auto_compact
            && self.state.transcript().len() >= 2
            && self.run.as_ref().is_some_and(|run| !run.pace.unanswered)
    }

    /// Begins a compaction.
    pub(crate) fn compact(&mut self, trigger: CompactTrigger, focus: Option<String>, then: Then) {
        if self.state.transcript().len() < 2 {
            return self.not_compacted(then, "There is nothing to compact yet.");
        }
        self.event(EventKind::Status(Status::Compacting { trigger }), None);
        let hooked = self.config.listens(HookEventName::PreCompact, None);
        let mut compaction = Compaction {
            effect: EffectId(0),
            call: None,
            trigger,
            focus,
            then,
            started: self.now,
            skip: 0,
            attempts: 0,
            retry: Retry::default(),
        };
        if hooked {
            let trigger = trigger.as_str().to_owned();
            let custom_instructions = compaction.focus.clone();
            compaction.effect = self.run_hooks(HookCall::PreCompact { trigger, custom_instructions });
            self.phase = Phase::Compacting(Box::new(compaction));
        } else {
            self.request_summary(compaction);
        }
    }

    pub(crate) fn compact_hooks_answered(&mut self, compaction: Compaction, outcome: &HookOutcome) {
        self.hooks_ran(HookEventName::PreCompact, None, outcome);
        match &outcome.block {
            Some(block) => self.compaction_failed(compaction.then, &block.reason),
            None => self.request_summary(compaction),
        }
    }

    pub(crate) fn request_summary(&mut self, mut compaction: Compaction) {
        if self.out.is_behind() {
            self.phase = Phase::Behind(Unsent::Summary(Box::new(compaction)));
            return;
        }
        let model = self.current_model().clone();
        let mut request = self.build_request(&model);
        let messages = match compaction.skip {
            0 => request.messages,
            skip => from_message(&request.messages, skip),
        };
        request.messages = with_last_word(messages, &compaction_prompt(compaction.focus.as_deref()));
        request.raw_frames = false;
        let wanted = request.max_output_tokens.min(SUMMARY_TOKENS);
        let hold = match self.afford(&model, &mut request, wanted) {
            Ok(hold) => hold,
            Err(NotAffordable::Yet(timer)) => {
                compaction.effect = timer;
                self.phase = Phase::Compacting(Box::new(compaction));
                return;
            }
            Err(NotAffordable::Ever(outcome)) => return self.finish(outcome),
        };
        let request = Arc::new(request);
        compaction.effect = self.effect(Effect::CallModel(Arc::clone(&request)));
        let bill = Bill::new(model, request, self.now, hold);
        compaction.call = Some(Call { assembler: MessageAssembler::new(), bill });
        self.phase = Phase::Compacting(Box::new(compaction));
    }

    /// An item of the stream that writes the summary. The host sees none of it.
    pub(crate) fn summary_item(&mut self, item: &ModelItem) {
        let Phase::Compacting(compaction) = &mut self.phase else { return };
        let effect = compaction.effect;
        if let ModelEvent::RateLimit(limit) = &item.event {
            return self.note_rate_limit(limit);
        }
        let Some(call) = &mut compaction.call else { return };
        call.bill.note(&item.event);
        let failed = match call.assembler.handle(&item.event) {
            Ok(Step::Complete(message)) => return self.summary_complete(&message),
            Ok(_) => return,
            Err(error) => format!("The provider's stream cannot be followed: {}.", clause(&error.to_string())),
        };
        self.effect(Effect::Cancel(effect));
        self.summary_failed(effect, &ModelFailure::new(ModelErrorKind::Protocol, failed));
    }

    fn take_compaction(&mut self) -> Option<Compaction> {
        match std::mem::replace(&mut self.phase, Phase::Idle) {
            Phase::Compacting(compaction) => Some(*compaction),
            other => {
                self.phase = other;
                None
            }
        }
    }

    fn summary_complete(&mut self, message: &AssembledMessage) {
        let Some(mut compaction) = self.take_compaction() else { return };
        if let Some(Call { bill, .. }) = compaction.call.take() {
            let used = bill.complete();
            self.book(bill, used);
        }
        let text: Vec<&str> = message.content.iter().filter_map(ContentBlock::as_text).collect();
        let text = text.concat();
        let whole = match message.stop_reason {
            StopReason::Refusal | StopReason::MaxTokens | StopReason::ContextWindowExceeded => false,
            // What it says beside a call may be anything but the summary.
            StopReason::ToolUse => text.contains("</summary>"),
            _ => true,
        };
        match summary_of(&text) {
            Some(summary) if whole => self.summarised(&compaction, summary),
            _ => {
                compaction.attempts += 1;
                if compaction.attempts < ATTEMPTS {
                    self.request_summary(compaction);
                } else {
                    self.summary_given_up(&compaction, "The model wrote no summary.");
                }
            }
        }
    }

    /// The summary takes the place of the conversation.
    fn summarised(&mut self, compaction: &Compaction, summary: &str) {
        let Compaction { trigger, then, started, .. } = *compaction;
        let pre_tokens = self.state.context_tokens();
        let files = named_files(&self.state.transcript().messages());
        let cwd = self.state.cwd().to_string_lossy().into_owned();
        let tasks: Vec<TaskInfo> = self.tasks().cloned().collect();
        let mut facts = SessionFacts::new(&cwd);
        facts.todos = self.state.todos();
        facts.files = &files;
        facts.tasks = &tasks;
        facts.goes_on = then != Then::Finish;
        let text = summary_text(summary, &facts);
        let mut content = vec![ContentBlock::text(text.clone())];
        if then != Then::Finish {
            content.extend(self.state.last_prompt().iter().cloned());
        }
        let post_tokens = windlass_context::estimate_text(&text);
        let mut record = CompactRecord::new(trigger, pre_tokens, post_tokens, self.state.leaf().cloned());
        record.duration_ms = duration_ms(self.now, started);
        let mut told = Compacted::new(trigger, text, "".into(), "".into());
        (told.pre_tokens, told.post_tokens, told.duration_ms) = (pre_tokens, post_tokens, record.duration_ms);
        let boundary = self.record(None, EntryKind::Compacted(record));
        let mut user = UserEntry::new(content);
        user.is_summary = true;
        user.run = self.run.as_ref().map(|run| run.id.clone());
        let entry = self.record(Some(boundary.id.clone()), EntryKind::User(user));
        (told.boundary, told.entry) = (boundary.id.clone(), entry.id.clone());
        let append = self.append(vec![boundary, entry], true);
        self.event(EventKind::Compacted(told), Some(append));
        self.history_replaced = true;
        let spins = self.run.as_mut().is_some_and(|run| run.pace.spins(run.turns));
        match then {
            Then::Finish => self.finish(Outcome::Success),
            _ if spins => self.fail(
                RunFailureKind::PromptTooLong,
                "The conversation fills the model's context window again and again, right after it was compacted. \
                 Ask for less at once, or use a model with a larger window.",
            ),
            Then::Turn(continuation) => self.call_model(continuation),
            Then::Request { .. } => {
                self.tell_environment();
                self.request(Continuation::Compacted, Retry::default());
            }
        }
    }

    /// The call that writes the summary failed, or its stream ended early.
    pub(crate) fn summary_failed(&mut self, effect: EffectId, failure: &ModelFailure) {
        let Some(mut compaction) = self.take_compaction() else { return };
        if compaction.effect != effect {
            self.phase = Phase::Compacting(Box::new(compaction));
            return;
        }
        if let Some(Call { bill, .. }) = compaction.call.take() {
            let used = bill.failed(failure);
            self.book(bill, used);
        }
        if let Some(limit) = &failure.rate_limit {
            self.note_rate_limit(limit);
        }
        let has_fallback = self.config.fallback.is_some() && !self.falling_back;
        match compaction.retry.after(failure, &self.config.limits, has_fallback) {
            Next::Wait(wait) => {
                compaction.effect = self.back_off(wait, &compaction.retry, failure);
                self.phase = Phase::Compacting(Box::new(compaction));
            }
            Next::Fallback => {
                self.fall_back(self.current_model().id.clone());
                self.request_summary(compaction);
            }
            Next::TooLong => {
                let messages = self.state.transcript().messages();
                match older_half(&messages, compaction.skip) {
                    Some(skip) => {
                        compaction.skip = skip;
                        self.request_summary(compaction);
                    }
                    None => self.summary_given_up(&compaction, &failure.message),
                }
            }
            Next::GiveUp => self.summary_given_up(&compaction, &failure.message),
            Next::OutOfPatience(asked) => self.summary_given_up(&compaction, &out_of_patience(failure, asked)),
        }
    }

    /// The wait before the summary is asked for again is over.
    pub(crate) fn ask_again_for_summary(&mut self) {
        if let Some(compaction) = self.take_compaction() {
            self.request_summary(compaction);
        }
    }

    /// The model was asked, and there is no summary.
    fn summary_given_up(&mut self, compaction: &Compaction, why: &str) {
        let context = self.state.context_tokens();
        let is_automatic = compaction.trigger == CompactTrigger::Auto;
        let is_last = is_automatic && self.run.as_mut().is_some_and(|run| run.pace.fails(context));
        if is_last {
            let message = format!(
                "The conversation could not be compacted {FAILURES} times. It is not tried again in this run, which \
                 may end when the model's context window is full. Compact it by hand, or begin a new session."
            );
            self.event(EventKind::Status(Status::Notice { message }), None);
        }
        self.compaction_failed(compaction.then, why);
    }

    fn compaction_failed(&mut self, then: Then, why: &str) {
        self.event(EventKind::Status(Status::CompactionFailed { message: why.to_owned() }), None);
        self.not_compacted(then, why);
    }

    /// The conversation stays as it is.
    fn not_compacted(&mut self, then: Then, why: &str) {
        match then {
            Then::Finish => self.fail(RunFailureKind::Compaction, why),
            Then::Turn(continuation) => {
                // It may still fit; asked again for each turn it would not be cheaper.
                if let Some(run) = &mut self.run {
                    run.pace.unanswered = true;
                }
                self.call_model(continuation);
            }
            Then::Request { status } => {
                let message = format!(
                    "The conversation is too long for the model, and it cannot be compacted: {why} Begin a new \
                     session, or send less."
                );
                let failure = RunFailure::new(RunFailureKind::PromptTooLong, message).with_status(status);
                self.finish(Outcome::Failed(failure));
            }
        }
    }

    /// The user stopped the run meanwhile.
    pub(crate) fn interrupt_compaction(&mut self, compaction: Compaction) {
        self.effect(Effect::Cancel(compaction.effect));
        let then = compaction.then;
        self.forsake_compaction(compaction);
        let message = "It was stopped.".to_owned();
        self.event(EventKind::Status(Status::CompactionFailed { message }), None);
        match then {
            Then::Finish => self.finish(Outcome::Interrupted { during: Interrupted::Streaming }),
            _ => self.interrupted_streaming(),
        }
    }

    /// Books the call of a compaction that is left.
    pub(crate) fn forsake_compaction(&mut self, compaction: Compaction) {
        if let Some(Call { bill, .. }) = compaction.call {
            let used = bill.abandoned();
            self.book(bill, used);
        }
    }
}
