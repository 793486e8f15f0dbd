//! The model call: its request, its stream, its failures, and what its message means.

use crate::assemble::{AssembledMessage, MessageAssembler, Step};
use crate::batch::{Batch, Call};
use crate::behind::Unsent;
use crate::billing::Bill;
use crate::budget::{Hold, Reservation, reserve};
use crate::compaction::Then;
use crate::machine::Phase;
use crate::retry::{Next, Retry, advice, out_of_patience};
use crate::state::is_same_model;
use crate::{Effect, EffectId, Machine, ModelFailure, ModelProfile, Unprepared};
use std::sync::Arc;
use std::time::Duration;
use windlass_context::{estimate_request, runtime_text};
use windlass_types::text::{clause, sentence};
use windlass_types::{
    AssistantEntry, CompactTrigger, ContentBlock, Continuation, DecisionReason, Delta, EntryId, EntryKind, EventKind,
    Interrupted, MessageId, ModelErrorKind, ModelEvent, ModelItem, ModelRequest, Outcome, RetryStatus, RunFailure,
    RunFailureKind, Status, StopReason, Thinking, Usage, WithdrawReason,
};

/// How long a call waits for money that calls of other agents hold.
const BUSY_BUDGET: Duration = Duration::from_millis(250);

/// Why a request is not sent.
#[derive(Debug)]
pub(crate) enum NotAffordable {
    /// Calls of other agents hold what it needs. It can be tried again when this wait is over.
    Yet(EffectId),
    /// The budget does not buy it. The run ends like this.
    Ever(Outcome),
}

/// A model call that is going on.
#[derive(Debug)]
pub(crate) struct ModelCall {
    pub(crate) effect: EffectId,
    /// What it is booked with when it ends.
    bill: Bill,
    assembler: MessageAssembler,
    message_id: Option<MessageId>,
    message_model: String,
    start_usage: Usage,
    /// The ids of the blocks that are complete.
    block_ids: Vec<EntryId>,
    /// Whether the host saw anything of the message.
    shown: bool,
    retry: Retry,
}

/// What the cached prefix of the last request was made of.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Prefix {
    model: String,
    system: Vec<windlass_types::SystemSection>,
    tools: Arc<[Arc<windlass_types::ToolSpec>]>,
}

impl Prefix {
    /// What differs from the prefix before, if anything.
    fn broken_since(&self, before: &Self) -> Option<&'static str> {
        if self.model != before.model {
            Some("model")
        } else if self.system != before.system {
            Some("system")
        } else if !Arc::ptr_eq(&self.tools, &before.tools) && self.tools != before.tools {
            Some("tools")
        } else {
            None
        }
    }
}

impl Machine {
    /// The model that the next call goes to.
    pub(crate) fn current_model(&self) -> &ModelProfile {
        match &self.config.fallback {
            Some(fallback) if self.falling_back => fallback,
            _ => &self.config.model,
        }
    }

    /// Begins a turn, unless a limit forbids it.
    pub(crate) fn call_model(&mut self, continuation: Continuation) {
        if self.is_nearly_full() {
            return self.compact(CompactTrigger::Auto, None, Then::Turn(continuation));
        }
        let Some(run) = &mut self.run else { return };
        run.continuation = continuation;
        if let Some(limit) = self.config.limits.max_turns
            && run.turns >= limit
        {
            return self.finish(Outcome::MaxTurns { limit });
        }
        run.turns += 1;
        self.tell_environment();
        self.request(continuation, Retry::default());
    }

    /// Sends the request of this turn, for the first time or again.
    pub(crate) fn request(&mut self, continuation: Continuation, retry: Retry) {
        if self.out.is_behind() {
            self.phase = Phase::Behind(Unsent::Turn(continuation, retry));
            return;
        }
        let model = self.current_model().clone();
        let mut request = self.build_request(&model);
        let wanted = request.max_output_tokens;
        let hold = match self.afford(&model, &mut request, wanted) {
            Ok(hold) => hold,
            Err(NotAffordable::Yet(timer)) => {
                self.phase = Phase::BackingOff(timer, retry);
                return;
            }
            Err(NotAffordable::Ever(outcome)) => {
                // The turn was counted when it began. If this was to be its first call, it did not take place.
                let is_first = !matches!(continuation, Continuation::Retry | Continuation::Fallback);
                if let Some(run) = &mut self.run {
                    run.turns = run.turns.saturating_sub(u32::from(is_first));
                }
                return self.finish(outcome);
            }
        };
        self.note_prefix(&request);
        self.event(EventKind::Status(Status::Requesting { continuation, model: model.id.clone() }), None);
        self.batch = Batch::default();
        let request = Arc::new(request);
        let effect = self.effect(Effect::CallModel(Arc::clone(&request)));
        self.phase = Phase::Calling(Box::new(ModelCall {
            effect,
            message_model: model.id.clone(),
            bill: Bill::new(model, request, self.now, hold),
            assembler: MessageAssembler::new(),
            message_id: None,
            start_usage: Usage::default(),
            block_ids: Vec::new(),
            shown: false,
            retry,
        }));
    }

    /// Reserves what a request may cost, which may write so many tokens, and limits its output to what the budget buys.
    pub(crate) fn afford(
        &mut self,
        model: &ModelProfile,
        request: &mut ModelRequest,
        wanted: u32,
    ) -> Result<Hold, NotAffordable> {
        match reserve(&self.config.limits, &self.config.ledger, model, || estimate_request(request), wanted) {
            Reservation::Granted { max_output_tokens, hold } => {
                limit_output(request, max_output_tokens);
                Ok(hold)
            }
            Reservation::Unpriced => {
                self.warn_unpriced(&model.id);
                limit_output(request, wanted);
                Ok(Hold::default())
            }
            Reservation::Busy => Err(NotAffordable::Yet(self.effect(Effect::Sleep(BUSY_BUDGET)))),
            Reservation::Exhausted => {
                let limit = self.config.limits.max_budget.unwrap_or_default();
                Err(NotAffordable::Ever(Outcome::MaxBudget { limit }))
            }
        }
    }

    pub(crate) fn build_request(&self, model: &ModelProfile) -> ModelRequest {
        let messages = self.state.messages_for(&model.id);
        let wanted = self.config.max_output_tokens.unwrap_or(model.info.default_output_tokens);
        let mut request =
            ModelRequest::new(model.id.clone(), messages, wanted.min(model.info.max_output_tokens).max(1));
        request.system.clone_from(&self.config.system);
        request.tools = Arc::clone(&self.config.tools);
        request.thinking = match self.config.thinking {
            Thinking::Adaptive if model.info.adaptive_thinking => Thinking::Adaptive,
            Thinking::Budget(tokens) if model.info.thinking_budget => Thinking::Budget(tokens),
            // Newer models take no budget: they are asked to reason, and see themselves how much.
            Thinking::Budget(_) if model.info.adaptive_thinking => Thinking::Adaptive,
            _ => Thinking::Off,
        };
        request.effort = self.config.effort.and_then(|effort| model.info.effort_for(effort));
        request.betas.clone_from(&self.config.betas);
        request.user_id.clone_from(&self.config.user_id);
        request.cache = self.config.cache.filter(|_| model.info.prompt_cache);
        request.raw_frames = self.config.raw_frames;
        let limit = request.max_output_tokens;
        limit_output(&mut request, limit);
        request
    }

    fn warn_unpriced(&mut self, model: &str) {
        if !std::mem::replace(&mut self.warned_unpriced, true) {
            self.event(EventKind::Status(Status::PriceUnknown { model: model.to_owned() }), None);
        }
    }

    /// Says so when the provider cannot use its cache of the last request.
    fn note_prefix(&mut self, request: &ModelRequest) {
        let prefix =
            Prefix { model: request.model.clone(), system: request.system.clone(), tools: Arc::clone(&request.tools) };
        let broken = self.prefix.as_ref().and_then(|before| prefix.broken_since(before));
        self.prefix = Some(prefix);
        let replaced = std::mem::take(&mut self.history_replaced);
        if let Some(cause) = broken.or(replaced.then_some("history")) {
            self.event(EventKind::Status(Status::CacheBroken { cause: cause.to_owned() }), None);
        }
    }

    /// An item of the stream.
    pub(crate) fn model_item(&mut self, effect: EffectId, item: &ModelItem) {
        if matches!(&self.phase, Phase::Compacting(compaction) if compaction.effect == effect) {
            return self.summary_item(item);
        }
        if let ModelEvent::RateLimit(limit) = &item.event {
            return self.note_rate_limit(limit);
        }
        // Taken out so that the step, which borrows from it, can act on the machine.
        let Phase::Calling(call) = &mut self.phase else { return };
        if call.effect != effect {
            return;
        }
        call.bill.note(&item.event);
        let mut assembler = std::mem::take(&mut call.assembler);
        if let Some(frame) = &item.raw {
            call.shown = true;
            self.event(EventKind::ModelFrame { frame: frame.clone() }, None);
        }
        let step = assembler.handle(&item.event);
        match step {
            Ok(Step::Complete(message)) => return self.message_complete(*message),
            Ok(step) => self.step(&step),
            Err(error) => {
                let text = format!("The provider's stream cannot be followed: {}.", clause(&error.to_string()));
                self.effect(Effect::Cancel(effect));
                return self.model_failed(effect, &ModelFailure::new(ModelErrorKind::Protocol, text));
            }
        }
        if let Phase::Calling(call) = &mut self.phase {
            call.assembler = assembler;
        }
    }

    fn step(&mut self, step: &Step<'_>) {
        let Phase::Calling(call) = &mut self.phase else { return };
        match *step {
            Step::Started { id, model, usage } => {
                call.message_id = Some(id.clone());
                model.clone_into(&mut call.message_model);
                call.start_usage = usage;
            }
            Step::BlockStarted { index, block } => {
                use windlass_types::BlockStart;
                match block {
                    BlockStart::Text(text) if !text.is_empty() => self.delta(index, Delta::Text(text.clone())),
                    BlockStart::Thinking { thinking, .. } if !thinking.is_empty() => {
                        self.delta(index, Delta::Thinking(thinking.clone()));
                    }
                    _ => {}
                }
            }
            Step::Text { index, text } => self.delta(index, Delta::Text(text.to_owned())),
            Step::Thinking { index, thinking } => self.delta(index, Delta::Thinking(thinking.to_owned())),
            Step::ToolInput { index, json } => self.delta(index, Delta::ToolInput(json.to_owned())),
            Step::BlockFinished { index, block, malformed } => {
                let line = self.fresh_id();
                let Phase::Calling(call) = &mut self.phase else { return };
                call.shown = true;
                call.block_ids.push(line.clone());
                let message_id = call.message_id.clone().unwrap_or_else(|| MessageId::from(""));
                let (model, usage) = (call.message_model.clone(), call.start_usage);
                let kind = EventKind::BlockFinished { message_id, model, index, line, block: block.clone(), usage };
                self.event(kind, None);
                if let ContentBlock::ToolUse(tool_use) = block {
                    let unusable = malformed
                        .map(|malformed| Unprepared::new(DecisionReason::InvalidInput, malformed.error.clone()));
                    self.batch.push(Call::new(tool_use.clone(), unusable));
                }
            }
            Step::Usage { .. } | Step::Nothing | Step::Complete(_) => {}
        }
    }

    fn delta(&mut self, index: usize, delta: Delta) {
        if let Phase::Calling(call) = &mut self.phase {
            call.shown = true;
        }
        self.event(EventKind::BlockDelta { index, delta }, None);
    }

    /// The message is complete: it is stored, and its calls count.
    fn message_complete(&mut self, message: AssembledMessage) {
        let Phase::Calling(call) = std::mem::replace(&mut self.phase, Phase::Tools) else { return };
        let ModelCall { bill, block_ids, .. } = *call;
        let (asked, used) = (bill.model.id.clone(), bill.complete());
        self.book(bill, used);
        if let Some(run) = &mut self.run {
            run.pace.unanswered = false;
        }
        let AssembledMessage { id, model, content, malformed: _, stop_reason, usage } = message;
        let text: Vec<&str> = content.iter().filter_map(ContentBlock::as_text).collect();
        if let Some(run) = &mut self.run {
            run.text = text.join("\n");
            run.stop_reason = Some(stop_reason.clone());
            if !is_cut(&stop_reason) {
                run.output_continuations = 0;
            }
        }
        let mut shown = block_ids.into_iter();
        let block_ids: Vec<_> = content.iter().map(|_| shown.next().unwrap_or_else(|| self.fresh_id())).collect();
        if !content.is_empty() {
            self.name_lines(&content, &block_ids, &stop_reason);
            // Gateways have names of their own. What counts later is who can read its reasoning again.
            let written_by = if is_same_model(&model, &asked) { model.clone() } else { asked };
            let entry =
                AssistantEntry::new(id.clone(), written_by, content, block_ids, Some(stop_reason.clone()), usage);
            let parent = self.state.leaf().cloned();
            let entry = self.record(parent, EntryKind::Assistant(entry));
            let append = self.append(vec![entry], true);
            let kind =
                EventKind::MessageFinished { message_id: id, model, stop_reason: Some(stop_reason.clone()), usage };
            self.event(kind, Some(append));
        }
        if self.batch.calls.is_empty() {
            self.without_calls(&stop_reason);
        } else {
            self.commit();
        }
    }

    /// Tells each call which line of the log holds it, and which may not run because of how the message ended.
    fn name_lines(&mut self, content: &[ContentBlock], ids: &[EntryId], stop_reason: &StopReason) {
        let cut = is_cut(stop_reason);
        let last_is_call = matches!(content.last(), Some(ContentBlock::ToolUse(_)));
        let lines = content.iter().zip(ids).filter(|(block, _)| matches!(block, ContentBlock::ToolUse(_)));
        for (call, (_, line)) in self.batch.calls.iter_mut().zip(lines) {
            call.line = Some(line.clone());
        }
        if *stop_reason == StopReason::Refusal {
            for call in &mut self.batch.calls {
                call.unusable = Some(Unprepared::new(DecisionReason::InvalidInput, runtime_text::REFUSED_CALL));
            }
        }
        if cut
            && last_is_call
            && let Some(call) = self.batch.calls.last_mut()
        {
            call.unusable = Some(Unprepared::new(DecisionReason::InvalidInput, runtime_text::CUT_CALL));
        }
    }

    /// A message without tool calls: what its stop reason means.
    fn without_calls(&mut self, stop_reason: &StopReason) {
        match stop_reason {
            StopReason::Refusal => self.finish(Outcome::Refused),
            cut if is_cut(cut) => self.continue_output(),
            _ => self.stop(),
        }
    }

    /// The answer was cut by the output limit: asks the model to go on, a bounded number of times.
    fn continue_output(&mut self) {
        let allowed = self.config.limits.max_output_continuations;
        let Some(run) = &mut self.run else { return };
        if run.output_continuations >= allowed {
            return self.fail(
                RunFailureKind::OutputLimit,
                format!(
                    "The answer was cut by the output limit {} times in a row. Raise the limit of output tokens, or \
                     ask for less at once.",
                    allowed + 1
                ),
            );
        }
        run.output_continuations += 1;
        let entry = self.record_user(vec![ContentBlock::text(runtime_text::CONTINUE)], true);
        self.append(vec![entry], false);
        self.call_model(Continuation::MaxOutput);
    }

    /// Takes back what was shown of an unfinished message; its calls never were.
    fn withdraw(&mut self, call: ModelCall, used: Usage, reason: WithdrawReason) {
        self.book(call.bill, used);
        let running: Vec<EffectId> = self.batch.calls.iter().filter_map(Call::waits_for).collect();
        for effect in running {
            self.effect(Effect::Cancel(effect));
        }
        self.batch = Batch::default();
        if call.shown {
            self.event(EventKind::MessageWithdrawn { message_id: call.message_id, reason }, None);
        }
    }

    /// The call failed, or its stream ended early.
    pub(crate) fn model_failed(&mut self, effect: EffectId, failure: &ModelFailure) {
        if matches!(self.phase, Phase::Compacting(_)) {
            return self.summary_failed(effect, failure);
        }
        let call = match std::mem::replace(&mut self.phase, Phase::Idle) {
            Phase::Calling(call) => call,
            other => {
                self.phase = other;
                return;
            }
        };
        if call.effect != effect {
            self.phase = Phase::Calling(call);
            return;
        }
        let (mut retry, model, used) = (call.retry, call.bill.model.id.clone(), call.bill.failed(failure));
        self.withdraw(*call, used, WithdrawReason::StreamFailed);
        if let Some(limit) = &failure.rate_limit {
            self.note_rate_limit(limit);
        }
        let has_fallback = self.config.fallback.is_some() && !self.falling_back;
        match retry.after(failure, &self.config.limits, has_fallback) {
            Next::Wait(wait) => {
                let timer = self.back_off(wait, &retry, failure);
                self.phase = Phase::BackingOff(timer, retry);
            }
            Next::Fallback => {
                self.fall_back(model);
                self.request(Continuation::Fallback, retry);
            }
            // Once: what was compacted and is still too long stays so.
            Next::TooLong if self.may_compact_overflow() => {
                self.compact(CompactTrigger::Overflow, None, Then::Request { status: failure.status });
            }
            Next::TooLong => self.give_up(RunFailureKind::PromptTooLong, failure),
            Next::GiveUp => self.give_up(RunFailureKind::Model(failure.kind), failure),
            Next::OutOfPatience(asked) => {
                let mut failure = failure.clone();
                failure.message = out_of_patience(&failure, asked);
                self.give_up(RunFailureKind::Model(failure.kind), &failure);
            }
        }
    }

    /// Waits before a failed call is repeated.
    pub(crate) fn back_off(&mut self, wait: Duration, retry: &Retry, failure: &ModelFailure) -> EffectId {
        let delay_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        let max_retries = self.config.limits.max_retries;
        let mut status = RetryStatus::new(retry.attempts, max_retries, delay_ms, failure.kind);
        status.http_status = failure.status;
        status.message.clone_from(&failure.message);
        self.event(EventKind::Status(Status::Retrying(status)), None);
        self.effect(Effect::Sleep(wait))
    }

    /// Lets the fallback model take over.
    pub(crate) fn fall_back(&mut self, from: String) {
        self.falling_back = true;
        let to = self.current_model().id.clone();
        self.event(EventKind::Status(Status::FallingBack { from, to }), None);
    }

    fn give_up(&mut self, kind: RunFailureKind, failure: &ModelFailure) {
        let message = match advice(failure.kind) {
            Some(advice) => format!("{} {advice}", sentence(&failure.message)),
            None => failure.message.clone(),
        };
        let failure = RunFailure::new(kind, message).with_status(failure.status);
        self.finish(Outcome::Failed(failure));
    }

    /// A wait is over.
    pub(crate) fn woke(&mut self, effect: EffectId) {
        match std::mem::replace(&mut self.phase, Phase::Idle) {
            Phase::BackingOff(waiting, retry) if waiting == effect => {
                // Without an attempt, the call only waited for money.
                let first = self.run.as_ref().map(|run| run.continuation).filter(|_| retry.attempts == 0);
                self.request(first.unwrap_or(Continuation::Retry), retry);
            }
            Phase::Compacting(compaction) if compaction.effect == effect => {
                self.phase = Phase::Compacting(compaction);
                self.ask_again_for_summary();
            }
            other => self.phase = other,
        }
    }

    /// The user stopped the run during a model call.
    pub(crate) fn interrupt_call(&mut self, call: ModelCall) {
        self.effect(Effect::Cancel(call.effect));
        let used = call.bill.abandoned();
        self.withdraw(call, used, WithdrawReason::Interrupted);
        self.interrupted_streaming();
    }

    /// Books a call whose run ends because the store refused.
    pub(crate) fn forsake_call(&mut self, call: ModelCall) {
        let used = call.bill.abandoned();
        self.book(call.bill, used);
    }

    /// The run ends where the model was to speak.
    pub(crate) fn interrupted_streaming(&mut self) {
        let entry = self.record_user(vec![ContentBlock::text(runtime_text::INTERRUPTED)], false);
        self.append(vec![entry], false);
        self.finish(Outcome::Interrupted { during: Interrupted::Streaming });
    }
}

/// Whether the message ended where a limit was reached.
fn is_cut(stop_reason: &StopReason) -> bool {
    matches!(stop_reason, StopReason::MaxTokens | StopReason::ContextWindowExceeded)
}

/// Lowers the output limit, and the thinking budget with it: it must stay below.
fn limit_output(request: &mut ModelRequest, max_output_tokens: u32) {
    /// The least budget that the Messages API accepts.
    const LEAST_THINKING: u32 = 1_024;
    request.max_output_tokens = max_output_tokens;
    if let Thinking::Budget(budget) = request.thinking {
        let most = max_output_tokens.saturating_sub(1);
        request.thinking =
            if most < LEAST_THINKING { Thinking::Off } else { Thinking::Budget(budget.clamp(LEAST_THINKING, most)) };
    }
}
