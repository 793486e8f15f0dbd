//! One model request, for a turn or for a summary: waits, stream and retries.

use crate::assemble::{AssembleError, MessageAssembler, Step};
use crate::billing::Bill;
use crate::budget::{NO_PRICE, Price, Reservation, price};
use crate::naming::with_own_id;
use crate::pending::not_awaited;
use crate::request::{Purpose, build, limit_output};
use crate::retry::{Next, Retry, out_of_patience};
use crate::session::{Session, duration_ms};
use crate::{Effect, EffectId, Input, ModelFailure, ModelProfile, UnfitInput};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;
use windlass_context::estimate_request;
use windlass_session::CallIds;
use windlass_types::text::clause;
use windlass_types::{
    AttemptId, Continuation, ModelErrorKind, ModelEvent, ModelItem, ModelRequest, Outcome, RetryStatus, Status, Usage,
};

/// Minimum of requested output tokens, even if the context window is nearly full.
const MIN_OUTPUT_TOKENS: u64 = 1_024;

/// One model request until its message is complete, or it is given up.
#[derive(Debug)]
pub(crate) struct ModelCall {
    pub(crate) purpose: Purpose,
    /// Reason of the repeat, if it is one.
    pub(crate) repeat: Option<Continuation>,
    retry: Retry,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    /// Not sent: the log has not acknowledged the entries before the last request.
    Behind,
    /// Waiting for the ledger to reserve the maximum cost.
    Reserving(EffectId, Box<(ModelProfile, ModelRequest)>),
    /// Receiving the answer of the model.
    Streaming(Box<Stream>),
    /// Failed, waiting for its retry.
    BackingOff(EffectId),
    /// Ended or failed.
    Ended,
}

#[derive(Debug)]
struct Stream {
    effect: EffectId,
    bill: Bill,
    assembler: MessageAssembler,
    ids: CallIds,
}

/// Timing of an attempt that gave a message.
#[derive(Debug)]
pub(crate) struct AttemptTiming {
    pub(crate) id: AttemptId,
    pub(crate) latency_ms: u64,
    pub(crate) first_token_ms: Option<u64>,
}

/// Next step of a model request.
#[derive(Debug)]
pub(crate) enum CallStep {
    /// Waiting for the log, the ledger, a retry, or more of the stream.
    Waits,
    /// Sent to the model.
    Sent(Arc<ModelRequest>, AttemptId),
    /// Failed, or ended early by its stream. [`ModelCall::after_failure`] decides the next step.
    Failed(ModelFailure),
    /// Too long: the prompt must become shorter.
    TooLong(ModelFailure),
    /// Given up.
    GivenUp(ModelFailure),
    /// Not covered by the budget: the run ends.
    Ends(Outcome),
}

impl ModelCall {
    pub(crate) fn new(purpose: Purpose) -> Self {
        Self { purpose, repeat: None, retry: Retry::default(), stage: Stage::Behind }
    }

    /// `true` if the request waits for this effect.
    pub(crate) fn waits_for(&self, effect: EffectId) -> bool {
        self.awaited_effect() == Some(effect)
    }

    fn awaited_effect(&self) -> Option<EffectId> {
        match &self.stage {
            Stage::Reserving(effect, _) | Stage::BackingOff(effect) => Some(*effect),
            Stage::Streaming(stream) => Some(stream.effect),
            Stage::Behind | Stage::Ended => None,
        }
    }

    /// `true` if the request waits for the log.
    pub(crate) fn is_behind(&self) -> bool {
        matches!(self.stage, Stage::Behind)
    }

    /// Sends the request, for the first time or again, when log and budget allow it.
    pub(crate) fn send(&mut self, session: &mut Session) -> CallStep {
        if session.out.is_behind() {
            self.stage = Stage::Behind;
            return CallStep::Waits;
        }
        let model = session.model_for(&self.purpose).clone();
        // The request for a summary may end behind an answer, where no tool can be added; it keeps the current tool
        // list.
        if matches!(self.purpose, Purpose::Turn) {
            session.append_withheld();
            session.log_window_of_server();
        }
        if matches!(self.purpose, Purpose::Turn) || !session.models.listed.has_begun() {
            session.list_tools();
        }
        let mut request = build(session, &model, &self.purpose);
        let size = session.request_size(&self.purpose, &request);
        if let Some(failure) = session.too_large(&model, &self.purpose, size) {
            self.stage = Stage::Ended;
            return CallStep::TooLong(failure);
        }
        let available_tokens = model.info.context_window.saturating_sub(size.likely()).max(MIN_OUTPUT_TOKENS);
        if available_tokens < u64::from(request.max_output_tokens) && model.info.context_window > 0 {
            limit_output(&mut request, u32::try_from(available_tokens).unwrap_or(u32::MAX));
        }
        let limits = &session.config.limits;
        // Without a budget the size of the conversation is accurate enough.
        let input_tokens = || match limits.max_budget {
            Some(_) => estimate_request(&request),
            None => session.state.context_tokens(),
        };
        match price(limits, &model, input_tokens, request.max_output_tokens) {
            Price::Unlimited => self.stream(session, model, request, None),
            // The spending on other models, and costs reported by providers, count all the same.
            Price::Unknown if limits.max_budget.is_some_and(|budget| session.spent >= budget) => exhausted(session),
            Price::Unknown => {
                session.warn_unpriced(&model.id);
                self.stream(session, model, request, None)
            }
            Price::Refused => CallStep::GivenUp(unpriced(&model)),
            Price::Costs(cost) if cost.budget.is_none() => {
                let reservation = session.effect(Effect::Reserve(cost));
                self.stream(session, model, request, Some(reservation))
            }
            Price::Costs(cost) => {
                let effect = session.effect(Effect::Reserve(cost));
                self.stage = Stage::Reserving(effect, Box::new((model, request)));
                CallStep::Waits
            }
        }
    }

    fn send_again(&mut self, session: &mut Session, why: Continuation) -> CallStep {
        self.repeat = Some(why);
        self.send(session)
    }

    fn stream(
        &mut self,
        session: &mut Session,
        model: ModelProfile,
        request: ModelRequest,
        reservation: Option<EffectId>,
    ) -> CallStep {
        let request = Arc::new(request);
        let effect = session.effect(Effect::CallModel(Arc::clone(&request)));
        let attempt = session.ids.attempt();
        let bill = Bill::new(model, Arc::clone(&request), (attempt.clone(), session.now), reservation);
        let (assembler, ids) = (MessageAssembler::new(), CallIds::default());
        self.stage = Stage::Streaming(Box::new(Stream { effect, bill, assembler, ids }));
        CallStep::Sent(request, attempt)
    }

    /// Applies an answer to the effect that the request waits for, other than an item of its stream.
    pub(crate) fn handle(
        &mut self,
        session: &mut Session,
        effect: EffectId,
        input: Input,
    ) -> Result<CallStep, UnfitInput> {
        match input {
            Input::ModelFailed(_, failure) => Ok(self.failed(session, failure)),
            Input::AnsweredBy(_, model) => {
                if let Stage::Streaming(stream) = &mut self.stage {
                    stream.bill.answered_by = Some(model);
                }
                Ok(CallStep::Waits)
            }
            Input::Reserved(_, Ok(answer)) => Ok(self.reserved(session, answer)),
            Input::Woke(_) => Ok(self.send_again(session, Continuation::Retry)),
            input => Err(not_awaited(effect, &input)),
        }
    }

    /// Handles the answer of the ledger.
    fn reserved(&mut self, session: &mut Session, answer: Reservation) -> CallStep {
        let stage = std::mem::replace(&mut self.stage, Stage::Ended);
        let Stage::Reserving(effect, sending) = stage else { return CallStep::Waits };
        let (model, mut request) = *sending;
        match answer {
            Reservation::Granted { max_output_tokens } => {
                limit_output(&mut request, max_output_tokens);
                self.stream(session, model, request, Some(effect))
            }
            Reservation::Exhausted => exhausted(session),
        }
    }

    /// Returns an item of the stream with unique tool call ids: an id already used by an earlier call is replaced.
    pub(crate) fn with_own_ids<'a>(&mut self, session: &Session, item: &'a ModelItem) -> Cow<'a, ModelItem> {
        match &mut self.stage {
            Stage::Streaming(stream) => with_own_id(&mut stream.ids, session.state.transcript().call_ids(), item),
            _ => Cow::Borrowed(item),
        }
    }

    /// Applies an item of the stream. The text that extends a block is moved out of it.
    ///
    /// # Errors
    /// The item is out of place: see [`ModelCall::broken`].
    pub(crate) fn item<'a>(
        &'a mut self,
        session: &mut Session,
        item: &'a mut ModelItem,
    ) -> Result<Step<'a>, AssembleError> {
        if let ModelEvent::RateLimit(limit) = &item.event {
            session.note_rate_limit(limit);
            return Ok(Step::Nothing);
        }
        if let ModelEvent::ReasoningDropped { blocks, reason } = &item.event {
            session.note_dropped_reasoning(*blocks, reason);
            return Ok(Step::Nothing);
        }
        let Stage::Streaming(stream) = &mut self.stage else { return Ok(Step::Nothing) };
        stream.bill.note(session.now, &item.event);
        let limit = stream.bill.request.max_output_tokens;
        let mut step = stream.assembler.handle(&mut item.event)?;
        if let Step::Complete(message) = &mut step {
            message.note_cut_by(limit);
        }
        Ok(step)
    }

    /// `true` if the request asks for an answer in the form of the structured output.
    pub(crate) fn is_formatted(&self) -> bool {
        matches!(&self.stage, Stage::Streaming(stream) if stream.bill.request.response_format.is_some())
    }

    /// Returns the timing of the attempt that streams; `None` if none does.
    pub(crate) fn timing(&self, session: &Session) -> Option<AttemptTiming> {
        let Stage::Streaming(stream) = &self.stage else { return None };
        let bill = &stream.bill;
        let first_token_ms = bill.first_content.map(|first| duration_ms(first, bill.started));
        Some(AttemptTiming {
            id: bill.attempt.clone(),
            latency_ms: duration_ms(session.now, bill.started),
            first_token_ms,
        })
    }

    /// Books the request of a complete message. Returns the model that was asked.
    pub(crate) fn complete(&mut self, session: &mut Session) -> ModelProfile {
        self.end(session, Bill::complete)
    }

    /// Cancels a stream that breaks the grammar.
    pub(crate) fn broken(&mut self, session: &mut Session, error: &AssembleError) -> CallStep {
        if let Some(effect) = self.awaited_effect() {
            session.cancel(effect);
        }
        let text = format!("The provider's stream cannot be followed: {}.", clause(&error.to_string()));
        self.failed(session, ModelFailure::new(ModelErrorKind::Protocol, text))
    }

    /// Books a request that failed, or whose stream ended early.
    fn failed(&mut self, session: &mut Session, failure: ModelFailure) -> CallStep {
        self.end(session, |bill| bill.failed(&failure));
        CallStep::Failed(failure)
    }

    /// Cancels the request, and books its usage: the user has stopped it.
    pub(crate) fn abandon(&mut self, session: &mut Session) {
        if let Some(effect) = self.awaited_effect() {
            session.cancel(effect);
        }
        self.end(session, Bill::abandoned);
    }

    /// Books the usage of the request, if it was sent. Returns the model that was asked.
    fn end(&mut self, session: &mut Session, used: impl FnOnce(&Bill) -> Usage) -> ModelProfile {
        let stage = std::mem::replace(&mut self.stage, Stage::Ended);
        let Stage::Streaming(stream) = stage else { return session.current_model().clone() };
        let (asked, usage) = (stream.bill.model.clone(), used(&stream.bill));
        session.book(stream.bill, usage);
        asked
    }

    /// Returns the next step after a failure.
    pub(crate) fn after_failure(&mut self, session: &mut Session, failure: ModelFailure) -> CallStep {
        if let Some(limit) = &failure.rate_limit {
            session.note_rate_limit(limit);
        }
        if let Some(window) = failure.context_window {
            let model = session.model_for(&self.purpose).id.clone();
            session.learn_window(&model, window);
        }
        if failure.refuses_images && session.leave_out_images(&self.purpose) {
            return self.send_again(session, Continuation::Retry);
        }
        // A model other than the session's has no fallback: the compaction fails instead.
        let has_fallback = session.has_fallback() && *session.model_for(&self.purpose) == *session.current_model();
        match self.retry.after(&failure, &session.config.limits, has_fallback) {
            Next::Wait(wait) => {
                self.back_off(session, wait, &failure);
                CallStep::Waits
            }
            Next::Fallback => {
                session.fall_back();
                self.send_again(session, Continuation::Fallback)
            }
            Next::WithoutReplay => {
                session.drop_replay(&failure.message);
                self.send_again(session, Continuation::Retry)
            }
            Next::TooLong => CallStep::TooLong(failure),
            Next::GiveUp => CallStep::GivenUp(failure),
            Next::OutOfPatience(asked) => {
                let message = out_of_patience(&failure, asked);
                CallStep::GivenUp(ModelFailure { message, ..failure })
            }
        }
    }

    /// Waits before the retry.
    fn back_off(&mut self, session: &mut Session, wait: Duration, failure: &ModelFailure) {
        let delay_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        let max_retries = session.config.limits.max_retries;
        let mut status = RetryStatus::new(self.retry.attempts, max_retries, delay_ms, failure.kind);
        status.http_status = failure.status;
        status.message.clone_from(&failure.message);
        session.status(Status::Retrying(status));
        self.stage = Stage::BackingOff(session.effect(Effect::Sleep(wait)));
    }
}

/// Returns the failure of a model without price, in a session whose budget requires prices.
fn unpriced(model: &ModelProfile) -> ModelFailure {
    let message = format!("The model {:?} was not called: {NO_PRICE}", model.id);
    ModelFailure::new(ModelErrorKind::InvalidRequest, message)
}

/// Ends the run, because the budget does not cover the request.
fn exhausted(session: &Session) -> CallStep {
    CallStep::Ends(Outcome::MaxBudget { limit: session.config.limits.max_budget.unwrap_or_default() })
}
